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
_ROUNDING = 1e-9  # of the loss, by which it may be above its bound
_NOTHING = 1e-12  # is left of a sentence's loss when its labels are as good as certain
_FALLEN = 0.8
_LARGEST_LOG = 690.0  # of a sentence's weight
_MOST_TRIALS = 8  # of changes of a weight; two are usual


@dataclass(frozen=True)
class BoostingLoss:
    """What is minimised: the sum over sentences of c (exp(l) - 1) with l = log Z - S(y), where exp goes on along its
    tangent beyond l = `straight_from`. c is 1, or if `uniform` one over exp(l) - 1 with theta = 0, and there is no
    tangent. Sentences' own weights come on top."""

    uniform: bool
    straight_from: float


@dataclass(frozen=True)
class Trial:
    """How a change of a weight is judged: the loss over exp(shift), and what `smoothing` adds to its bound."""

    loss: BoostingLoss
    shift: float
    smoothing: float


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

    @property
    def tokens(self) -> int:
        return len(self.data.text.gold)

    @property
    def nbytes(self) -> int:
        """About: of all large arrays here."""
        parts = (*self.data.text, *self.data.features, *self.now, self._promise, self._known)
        return sum(each.nbytes for each in parts)

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
        fresh, ended = True, False
        while len(found) < count and not ended:
            k, change, fall = self._best(by, smoothing * mean)
            if not (k >= 0 and total > _NOTHING * len(self._all) and total - fall < total and math.isfinite(change)):
                ended = True
                break
            which = self._changed(k, 0.0)
            if search and by == "tokens" and not data.exact[k]:
                change = self._further(k, change, fall, which, Trial(loss, shift, smoothing * mean))
            else:
                self._changed(k, change)
            self._rerun(which, loss, shift, _IGNORED * mean)
            bound, before, total = total - fall, total, float(now.loss.sum())
            if not total <= bound + _ROUNDING * before:
                # small sums times exp(D m) may be large: what rounding has left of them must go
                ended, fresh = fresh, True
                self._afresh(theta, loss, shift)
                total = float(now.loss.sum())
                continue
            fresh = False
            theta[data.features.number[k]] += change
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

    def _afresh(self, theta: F64, loss: BoostingLoss, shift: float | None = None) -> float:
        """Everything from theta; returns the shift: if none is given, the logarithm of a sentence's largest weight."""
        now, text = self.now, self.data.text
        log_weight = np.log(self.data.weights)
        if loss.uniform:
            log_weight -= log_of_uniform(self.data.labels, self.data.lengths)
        self._text = text._replace(log_weight=log_weight)
        for kept in (now.nodes, now.arcs, now.gold_arcs, now.sums):
            kept.fill(0.0)
        now.stale.fill(1)
        score_all(self.data.features, theta, now.scores, now.transitions)
        if shift is None:
            rerun(self._text, now, self._all, 0.0, 0.0, math.inf)  # for the excess alone
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

    def _further(self, k: int, change: float, fall: float, which: I64, trial: Trial) -> float:
        """A change of weight k that lowers the loss by more than `fall`, which is certain of `change`, if one is found.

        The bound is far from the loss where a sentence has an attribute many times. So the first trial is the change
        that would be best if each had it once, and the next where a parabola through that is lowest."""
        features = self.data.features
        m = float(features.reach[k] * 0.5 ** (features.buckets[k] - 1))
        grows, falls = self._sums_of(k)
        slope, start = grows - falls, float(self.now.loss[which].sum())
        best, lowest, here = change, start - fall, 0.0
        step = math.log((falls + trial.smoothing) / (grows + trial.smoothing)) / (2.0 * m)
        for _ in range(_MOST_TRIALS):
            if not abs(step) > abs(change):
                break
            self._changed(k, step - here)
            value = float(loss_of(self._text, self.now, which, self._straight(trial.loss), trial.shift))
            value += trial.smoothing * 4.0 * math.sinh(0.5 * min(m * abs(step), 600.0)) ** 2 / m
            here, bend = step, value - start - slope * step
            lower = value < lowest
            if lower:
                best, lowest = step, value
            if not math.isfinite(bend):
                break
            bottom = -0.5 * slope * step**2 / bend if bend > 0.0 else 2.0 * step
            if lower and 0.8 < bottom / step < 1.25:  # near enough
                break
            step = min(max(bottom / step, 0.1), 2.0 if lower else 0.5) * step
        self._changed(k, best - here)
        return best

    def _sums_of(self, k: int) -> tuple[float, float]:
        """U and W of weight k, over all its cells."""
        features = self.data.features
        cells = features.cell[k] + features.stride[k] * np.arange(features.buckets[k])
        grows, falls = np.maximum(self.now.sums[cells], 0.0).sum(axis=0).tolist()
        return grows, falls

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
