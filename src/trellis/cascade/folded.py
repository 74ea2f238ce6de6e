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
from trellis.cascade.together import Part, cut_parts, runs_of
from trellis.features import Packed
from trellis.losses import Target
from trellis.losses.silent import SilentLoss

if TYPE_CHECKING:
    from trellis.cascade.jackknife import Fold
    from trellis.cascade.learning import Learning
    from trellis.cascade.preparing import Ready

F64 = NDArray[np.float64]


class Folded:
    """The data of a cascade for that, `theta` being where joint training begins."""

    def __init__(self, learning: Learning, folds: Sequence[Fold], theta: F64):
        self.learning, self.folds = learning, folds
        self.ends = np.cumsum([0, *(one.model.layout.size for one in learning.ready)]).tolist()
        read = [s for s in range(len(learning.ready)) if learning.model.is_read(s)]
        self.silent = {s: _silent(learning, folds, s) for s in read}
        self.deltas = [
            {s: fold.weights(learning, s) - theta[self.ends[s] : self.ends[s + 1]] for s in read} for fold in folds
        ]

    def shards(self, least: float, sentences: int | None = None) -> list[JointShard]:
        """As `joint_shards`."""
        return [shard for s in range(len(self.learning.ready)) for shard in self._of_stage(s, least, sentences)]

    def _of_stage(self, s: int, least: float, sentences: int | None) -> list[JointShard]:
        """Shards with the loss of stage s alone."""
        ready, reads = self.learning.ready, self.learning.reads
        involved = below(s, reads)
        parts = [
            Part(
                ready[k] if k == s else self.silent[k],
                self.ends[k],
                tuple(involved.index(lower) for lower in reads[k]),
                float(ready[s].stage.weight) if k == s else 1.0,
            )
            for k in involved
        ]
        offsets, in_turn = ready[s].offsets, sentences is not None
        if len(involved) == 1:
            return cut_parts(parts, runs_of(offsets, sentences), least, in_turn)
        shards = []
        for fold, deltas in zip(self.folds, self.deltas, strict=True):
            a, b = fold.first, fold.last
            runs = [(a + first, a + last) for first, last in runs_of(offsets[a : b + 1] - offsets[a], sentences)]
            delta = np.zeros(self.ends[-1])
            for k in involved[:-1]:
                delta[self.ends[k] : self.ends[k + 1]] = deltas[k]
            for shard in cut_parts(parts, runs, least, in_turn):
                shard.delta = delta
                shards.append(shard)
        return shards


def below(s: int, reads: Sequence[tuple[int, ...]]) -> list[int]:
    """Stage s and all that it depends on, in order."""
    needed = {s}
    for k in range(s, -1, -1):
        if k in needed:
            needed |= set(reads[k])
    return sorted(needed)


def _silent(learning: Learning, folds: Sequence[Fold], s: int) -> Ready:
    """Stage s without a loss, and each sentence with no attribute but those that other folds have."""
    ready = learning.ready[s]
    packed = replace(Packed.joined([fold.packed(learning, s) for fold in folds]), allowed=ready.packed.allowed)
    return replace(ready, packed=packed, loss=SilentLoss(), target=Target(ready.gold))
