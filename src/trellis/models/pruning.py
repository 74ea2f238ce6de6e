"""Coarse to fine: a chain of lower order says which labels a token may have, and a chain of higher order chooses.

(Charniak et al. 2006; for taggers Mueller, Schmid and Schuetze 2013, whose chains of order 0, 1, 2 share their weights.
Here each order has weights of its own, trained through what the order below leaves.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import NoLegalPathError
from trellis.features import Packed
from trellis.labels import runs
from trellis.lattice import Allowed, Chain
from trellis.lattice.rules import Rules
from trellis.models.path_rules import rules_with
from trellis.models.probabilities import Lattice, best_in

if TYPE_CHECKING:
    from trellis.models.constraints import Prepared
    from trellis.models.linear import LinearChain

F64 = NDArray[np.float64]
BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]

_LAST_RESORT = -1e4  # the score of a label without probability
_BATCH = 4096  # tokens whose probabilities are looked at together


@dataclass(frozen=True)
class Pruner:
    """`chain` of lower order, which may have a pruner of its own; a label stays if its probability there is at least
    `threshold`, or if no other has a higher one, but no more than the `most` probable."""

    chain: LinearChain
    threshold: float
    most: int

    def allowed(self, packed: Packed, offsets: I64) -> Allowed:
        """The labels that stay."""
        return self.leaving(packed, offsets, None)[0]

    def leaving(self, packed: Packed, offsets: I64, needed: BOOL | None) -> tuple[Allowed, float]:
        """The labels that stay, and the share of tokens that would lose all of the labels `needed: BOOL[tokens,
        labels]`: there these stay too."""
        bits = [np.zeros((0, -(-len(self.chain.labels) // 8)), np.uint8)]
        lost = 0
        for first, last in runs(offsets, _BATCH):
            a, b = int(offsets[first]), int(offsets[last])
            p = self.chain.marginals_of_packed(packed.part(a, b), offsets[first : last + 1] - a)
            stays = self._staying(p)
            if needed is not None:
                without = np.flatnonzero(~(stays & needed[a:b]).any(axis=1))
                stays[without] |= needed[a:b][without]
                lost += len(without)
            bits.append(np.packbits(stays, axis=1))
        return Allowed.of_bits(np.concatenate(bits), len(self.chain.labels)), lost / max(1, int(offsets[-1]))

    def narrowed(self, packed: Packed, offsets: I64, rules: Rules | None, imposed: Prepared | None) -> Packed:
        """The same attributes with the labels that stay, so that a path is left that keeps to the rules and to what is
        imposed on these tokens."""
        needed = None if imposed is None else imposed.possible(int(offsets[-1]))
        if needed is not None and packed.allowed is not None:
            needed = needed & packed.allowed.mask()
        allowed = self.leaving(packed, offsets, needed)[0]
        return replace(packed, allowed=self.with_paths(allowed, packed, offsets, rules, needed, imposed))

    def with_paths(
        self,
        allowed: Allowed,
        packed: Packed,
        offsets: I64,
        rules: Rules | None,
        needed: BOOL | None,
        imposed: Prepared | None,
    ) -> Allowed:
        """Where what stays leaves no path of the labels `needed: BOOL[tokens, labels]`, with the labels of the best of
        all such paths, as far as this chain can tell."""
        rules = rules_with(rules, imposed)
        once = None if imposed is None or not imposed.once else imposed.once_alone()
        if rules is None and once is None:
            return allowed
        rules = Rules.none(allowed.size) if rules is None else rules
        mask = allowed.mask()
        left = mask if needed is None else mask & needed
        stuck = ~rules.legal(Allowed.of_mask(left), offsets)
        if once is None and not stuck.any():
            return allowed
        for s in np.flatnonzero(stuck | (once is not None)).tolist():
            a, b = int(offsets[s]), int(offsets[s + 1])
            own = np.array([0, b - a])
            if not stuck[s] and _leaves_path(left[a:b], rules, once):
                continue
            p = self.chain.marginals_of_packed(packed.part(a, b), own)
            with np.errstate(divide="ignore"):
                scores = np.maximum(np.log(p), _LAST_RESORT)  # what a lower order left out is better than no path
            if needed is not None:
                scores[~needed[a:b]] = -np.inf
            if packed.allowed is not None:
                scores[~packed.allowed.part(a, b).mask()] = -np.inf
            try:
                path = best_in(_ruled(scores, rules, once))
            except NoLegalPathError as error:
                raise error.after(s) from None
            mask[np.arange(a, b), path] = True
        return Allowed.of_mask(mask)

    def _staying(self, p: F64) -> BOOL:
        """BOOL[tokens, labels] for P(label) of every token."""
        stays = p >= self.threshold
        stays[np.arange(len(p)), p.argmax(axis=1)] = True
        many = np.flatnonzero(stays.sum(axis=1) > self.most)
        if len(many):
            best = np.argpartition(p[many], -self.most, axis=1)[:, -self.most :]
            stays[many] = False
            stays[many[:, None], best] = True
        return stays


def _ruled(scores: F64, rules: Rules, once: Prepared | None) -> Lattice:
    """The lattice of a sentence, of which rules hold, and what is imposed beyond them."""
    own = np.array([0, len(scores)])
    rules.close_ends(scores, own)
    chain = Chain(scores, rules.pairs, own)
    return chain if once is None else once.on(chain)


def _leaves_path(left: BOOL, rules: Rules, once: Prepared | None) -> bool:
    try:
        best_in(_ruled(np.where(left, 0.0, -np.inf), rules, once))
    except NoLegalPathError:
        return False
    return True
