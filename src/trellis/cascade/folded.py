"""Joint training in which lower stages know sentences as if they had not learned from them.

A lower stage is surer of the sentences that it has learned from than of others: what an upper stage learns there, and
tells it, is not what will help, and its own loss there has little to say against it. With theta^(-k) the lower stages'
weights after a training without fold k, and theta^0 those with which joint training begins, sentences i of fold k are
labelled by lower stages with

    theta + delta_k,    delta_k = theta^(-k) - theta^0        so at first as `jackknife` has it,

which moves as theta does. The objective is the sum over stages s of

    weight_s sum_i loss_s(x_i; theta_s + delta_{s,k(i)}, what is read of stages below)

where delta is 0 for stages that no other reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.together import Part, cut_parts, runs_of
from trellis.features import Packed
from trellis.lattice import Allowed

if TYPE_CHECKING:
    from trellis.cascade.jackknife import Fold
    from trellis.cascade.learning import Learning
    from trellis.cascade.preparing import Ready

F64 = NDArray[np.float64]


class Folded:
    """A cascade's training data for that. `theta`: where joint training begins."""

    def __init__(self, learning: Learning, folds: Sequence[Fold], theta: F64):
        self.reads, self.starts = learning.reads, learning.starts
        self.ends = [(fold.first, fold.last) for fold in folds]
        stages, parts = range(len(learning.ready)), learning.split(theta)
        read = [s for s in stages if learning.model.is_read(s)]
        self.ready = [_unseen(learning, folds, s) if s in read else learning.ready[s] for s in stages]
        self.deltas = [{s: fold.weights(learning, s) - parts[s] for s in read} for fold in folds]

    def shards(self, least: float, sentences: int | None = None) -> list[JointShard]:
        """As those of `Joined`; none has sentences of two folds."""
        offsets, shards = self.ready[0].offsets, []
        unmoved = {s: self._part(s) for s in range(len(self.ready)) if s not in self.deltas[0]}
        for (a, b), deltas in zip(self.ends, self.deltas, strict=True):
            runs = [(a + first, a + last) for first, last in runs_of(offsets[a : b + 1] - offsets[a], sentences)]
            parts = [unmoved.get(s) or self._part(s, deltas[s]) for s in range(len(self.ready))]
            shards += cut_parts(parts, runs, least, sentences is not None)
        return shards

    def _part(self, s: int, delta: F64 | None = None) -> Part:
        return Part(self.ready[s], self.starts[s], self.reads[s], float(self.ready[s].stage.weight), delta)


def _unseen(learning: Learning, folds: Sequence[Fold], s: int) -> Ready:
    """Stage s with sentences that have no attribute but those that other folds have, and may have no label but these
    have; only where that would leave none of what is annotated, they may have that, too."""
    ready = learning.ready[s]
    packed = Packed.joined([fold.packed(learning, s) for fold in folds])
    assert packed.allowed is not None
    mask, known = packed.allowed.mask(), ready.target.known
    if known is None:
        known = np.arange(mask.shape[1]) == ready.gold[:, None]
    strange = ~(mask & known).any(axis=1)
    mask[strange] |= known[strange]
    return replace(ready, packed=replace(packed, allowed=None if mask.all() else Allowed.of_mask(mask)))
