"""Stochastic gradient descent with the two schedules of Tsuboi et al. 2011."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws, has_settled, smooth_prior, went_too_far
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import latest
from trellis.optim.vectors import dot

F64 = NDArray[np.float64]

_STEPS = (0.5, 0.1, 0.05, 0.01)  # Tsuboi et al. 2011
_FURTHER = 5.0  # smaller ones, where the smallest of these is the best
_SMALLEST = 1e-6
_SAMPLE = 500  # sentences to learn from, and as many to judge by
_SNAPSHOTS = 8


@dataclass(frozen=True)
class SGD:
    """Ends after `epochs`, or when the loss that an epoch meets changes by less than `tol` of itself over `period`
    epochs. The step size after k of N sentences is step * decay^(k/N) (`schedule="exponential"`) or step / (1 + k/N)
    (`"inverse"`); without a `step` it is the best of a few by a pass over 500 sentences, judged on 500 others. The
    weights are those after the last sentence, or their average over the last epoch if `averaged`."""

    learns: ClassVar[tuple[str, ...]] = ("log",)
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(50, least=1)
    schedule: str = setting("exponential", choices=("exponential", "inverse"))
    step_size: float | None = setting(None, above=0.0)
    decay: float = setting(0.85, above=0.0, below=1.0)
    averaged: bool = setting(True)
    period: int = setting(5, least=1)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        smooth_prior(objective, "sgd")
        size = self.step_size or self._best_step(objective, theta)
        return OnlineState(theta, vectors=(theta,), numbers=(size,))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        from trellis.objective.rules.sgd import SGDRule

        online = objective.online(marginals=True)
        rule = SGDRule(state.numbers[0], self._decay, objective.l2, online.sentences, state.epoch * online.sentences)
        snapshots = _SNAPSHOTS if self.averaged else 0
        done = online.epoch(rule, state.vectors, draws(self.seed, state.epoch), snapshots=snapshots)
        (theta,), (loss, missing) = done.vectors, done.tally
        epoch = state.epoch + 1
        if went_too_far(loss, missing, online.sentences, theta):  # once more with a smaller step
            size = state.numbers[0] / 10.0
            return replace(
                state, numbers=(size,), epoch=epoch, finished=epoch >= self.epochs, stuck=size < _SMALLEST,
                missed=state.missed + 1,
            )  # fmt: skip
        value = loss + 0.5 * objective.l2 * dot(theta, theta)
        values = () if missing else latest(state.values, value, self.period)
        return replace(
            state, theta=done.average if self.averaged else theta, value=value, vectors=(theta,), epoch=epoch, missed=0,
            values=values, converged=has_settled(values, self.period, self.tol), finished=epoch >= self.epochs,
        )  # fmt: skip

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 100.0

    @property
    def vectors(self) -> int:
        return 5

    @property
    def _decay(self) -> float:
        return self.decay if self.schedule == "exponential" else 0.0

    def _best_step(self, objective: Objective, theta: F64) -> float:
        from trellis.objective.rules.sgd import SGDRule

        online = objective.online(marginals=True)
        share = min(_SAMPLE, online.sentences) / max(1, online.sentences)

        def judged(step: float) -> float:
            rule = SGDRule(step, self._decay, objective.l2, online.sentences)
            done = online.trial(rule, replace(rule, step=0.0), (theta,), draws(self.seed, 0), _SAMPLE)
            loss, missing = done.tally
            loss += 0.5 * share * objective.l2 * dot(done.vectors[0], done.vectors[0])
            # sentences that are left out have no loss: that must not look like the smallest one
            return loss if math.isfinite(loss) and not missing else math.inf

        steps = [(judged(step), step) for step in _STEPS]
        nothing = judged(0.0)
        # smaller ones, while they are better and there is none that helps
        while steps[-1][0] > nothing and steps[-1] == min(steps) and steps[-1][1] > _SMALLEST:
            step = steps[-1][1] / _FURTHER
            steps.append((judged(step), step))
        best, step = min(steps)
        return step if best <= nothing else _STEPS[-1]
