"""Rounds of boosting over all shards of an objective, one after the other on one thread.

At the start of a run of rounds everything is made from theta alone; then only what a round changes is done again. So
rounding cannot build up, and a training that goes on another day comes to the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.objective.boosting import BoostingData, log_of_uniform
from trellis.objective.boosting_kernels import best_by_paths, best_by_tokens, change_pair, score_all
from trellis.objective.boosting_lattice_kernels import loss_of, rerun
from trellis.objective.plain import PlainShard

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

# Of the mean loss of a sentence: changes of a token's part in the sums that are smaller wait until they add up.
_IGNORED = 1e-9
_FALLEN = 0.8
_LARGEST_LOG = 690.0  # of a sentence's weight
_MOST_TRIALS = 12  # of changes of a weight


@dataclass(frozen=True)
class BoostingLoss:
    """What is minimised: the sum over sentences of c (exp(l) - 1) with l = log Z - S(y), where exp goes on along its
    tangent beyond l = `straight_from`. c is 1, or if `uniform` one over exp(l) - 1 with theta = 0, and there is no
    tangent. Sentences' own weights come on top."""

    uniform: bool
    straight_from: float


@dataclass(frozen=True)
class Rounds:
    """`theta` after some rounds. Of each round: the number of the weight in theta, its change, the `bound` of the loss
    after it, and that loss. `ended`: no change of a weight has anything to promise."""

    theta: F64
    weight: I64
    change: F64
    bound: F64
    loss: F64
    start: float
    gradient_norm: float
    ended: bool


