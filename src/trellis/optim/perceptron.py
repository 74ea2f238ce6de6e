"""The structured perceptron (Collins 2002; Altun et al. 2003, Algorithm 1): online, averaged or not, and in batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.margins import MarginLearner
from trellis.optim.online import OnlineState
from trellis.optim.settings import setting

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Perceptron(MarginLearner):
    """The margin is 0: a sentence whose best path is the gold one changes nothing. `batch`: one update an epoch, for
    all sentences at once, on all threads."""

    batch: bool = setting(False)

    def rule(self, steps: int) -> Any:
        from trellis.objective.rules.perceptron import PerceptronRule

        return PerceptronRule(steps)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        if not self.batch:
            return super().start(objective, theta)
        return OnlineState(theta, vectors=(theta, np.zeros_like(theta)))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        return self._all_at_once(objective, state) if self.batch else super().step(objective, state)

    def _all_at_once(self, objective: Objective, state: OnlineState) -> OnlineState:
        """theta <- theta + sum of F(y_i) - F(y*), which is minus the gradient of the perceptron's loss."""
        theta, total = state.vectors
        value, gradient = objective.value_and_gradient(theta)
        theta, total, epoch = theta - gradient, total + theta, state.epoch + 1
        return replace(
            state, theta=(total + theta) / (epoch + 1) if self.averaged else theta, value=value,
            vectors=(theta, total), epoch=epoch, converged=not gradient.any(), finished=epoch >= self.epochs,
        )  # fmt: skip
