"""One shard of the training data: loss(lattice(scoring(theta))) -> value and gradient.

A shard knows only the weights its own tokens can touch. It takes them out of theta and gives their gradient back, so
that neither memory nor the sum over shards pays for attributes that occur elsewhere. Within a shard the work goes
block by block, small enough for scores and marginals to stay in the cache.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.packed import Packed
from trellis.labels import runs
from trellis.lattice import Allowed, WorkChain
from trellis.losses import Loss
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.kernels import add_at, number_by_appearance, take
from trellis.scoring.layout import I32, I64, WeightLayout

if TYPE_CHECKING:
    from trellis.scoring.arcs import ArcChains

F64 = NDArray[np.float64]
Patching = Callable[[WorkChain, int, int], WorkChain]

_BLOCK = 4096  # tokens: scores and marginals of a block stay in the cache
_SHARD = 25_000  # tokens below which cutting costs more than it gains
_MOST = 16  # shards: enough threads for one machine; a fixed number, so that results do not depend on threads


@dataclass(frozen=True)
class Examples:
    """Training data: packed attributes, gold labels I32[tokens], offsets I64[sentences + 1]; attributes that bear on
    the transition into a token, if there are any, packed with their own numbers; and which labels each token may have,
    if not all."""

    indptr: I64
    ids: I32
    values: F64 | None
    gold: I32
    offsets: I64
    arcs: Packed | None = None
    allowed: Allowed | None = None

    def __post_init__(self) -> None:
        if self.allowed is None:
            return
        if len(self.allowed) != len(self.gold):
            raise DataError(f"allowed labels are given for {len(self.allowed)} of {len(self.gold)} tokens")
        t = self.allowed.first_outside(self.gold)
        if t is not None:
            s = int(np.searchsorted(self.offsets, t, side="right")) - 1
            raise DataError(
                f"sentence {s + 1}, token {t - int(self.offsets[s]) + 1}: its own label, number {self.gold[t]}, "
                "is not among the labels allowed there; allow it, or leave the word out of the tag dictionary"
            )

    def part(self, first: int, last: int) -> Examples:
        """Sentences first..last."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        here = _tokens(Packed(self.indptr, self.ids, self.values), a, b)
        arcs = None if self.arcs is None else _tokens(self.arcs, a, b)
        allowed = None if self.allowed is None else self.allowed.part(a, b)
        offsets = self.offsets[first : last + 1] - a
        return Examples(here.indptr, here.ids, here.values, self.gold[a:b], offsets, arcs, allowed)