class Boosting:
    """Needs memory for the scores and marginals of all tokens."""

    def __init__(self, shards: Sequence[PlainShard], size: int):
        self.data = BoostingData(shards, size)
        self.now = self.data.running()
        weights = len(self.data.features.number)
        self._promise, self._known = np.zeros(weights), np.zeros(weights, np.uint8)
        self._all = np.arange(len(self.data.lengths))
        self.shift = 0.0  # the sums are over exp(shift)

    def rounds(
        self, theta: F64, count: int, straight_from: float, uniform: bool, by: str, smoothing: float, search: bool
    ) -> Rounds:
        """As many rounds from theta, or fewer where boosting ends. `by`: the bound, 'tokens' or 'paths'; `smoothing`:
        in mean losses of a sentence, see `best_by_tokens`; `search`: changes go on as long as the loss falls."""
        loss = BoostingLoss(uniform, straight_from)
        theta, data, now = theta.copy(), self.data, self.now
        shift = self.shift = self._afresh(theta, loss)
        total = start = float(now.loss.sum())
        mean = total / max(1, len(self._all))
        found: list[tuple[int, float, float, float]] = []
        ended = False
        while len(found) < count and not ended:
            k, change, fall = self._best(by, smoothing * mean)
            if not (k >= 0 and total - fall < total and math.isfinite(change)):
                ended = True
                break
            which = self._changed(k, change)
            if search and by == "tokens" and not data.exact[k]:
                change = self._further(k, change, which, loss, shift, smoothing * mean)
            theta[data.features.number[k]] += change
            self._rerun(which, loss, shift, _IGNORED * mean)
            bound, total = total - fall, float(now.loss.sum())
            if total < _FALLEN * mean * len(self._all):  # the measure of what is small falls with the loss
                mean = total / len(self._all)
                now.stale.fill(1)
            found.append((int(data.features.number[k]), change, bound, total))
        weight, steps, bounds, losses = zip(*found, strict=True) if found else ((), (), (), ())
        scale = math.exp(shift)
        return Rounds(
            theta, np.array(weight, np.int64), np.array(steps), scale * np.array(bounds), scale * np.array(losses),
            scale * start, scale * self._gradient_norm(), ended,
        )  # fmt: skip

    def _afresh(self, theta: F64, loss: BoostingLoss) -> float:
        """Everything from theta; returns the logarithm of a sentence's largest weight, by which all are divided."""
        now, text = self.now, self.data.text
        log_weight = np.log(self.data.weights)
        if loss.uniform:
            log_weight -= log_of_uniform(self.data.labels, self.data.lengths)
        self._text = text._replace(log_weight=log_weight)
        for kept in (now.nodes, now.arcs, now.gold_arcs, now.sums):
            kept.fill(0.0)
        now.stale.fill(1)
        score_all(self.data.features, theta, now.scores, now.transitions)
        self._rerun(self._all, loss, 0.0, math.inf)
        logs = log_weight + np.minimum(now.excess, self._straight(loss))
        shift = float(logs.max()) if len(logs) else 0.0
        if not (np.isfinite(now.excess).all() and shift <= _LARGEST_LOG):
            raise DataError(
                "the loss is not finite where boosting starts; are the weights that it starts from too large?"
            )
        self._rerun(self._all, loss, shift, 0.0)
        return shift

    def _best(self, by: str, smoothing: float) -> tuple[int, float, float]:
        features, now = self.data.features, self.now
        if by == "tokens":
            found = best_by_tokens(features, now.sums, smoothing, now.stale, self._promise, self._known)
        else:
            found = best_by_paths(features, now.sums, float(now.mass.sum()))
        return int(found[0]), float(found[1]), float(found[2])

    def _changed(self, k: int, change: float) -> I64:
        """Changes a weight; returns the sentences that have it."""
        features, now = self.data.features, self.now
        pairs = len(features.label)
        if k < pairs:
            touched: I64 = change_pair(features, k, change, self.data.sentence, now.scores)
            return touched
        now.transitions[features.source[k - pairs], features.target[k - pairs]] += change
        return self._all[np.searchsorted(self.data.lengths, 2) :]

    def _further(self, k: int, change: float, which: I64, loss: BoostingLoss, shift: float, smoothing: float) -> float:
        """A change made, twice that, four times ... as long as the loss falls; then as a parabola through the last
        three has it, if that is better."""
        features = self.data.features
        m = features.reach[k] * 0.5 ** (features.buckets[k] - 1)

        def at(step: float, now: float) -> float:
            self._changed(k, step - now)
            value = loss_of(self._text, self.now, which, self._straight(loss), shift)
            return float(value + smoothing * 4.0 * math.sinh(0.5 * min(m * abs(step), 600.0)) ** 2 / m)

        tried = [(0.0, float(self.now.loss[which].sum())), (change, at(change, change))]
        while tried[-1][1] < tried[-2][1] and len(tried) < _MOST_TRIALS:
            tried.append((2.0 * tried[-1][0], at(2.0 * tried[-1][0], tried[-1][0])))
        here = tried[-1][0]
        best, lowest = min(tried[1:], key=lambda one: one[1])
        middle = _bottom(tried[-3:]) if len(tried) > 2 else None
        if middle is not None:
            value = at(middle, here)
            here = middle
            best, lowest = (middle, value) if value < lowest else (best, lowest)
        self._changed(k, best - here)
        return best

    def _straight(self, loss: BoostingLoss) -> float:
        return math.inf if loss.uniform else loss.straight_from

    def _rerun(self, which: I64, loss: BoostingLoss, shift: float, ignored: float) -> None:
        rerun(self._text, self.now, which, self._straight(loss), shift, ignored)

    def _gradient_norm(self) -> float:
        """Of the loss, over exp(shift)."""
        features, sums = self.data.features, self.now.sums
        slope = np.zeros(len(features.number))
        for b in range(int(features.buckets.max(initial=0))):
            there = np.flatnonzero(features.buckets > b)
            cells = sums[features.cell[there] + b * features.stride[there]]
            slope[there] += cells[:, 0] - cells[:, 1]
        return math.sqrt(float(np.einsum("i,i->", slope, slope)))


def _bottom(points: list[tuple[float, float]]) -> float | None:
    """Where a parabola through three points is lowest, if it is between them."""
    (a, fa), (b, fb), (c, fc) = points
    right, left = (b - a) * (fb - fc), (b - c) * (fb - fa)
    if left == right or not math.isfinite(right - left):
        return None
    lowest = b - 0.5 * ((b - a) * right - (b - c) * left) / (right - left)
    return lowest if min(a, c) < lowest < max(a, c) and lowest != b else None
