"""theta -> what wired attributes add to scores, and back: attributes whose values come from another stage.

Their values change with every evaluation, so nothing is sorted out beforehand, and the gradient in the values is asked
for as well as that in the weights. What bears on transitions becomes patches (see `arcs`): one for each token, with the
sums of its attributes' weights times their values; so the lattice knows nothing of values, and both gradients follow
from that in the patches' weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import WorkChain
from trellis.lattice.kernels.patched import Kinds, fill_factors
from trellis.lattice.kernels.patches import Patches
from trellis.lattice.patched import PatchedChain
from trellis.scoring.arcs import reach_of_patches
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.layout import I32, WeightLayout
from trellis.scoring.occurring import Occurring
from trellis.scoring.wire_kernels import (
    add_packed_gradient,
    add_rows,
    add_weighted,
    gather_pairs,
    hand_back,
    hand_back_rows,
    packed_value_gradient,
)

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
U16 = NDArray[np.uint16]


@dataclass(frozen=True)
class WireWeights:
    """F64[weights], and as rows where attributes have such."""

    weights: F64
    rows: F64


class WireScoring:
    """Attributes that bear on labels; the layout of `scoring`, which others may use as well, has no others."""

    def __init__(self, scoring: HybridScoring):
        self.scoring = scoring
        self.size = scoring.layout.pairs
        self._gradient = np.zeros(self.size)
        self._rows = np.zeros((self.scoring.rows, self.scoring.width))

    def load(self, weights: F64) -> WireWeights:
        return WireWeights(weights, self.scoring.rows_of(weights))

    def scores(self, at: WireWeights, occurring: Occurring) -> F64:
        """F64[tokens, width], 0 in the padding."""
        return self.scoring.scores_of_packed(at.rows, at.weights, occurring.start, occurring.ids, occurring.values)

    def begin(self) -> None:
        self._gradient.fill(0.0)
        self._rows.fill(0.0)

    def add(self, delta: F64, occurring: Occurring, values: F64 | None = None) -> None:
        """What delta: F64[tokens, width] says of each weight, times the values, or others in their place."""
        add_packed_gradient(
            occurring.start, occurring.ids, occurring.values if values is None else values, self.scoring.code,
            self.scoring.layout.pair_label, delta, self._rows, self._gradient,
        )  # fmt: skip

    def by_value(self, at: WireWeights, delta: F64, occurring: Occurring) -> F64:
        """What it says of each value, F64[occurrences]."""
        out = np.empty(len(occurring.ids))
        label = self.scoring.layout.pair_label
        packed_value_gradient(occurring.start, occurring.ids, self.scoring.code, label, at.rows, at.weights, delta, out)
        return out

    def collected(self) -> F64:
        self.scoring.collect(self._rows, self._gradient)
        return self._gradient


@dataclass(frozen=True)
class Gathered:
    """Occurrences as patches, one for each token that has any: `slot` says where each weight of each occurrence is
    among the patches' weights; None where all of them have weights for all pairs, in order."""

    occurring: Occurring
    slot: I32 | None
    patches: Patches


