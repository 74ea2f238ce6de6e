"""Joint training in which lower stages are read as if they had not learned from the sentence.

A lower stage is surer of the sentences that it has learned from than of others, and what an upper stage learns there,
and tells it, is not what will help. With theta^(-k) the lower stages' weights after a training without fold k, and
theta^0 those with which joint training begins, sentences i of fold k are read by

    theta + delta_k,    delta_k = theta^(-k) - theta^0        so at first as `jackknife` has it,

which moves as theta does. The objective is the sum over stages s of

    weight_s sum_i loss_s(x_i; theta_s, what is read of stages below at theta + delta_k(i))

so every stage that reads has shards of its own, where those below have no loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.joint import JointShard
from trellis.cascade.together import Batch, Part, cut_parts, runs_of
from trellis.features import Packed
from trellis.losses import Target
from trellis.losses.silent import SilentLoss

if TYPE_CHECKING:
    from trellis.cascade.jackknife import Fold
    from trellis.cascade.learning import Learning
    from trellis.cascade.preparing import Ready

F64 = NDArray[np.float64]


class Folded:
    """A cascade's training data for that. `theta`: where joint training begins."""

    def __init__(self, learning: Learning, folds: Sequence[Fold], theta: F64):
        self.ready, self.reads, self.starts = learning.ready, learning.reads, learning.starts
        self.ends = [(fold.first, fold.last) for fold in folds]
        read = [s for s in range(len(self.ready)) if learning.model.is_read(s)]
        self.silent = {s: _silent(learning, folds, s) for s in read}
        parts = learning.split(theta)
        self.deltas = [{s: fold.weights(learning, s) - parts[s] for s in read} for fold in folds]

    def shards(self, least: float) -> list[JointShard]:
        """As those of `Joined`."""
        return [shard for s in range(len(self.ready)) for shard in self._of_stage(s, least)]

    def batches(self, least: float, sentences: int) -> list[Batch]:
        """As those of `Joined`; none has sentences of two folds."""
        return list(zip(*(self._of_stage(s, least, sentences) for s in range(len(self.ready))), strict=True))

    def _of_stage(self, s: int, least: float, sentences: int | None = None) -> list[JointShard]:
        """Shards with the loss of stage s alone."""
        offsets, in_turn = self.ready[s].offsets, sentences is not None
        *lower, _ = involved = _below(s, self.reads)
        places = [tuple(involved.index(k) for k in self.reads[one]) for one in involved]
        counted = Part(self.ready[s], self.starts[s], places[-1], float(self.ready[s].stage.weight))
        if not lower and not in_turn:
            return cut_parts([counted], runs_of(offsets), least)
        shards = []
        for (a, b), deltas in zip(self.ends, self.deltas, strict=True):
            runs = [(a + first, a + last) for first, last in runs_of(offsets[a : b + 1] - offsets[a], sentences)]
            parts = [
                Part(self.silent[k], self.starts[k], place, 1.0, deltas[k])
                for k, place in zip(lower, places, strict=False)
            ]
            shards += cut_parts([*parts, counted], runs, least, in_turn)
        return shards


def _below(s: int, reads: Sequence[tuple[int, ...]]) -> list[int]:
    """Stage s and all that it depends on, in order."""
    needed = {s}
    for k in range(s, -1, -1):
        if k in needed:
            needed |= set(reads[k])
    return sorted(needed)


def _silent(learning: Learning, folds: Sequence[Fold], s: int) -> Ready:
    """Stage s without a loss, and each sentence with no attribute but those that other folds have."""
    ready = learning.ready[s]
    packed = Packed.joined([fold.packed(learning, s) for fold in folds])
    allowed = packed.allowed
    assert allowed is not None
    if allowed.mask().all():
        packed = replace(packed, allowed=None)
    some = allowed.labels[allowed.start[allowed.which]]  # nobody asks for the right one, which it may not know
    return replace(ready, packed=packed, gold=some, loss=SilentLoss(), target=Target(some))
