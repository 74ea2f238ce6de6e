"""theta -> what arc attributes add to the transitions, and back: as patches, which the lattice applies itself.

A block of transitions a token would be 4 kB for 22 labels and 8 MB for 1,000, most of it the same everywhere. So none
is written down: the lattice gets the weights, where they belong, and which tokens have them, and gives the gradient in
the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice import WorkChain
from trellis.lattice.kernels.patched import Kinds, fill_factors
from trellis.lattice.kernels.patched_answers import PatchedH
from trellis.lattice.kernels.patches import Patches
from trellis.lattice.patched import PatchedChain
from trellis.rows import padded
from trellis.scoring.layout import I32, I64, WeightLayout

F64 = NDArray[np.float64]

_READY = 1 << 18  # numbers in ready factors: 2 MB, about what a cache holds
_OFTEN = 8  # tokens from which on a factor is worth keeping ready
_MOST_AT_ONCE = 8  # arc attributes of a token that is looked at for that
_NOWHERE = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)  # the tokens of patches that are on none


@dataclass(frozen=True)
class ArcOccurrences:
    """Packed arc attributes that have an effect: `indptr: I64[tokens + 1]`, `ids: I32[occurrences]`, none unknown,
    `values: F64[occurrences]`, empty when all are 1."""

    indptr: I64
    ids: I32
    values: F64

    @classmethod
    def effective(cls, indptr: I64, ids: I32, values: F64 | None, offsets: I64) -> ArcOccurrences:
        """Leaves out unknown attributes (-1) and the first tokens of sentences: no transition leads into those."""
        token = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        kept = (ids >= 0) & ~first_tokens(offsets)[token]
        counts = np.bincount(token[kept], minlength=len(indptr) - 1)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(start, ids[kept], np.zeros(0) if values is None else values[kept])

    @property
    def arrays(self) -> tuple[I64, I32, F64]:
        return self.indptr, self.ids, self.values

    def on(self, patches: Patches) -> Patches:
        """The patches at these tokens."""
        return patches._replace(indptr=self.indptr, ids=self.ids, values=self.values)

    def kinds(self, most: int) -> tuple[I32, I64]:
        """The kind of each token, I32[tokens]: 0 where no arc attribute is, 1 to at most `most` for what many tokens
        have in common, -1 for the rest; and a token of each kind from 1 on."""
        counts = np.diff(self.indptr)
        kind = np.where(counts > 0, -1, 0).astype(np.int32)
        if len(self.values) or not len(self.ids):
            return kind, np.zeros(0, np.int64)
        # attributes are added one by one; equal beginnings have equal numbers
        number = np.zeros(len(counts), np.int64)
        for m in range(min(int(counts.max()), _MOST_AT_ONCE)):
            have = np.flatnonzero(counts > m)
            key = number[have] * (int(self.ids.max()) + 1) + self.ids[self.indptr[have] + m]
            number[have] = np.unique(key, return_inverse=True)[1] + int(number.max()) + 1
        eligible = np.flatnonzero((counts > 0) & (counts <= _MOST_AT_ONCE))
        _, first, which, times = np.unique(number[eligible], return_index=True, return_inverse=True, return_counts=True)
        chosen = np.argsort(-times, kind="stable")[:most]
        chosen = chosen[times[chosen] >= _OFTEN]
        rank = np.full(len(times), -1, np.int32)
        rank[chosen] = np.arange(1, len(chosen) + 1)
        kind[eligible] = rank[which]
        return kind, eligible[first[chosen]]


def patches_of(layout: WeightLayout, weights: F64) -> Patches:
    """Weights F64[arc weights], the last part of theta -> patches, as yet on no token. The weights are copied: chains
    that have been solved may still be asked when theta has moved on."""
    start = layout.arc_start
    with np.errstate(over="ignore"):
        return Patches(
            *_NOWHERE, start, *layout.arc_sides, weights.copy(), np.exp(weights), reach_of_patches(weights, start)
        )


class ArcChains:
    """Makes chains for runs of some tokens that have arc attributes."""

    def __init__(self, labels: int, at: ArcOccurrences):
        self.at = at
        self.width = padded(labels)
        self.kind, sample = at.kinds(_READY // self.width**2)
        parts = [at.ids[at.indptr[t] : at.indptr[t + 1]] for t in sample.tolist()]
        self._kind_ids = np.concatenate([np.zeros(0, np.int32), *parts])
        self._kind_indptr = np.cumsum([0, 0, *map(len, parts)], dtype=np.int64)  # nothing for kind 0

    def patching(
        self, patches: Patches, transitions: F64, gradient: F64 | None
    ) -> Callable[[WorkChain, int, int], PatchedChain]:
        """`patch(chain, a, b)` gives the chain of tokens a..b, which has these transitions, its patches; what it finds
        out about their weights is added to the gradient: F64[arc weights], if one is given."""
        factors = np.empty((len(self._kind_indptr) - 1, self.width, self.width))
        of_kinds = ArcOccurrences(self._kind_indptr, self._kind_ids, np.zeros(0)).on(patches)
        kinds = Kinds(self.kind, of_kinds, factors, np.empty_like(factors))
        fill_factors(transitions, kinds)
        everywhere = self.at.on(patches)

        def patch(chain: WorkChain, a: int, b: int) -> PatchedChain:
            here = everywhere._replace(indptr=self.at.indptr[a : b + 1])
            ready = kinds._replace(kind=self.kind[a:b])
            return PatchedChain(chain.scores, transitions, chain.offsets, chain.rescore, here, ready, gradient)

        return patch

    def arc_h(self, layout: WeightLayout, matrix: F64, weights: F64) -> Callable[[int, int], PatchedH]:
        """`h(a, b)` is h on the arcs of tokens a..b, as their chains take it, along a direction: F64[labels, labels]
        for the transitions, F64[arc weights] for the arc attributes."""
        unread = np.zeros(0), np.zeros(0)
        everywhere = self.at.on(Patches(*_NOWHERE, layout.arc_start, *layout.arc_sides, weights, *unread))

        def h(a: int, b: int) -> PatchedH:
            return PatchedH(matrix, everywhere._replace(indptr=self.at.indptr[a : b + 1]))

        return h


def reach_of_patches(weights: F64, start: I64) -> F64:
    """How far apart the weights `start[a]:start[a + 1]`, and 0, are: F64[arc attributes]."""
    padded, first = np.append(weights, 0.0), start[:-1]
    high = np.maximum(np.maximum.reduceat(padded, first), 0.0)
    low = np.minimum(np.minimum.reduceat(padded, first), 0.0)
    return np.where(np.diff(start) > 0, high - low, 0.0)  # where there is none, reduceat has taken the next one