class Shard:
    """`index`: which weights of theta this shard reads and answers for, I32[local]."""

    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss):
        self.loss = loss
        self.gold, self.offsets = examples.gold, examples.offsets
        ids, attributes = number_by_appearance(examples.ids, layout.attributes)
        self.arcs, arc_attributes = _bound(examples, layout)
        local, self.index = layout.restricted(attributes, arc_attributes)
        self.scoring = HybridScoring(local)
        self.occurrences = self.scoring.bind(examples.indptr, ids, examples.values)
        self.forbidden = None if examples.allowed is None else ~examples.allowed.mask()
        self.blocks = runs(self.offsets, _BLOCK)
        longest = max((int(self.offsets[b] - self.offsets[a]) for a, b in self.blocks), default=0)
        self._scores = np.empty((longest, self.scoring.width))
        self._weights, self._gradient = np.empty(len(self.index)), np.empty(len(self.index))
        self._rows = np.zeros((self.scoring.rows, self.scoring.width))
        self._row_gradient = np.zeros_like(self._rows)

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """theta: all weights. Returns the shard's loss and its gradient in the weights `index`, F64[local], in
        memory that the next call uses again."""
        scoring, layout = self.scoring, self.scoring.layout
        weights, gradient = self._weights, self._gradient
        take(theta, self.index, weights)
        transitions = layout.transition_matrix(weights[layout.pairs : layout.arcs_at])
        rows = scoring.rows_of(weights, self._rows)
        gradient.fill(0.0)
        self._row_gradient.fill(0.0)
        value, arcs = 0.0, np.zeros_like(transitions)
        patched = self._patched(weights, transitions, gradient)
        for first, last in self.blocks:
            a, b = int(self.offsets[first]), int(self.offsets[last])
            scores = self._scores[: b - a]
            self._score(rows, weights, a, b, scores)
            again = partial(self._scores_again, rows, weights, a, b)
            chain = WorkChain(scores, transitions, self.offsets[first : last + 1] - a, again)
            chain = chain if patched is None else patched(chain, a, b)
            values, d_scores, d_arcs = self.loss(chain, self.gold[a:b])
            value += float(values.sum())
            arcs += d_arcs
            scoring.add_gradient(d_scores, self.occurrences, a, b, self._row_gradient, gradient)
        scoring.collect(self._row_gradient, gradient)
        gradient[layout.pairs : layout.arcs_at] = arcs[layout.source, layout.target]
        return value, gradient

    def add_to(self, total: F64, gradient: F64) -> None:
        """Adds a gradient in this shard's weights to one in all weights."""
        add_at(gradient, self.index, total)

    def _patched(self, weights: F64, transitions: F64, gradient: F64) -> Patching | None:
        """How chains get their arc attributes, which add to their own part of the gradient."""
        if self.arcs is None:
            return None
        from trellis.scoring.arcs import patches_of

        layout = self.scoring.layout
        patches = patches_of(layout, weights[layout.arcs_at :])
        return self.arcs.patching(patches, transitions, gradient[layout.arcs_at :])

    def _scores_again(self, rows: F64, weights: F64, a: int, b: int) -> F64:
        scores = np.empty((b - a, self.scoring.width))
        self._score(rows, weights, a, b, scores)
        return scores

    def _score(self, rows: F64, weights: F64, a: int, b: int, scores: F64) -> None:
        self.scoring.scores(rows, weights, self.occurrences, a, b, scores)
        if self.forbidden is not None:
            scores[:, : self.forbidden.shape[1]][self.forbidden[a:b]] = -np.inf


def cut_into_shards(layout: WeightLayout, examples: Examples, loss: Loss) -> list[Shard]:
    """Shards of about equal size; how many depends on the data alone."""
    from trellis.objective.restricted import RestrictedShard

    # lists of labels and patches of transitions do not go together: then forbidden labels have scores of -inf
    kind = Shard if examples.allowed is None or examples.arcs is not None else RestrictedShard
    tokens = int(examples.offsets[-1])
    count = max(1, min(_MOST, tokens // _SHARD))
    goals = np.linspace(0, tokens, count + 1)[1:-1]
    inner = np.searchsorted(examples.offsets, goals).tolist()
    cuts = [0, *inner, len(examples.offsets) - 1]
    return [kind(layout, examples.part(a, b), loss) for a, b in itertools.pairwise(cuts) if b > a]


def _tokens(packed: Packed, a: int, b: int) -> Packed:
    """Attributes of tokens a..b."""
    p, q = int(packed.indptr[a]), int(packed.indptr[b])
    values = None if packed.values is None else packed.values[p:q]
    return Packed(packed.indptr[a : b + 1] - p, packed.ids[p:q], values)


def _bound(examples: Examples, layout: WeightLayout) -> tuple[ArcChains | None, I64 | None]:
    """Arc attributes under new numbers, in order of appearance, and the old number of each."""
    if examples.arcs is None:
        return None, None
    from trellis.scoring.arcs import ArcChains, ArcOccurrences

    arcs, offsets = examples.arcs, examples.offsets
    at = ArcOccurrences.effective(arcs.indptr, arcs.ids, arcs.values, offsets)
    ids, old = number_by_appearance(at.ids, layout.arc_attributes)
    return ArcChains(layout.labels, replace(at, ids=ids)), old
