"""Epochs of stochastic gradient descent over the shards of an objective, one after the other on one thread.

(Two shards at a time, from the same weights and then merged, took two thirds of the time an epoch and needed more than
twice as many epochs, whether changes were added up or averaged, weight by weight or all.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.objective.descent import DescentShard, Pace
from trellis.objective.plain import PlainShard

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Epoch:
    """`theta` after the last sentence; `average` of theta over snapshots, if any were asked for; `loss` of every
    sentence before its own update, added up; `missing`: sentences that no update could be made of."""

    theta: F64
    average: F64
    loss: float
    missing: int


class Descent:
    """Step sizes fall from epoch to epoch: step * decay^(k / N) after k of N sentences (Tsuboi's second schedule; here
    k counts whole shards)."""

    def __init__(self, shards: Sequence[PlainShard], size: int, l2: float):
        self.shards = [DescentShard(shard) for shard in shards]
        self.sentences = sum(int((shard.groups >= 0).sum()) for shard in self.shards)
        self.l2 = l2
        count, squares = np.zeros(size), np.zeros(size)
        for shard in self.shards:
            own_count, own_squares = shard.count()
            shard.shard.add_to(count, own_count)
            shard.shard.add_to(squares, own_squares)
        pace = Pace.of(count, squares, l2)
        for shard in self.shards:
            shard.learn_at(pace)
        self._shrink = l2 / max(1, sum(len(shard.groups) for shard in self.shards))

    def epoch(
        self, theta: F64, step: float, decay: float, epoch: int, snapshots: int, rng: np.random.Generator
    ) -> Epoch:
        """All sentences once, in a new order; theta is averaged over `snapshots` moments or a few more, as many in each
        shard."""
        theta, total, loss, missing, taken = theta.copy(), np.zeros_like(theta), 0.0, 0, 0
        pieces = -(-snapshots // max(1, len(self.shards)))
        for n, s in enumerate(rng.permutation(len(self.shards)).tolist()):
            shard = self.shards[s]
            now = step * decay ** (epoch + n / len(self.shards))
            groups = shard.groups[rng.permutation(len(shard.groups))]
            for piece in np.array_split(groups, max(1, pieces)):
                value, left_out = shard.descend(theta, piece, now, self._shrink)
                loss, missing = loss + value, missing + left_out
                if pieces:
                    total += theta
                    taken += 1
        return Epoch(theta, total / taken if taken else theta, loss, missing)

    def best_step(self, theta: F64, steps: Sequence[float], rng: np.random.Generator, sample: int = 600) -> float:
        """The step size that makes one pass over a sample of sentences help most on another of the same size (Tsuboi's
        way to choose it); the smallest where none is any good. The two are from different shards if there are any:
        neighbours in a corpus are of one kind."""
        first, second = self.shards[0], self.shards[-1]
        learnt, asked = (shard.groups[rng.permutation(len(shard.groups))] for shard in (first, second))
        most = max(1, sample // 4)
        if first is second:
            most = min(most, len(learnt) // 2)
            asked = learnt[most:]

        def judged(step: float) -> tuple[float, float, float]:
            trial = theta.copy()
            first.descend(trial, learnt[:most], step, self._shrink)
            loss, left_out = second.descend(trial, asked[:most], 0.0, 0.0)
            loss += 0.5 * self._shrink * most * float(np.einsum("i,i->", trial, trial))  # as much of the prior
            # sentences that are left out have no loss: that must not look like the smallest one
            return (left_out, loss, step) if math.isfinite(loss) else (math.inf, math.inf, step)

        return min(map(judged, steps))[2]
