"""theta -> what wired attributes add to scores, and back: attributes whose values come from another stage.

Their values change with every evaluation, so nothing is sorted out beforehand, and the gradient in the values is asked
for as well as that in the weights. What bears on transitions becomes patches (see `arcs`): one for each occurrence,
with its value times the attribute's weights; so the lattice knows nothing of values, and both gradients follow from
that in the patches' weights.
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
from trellis.scoring.layout import I64, WeightLayout
from trellis.scoring.occurring import Occurring
from trellis.scoring.wire_kernels import add_packed_gradient, packed_value_gradient, roll_up, unroll

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class WireWeights:
    """F64[weights], and as rows where attributes have such."""

    weights: F64
    rows: F64


class WireScoring:
    """Attributes that bear on labels; `layout` has no others."""

    def __init__(self, layout: WeightLayout):
        self.scoring = HybridScoring(layout)
        self.size = layout.pairs
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
class Unrolled:
    """Occurrences as patches: occurrence k has the weights from `first[k]` on."""

    occurring: Occurring
    first: I64
    patches: Patches


class ArcWireScoring:
    """Attributes that bear on transitions: attribute a has weights `start[a]:start[a + 1]` for label pairs (`source`,
    `target`), as in `WeightLayout`."""

    def __init__(self, layout: WeightLayout):
        self.start, (self.source, self.target) = layout.arc_start, layout.arc_sides
        self.size = len(layout.arc_pair)
        self._gradient = np.zeros(self.size)

    def unrolled(self, weights: F64, occurring: Occurring) -> Unrolled:
        """Occurrences must not be at the first tokens of sentences, where no transition leads to."""
        ids = occurring.ids
        first = np.concatenate([[0], np.cumsum(self.start[ids + 1] - self.start[ids])]).astype(np.int64)
        total = int(first[-1])
        source, target, scores = np.empty(total, np.uint16), np.empty(total, np.uint16), np.empty(total)
        unroll(ids, occurring.values, self.start, first, self.source, self.target, weights, source, target, scores)
        with np.errstate(over="ignore"):
            powers, reach = np.exp(scores), reach_of_patches(scores, first)
        patches = Patches(
            occurring.start, np.arange(len(ids), dtype=np.int32), np.zeros(0), first, source, target, scores, powers,
            reach,
        )  # fmt: skip
        return Unrolled(occurring, first, patches)

    def begin(self) -> None:
        self._gradient.fill(0.0)

    def add(self, weights: F64, by_patch: F64, unrolled: Unrolled) -> F64:
        """From the gradient in the patches' weights: adds that in the attributes', and returns that in the values."""
        at, out = unrolled.occurring, np.empty(len(unrolled.occurring.ids))
        roll_up(at.ids, at.values, self.start, unrolled.first, weights, by_patch, self._gradient, out)
        return out

    def by_value(self, weights: F64, by_patch: F64, unrolled: Unrolled) -> F64:
        """The gradient in the values alone."""
        at, out = unrolled.occurring, np.empty(len(unrolled.occurring.ids))
        roll_up(at.ids, np.zeros(len(at.ids)), self.start, unrolled.first, weights, by_patch, np.empty(self.size), out)
        return out

    def unrolled_along(self, weights: F64, direction: F64, values: F64, unrolled: Unrolled) -> F64:
        """How the patches' weights change when the weights do and the values do."""
        at = unrolled.occurring
        total = int(unrolled.first[-1])
        source, target, one, other = np.empty(total, np.uint16), np.empty(total, np.uint16), *np.empty((2, total))
        sides = self.source, self.target
        unroll(at.ids, at.values, self.start, unrolled.first, *sides, direction, source, target, one)
        unroll(at.ids, values, self.start, unrolled.first, *sides, weights, source, target, other)
        return one + other

    def add_along(
        self, weights: F64, direction: F64, values: F64, by_patch: F64, change: F64, unrolled: Unrolled
    ) -> F64:
        """How `add` changes when the weights do, the values, and the gradient in the patches' weights."""
        at, one, other = unrolled.occurring, *np.empty((2, len(unrolled.occurring.ids)))
        roll_up(at.ids, at.values, self.start, unrolled.first, weights, change, self._gradient, one)
        roll_up(at.ids, values, self.start, unrolled.first, direction, by_patch, self._gradient, other)
        return np.asarray(one + other)

    def add_squares(self, by_patch: F64, unrolled: Unrolled) -> None:
        """The same from variances, times the squares of values."""
        at = unrolled.occurring
        unread, nothing = np.zeros(self.size), np.empty(len(at.ids))
        roll_up(at.ids, at.values**2, self.start, unrolled.first, unread, by_patch, self._gradient, nothing)

    def collected(self) -> F64:
        return self._gradient


def patched(chain: WorkChain, unrolled: Unrolled) -> PatchedChain:
    """The chain with these patches on its transitions, and room for the gradient in their weights."""
    patches, width = unrolled.patches, chain.scores.shape[1]
    kind = np.where(np.diff(patches.indptr) > 0, -1, 0).astype(np.int32)
    nothing = patches._replace(indptr=np.zeros(2, np.int64))
    factors = np.empty((1, width, width))
    kinds = Kinds(kind, nothing, factors, np.empty_like(factors))
    fill_factors(chain.transitions, kinds)
    gradient = np.zeros(len(patches.weights))
    return PatchedChain(chain.scores, chain.transitions, chain.offsets, chain.rescore, patches, kinds, gradient)


def unpatched(tokens: int) -> Unrolled:
    """No patches at so many tokens."""
    none, zero = np.zeros(0, np.uint16), np.zeros(0)
    nowhere, first = np.zeros(tokens + 1, np.int64), np.zeros(1, np.int64)
    ids = np.zeros(0, np.int32)
    patches = Patches(nowhere, ids, zero, first, none, none, zero, zero, zero)
    return Unrolled(Occurring(nowhere, ids, zero), first, patches)
