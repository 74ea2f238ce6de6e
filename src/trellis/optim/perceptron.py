"""The structured perceptron (Collins 2002; Altun et al. 2003, Algorithm 1): online, averaged or not, and in batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws
from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Perceptron:
    """Ends after `epochs`, or where no sentence (or no more than `tol` of all) is wrong any more. Its weights are the
    average over all steps unless `averaged` is off. `batch`: one update an epoch, for all sentences at once, on all
    threads."""

    learns: ClassVar[tuple[str, ...]] = ("perceptron",)
    uses_prior: ClassVar[bool] = False
    is_online: ClassVar[bool] = True
    any_end: ClassVar[bool] = True

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(20, least=1)
    averaged: bool = setting(True)
    batch: bool = setting(False)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        if not self.batch:
            objective.online()  # or an error, before anything is done
        return OnlineState(theta, vectors=(theta, np.zeros_like(theta)))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        from trellis.objective.rules.perceptron import PerceptronRule

        if self.batch:
            return self._all_at_once(objective, state)
        online = objective.online()
        steps = state.epoch * online.sentences
        done = online.epoch(PerceptronRule(steps), state.vectors, draws(self.seed, state.epoch))
        theta, late = done.vectors
        value, wrong, _ = done.tally
        steps += online.sentences
        answer = theta - late / max(1, steps) if self.averaged else theta
        return self._after(state, answer, done.vectors, value, wrong <= self.tol * online.sentences)

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 160.0

    @property
    def vectors(self) -> int:
        return 5

    def _all_at_once(self, objective: Objective, state: OnlineState) -> OnlineState:
        """theta <- theta + sum of F(y_i) - F(y*), which is minus the gradient of the perceptron's loss."""
        theta, total = state.vectors
        value, gradient = objective.value_and_gradient(theta)
        theta, total = theta - gradient, total + theta
        count = state.epoch + 1
        answer = (total + theta) / (count + 1) if self.averaged else theta
        return self._after(state, answer, (theta, total), value, not gradient.any())

    def _after(
        self, state: OnlineState, theta: F64, vectors: tuple[F64, ...], value: float, faultless: bool
    ) -> OnlineState:
        epoch = state.epoch + 1
        return replace(
            state, theta=theta, value=value, vectors=vectors, epoch=epoch,
            converged=faultless, finished=epoch >= self.epochs,
        )  # fmt: skip