class ArcWireScoring:
    """Attributes that bear on transitions: attribute a has weights `start[a]:start[a + 1]` for label pairs (`source`,
    `target`), as in `WeightLayout`."""

    def __init__(self, layout: WeightLayout):
        self.start, (self.source, self.target) = layout.arc_start, layout.arc_sides
        self.labels, self.size = layout.labels, len(layout.arc_pair)
        self.are_rows = bool((np.diff(self.start) == self.labels**2).all())
        self._gradient = np.zeros(self.size)

    def gathered(self, weights: F64, occurring: Occurring) -> Gathered:
        """Occurrences must not be at the first tokens of sentences, where no transition leads to."""
        slot, source, target, ends = self._in_rows(occurring) if self.are_rows else self._placed(occurring)
        scores = self._sums(weights, occurring.values, occurring, slot, len(source))
        has_any = np.diff(ends) > 0
        first = np.append(ends[:-1][has_any], ends[-1])
        with np.errstate(over="ignore"):
            powers, reach = np.exp(scores), reach_of_patches(scores, first)
        indptr, ids = np.concatenate([[0], np.cumsum(has_any)]), np.arange(len(first) - 1, dtype=np.int32)
        patches = Patches(indptr.astype(np.int64), ids, np.zeros(0), first, source, target, scores, powers, reach)
        return Gathered(occurring, slot, patches)

    def _in_rows(self, occurring: Occurring) -> tuple[None, U16, U16, I64]:
        """As `_placed`, where each token with an attribute has all pairs."""
        has_any, cells = np.diff(occurring.start) > 0, self.labels**2
        count = int(has_any.sum())
        ends = np.concatenate([[0], np.cumsum(has_any) * cells]).astype(np.int64)
        return None, np.tile(self.source[:cells], count), np.tile(self.target[:cells], count), ends

    def _placed(self, occurring: Occurring) -> tuple[I32, U16, U16, I64]:
        """`slot`, the pairs of all tokens, and where those of each end, I64[tokens + 1]."""
        ids, tokens = occurring.ids, len(occurring.start) - 1
        total = int((self.start[ids + 1] - self.start[ids]).sum())
        slot, ends = np.empty(total, np.int32), np.empty(tokens + 1, np.int64)
        source, target = np.empty((2, total), np.uint16)
        size = gather_pairs(
            occurring.start, ids, self.start, self.source, self.target, self.labels, slot, ends, source, target
        )
        return slot, source[:size].copy(), target[:size].copy(), ends

    def _sums(self, weights: F64, values: F64, occurring: Occurring, slot: I32 | None, size: int) -> F64:
        """Of the weights times values of each token's attributes, for the pairs of its patch."""
        out = np.zeros(size)
        if slot is None:
            rows = weights.reshape(-1, self.labels**2)
            add_rows(occurring.start, occurring.ids, values, rows, out.reshape(-1, self.labels**2))
        else:
            add_weighted(occurring.ids, values, self.start, weights, slot, out)
        return out

    def begin(self) -> None:
        self._gradient.fill(0.0)

    def add(self, weights: F64, by_patch: F64, gathered: Gathered) -> F64:
        """From the gradient in the patches' weights: adds that in the attributes', and returns that in the values."""
        return self._handed_back(gathered.occurring.values, weights, by_patch, gathered, self._gradient)

    def by_value(self, weights: F64, by_patch: F64, gathered: Gathered) -> F64:
        """The gradient in the values alone."""
        return self._handed_back(gathered.occurring.values, weights, by_patch, gathered, np.empty(self.size))

    def along(self, weights: F64, direction: F64, values: F64, gathered: Gathered) -> F64:
        """How the patches' weights change when the weights do and the values do."""
        at, slot, size = gathered.occurring, gathered.slot, len(gathered.patches.weights)
        return self._sums(direction, at.values, at, slot, size) + self._sums(weights, values, at, slot, size)

    def add_along(
        self, weights: F64, direction: F64, values: F64, by_patch: F64, change: F64, gathered: Gathered
    ) -> F64:
        """How `add` changes when the weights do, the values, and the gradient in the patches' weights."""
        one = self._handed_back(gathered.occurring.values, weights, change, gathered, self._gradient)
        return one + self._handed_back(values, direction, by_patch, gathered, self._gradient)

    def add_squares(self, by_patch: F64, gathered: Gathered) -> None:
        """As `add`, from variances, times the squares of values."""
        self._handed_back(gathered.occurring.values**2, np.zeros(self.size), by_patch, gathered, self._gradient)

    def _handed_back(self, values: F64, weights: F64, by_patch: F64, gathered: Gathered, gradient: F64) -> F64:
        at, out, cells = gathered.occurring, np.empty(len(values)), self.labels**2
        if gathered.slot is None:
            rows, by_pair, to = (array.reshape(-1, cells) for array in (weights, by_patch, gradient))
            hand_back_rows(at.start, at.ids, values, rows, by_pair, to, out)
        else:
            hand_back(at.ids, values, self.start, weights, gathered.slot, by_patch, gradient, out)
        return out

    def collected(self) -> F64:
        return self._gradient


def patched(chain: WorkChain, patches: Patches) -> PatchedChain:
    """The chain with these patches on its transitions, and room for the gradient in their weights."""
    width = chain.scores.shape[1]
    kind = np.where(np.diff(patches.indptr) > 0, -1, 0).astype(np.int32)
    nothing = patches._replace(indptr=np.zeros(2, np.int64))
    factors = np.empty((1, width, width))
    kinds = Kinds(kind, nothing, factors, np.empty_like(factors))
    fill_factors(chain.transitions, kinds)
    gradient = np.zeros(len(patches.weights))
    return PatchedChain(chain.scores, chain.transitions, chain.offsets, chain.rescore, patches, kinds, gradient)


def unpatched(tokens: int) -> Patches:
    """No patches at so many tokens."""
    none, zero, nowhere = np.zeros(0, np.uint16), np.zeros(0), np.zeros(tokens + 1, np.int64)
    return Patches(nowhere, np.zeros(0, np.int32), zero, np.zeros(1, np.int64), none, none, zero, zero, zero)
