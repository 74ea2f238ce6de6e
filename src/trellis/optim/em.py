"""Expectation-maximisation (Dempster, Laird and Rubin 1977): a step is an M step and the E step after it.

It sees an expectation, not an objective with a gradient, so it is not found by name: `expectation(theta)` is the
objective with the parameters that the counts theta give, and the counts expected under them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]
Expected = Callable[[F64], tuple[float, F64]]


@dataclass(frozen=True)
class EMState:
    """`theta`: counts; `expected`: those that they lead to, the next theta; `value`: the objective at theta."""

    theta: F64
    expected: F64
    value: float
    iteration: int = 0
    converged: bool = False
    finished: bool = False

    @property
    def done(self) -> int:
        return self.iteration

    @property
    def gradient_norm(self) -> float:
        """How far the next step leads."""
        return float(np.abs(self.expected - self.theta).max(initial=0.0))

    @property
    def evaluations(self) -> int:
        return self.iteration + 1

    @property
    def products(self) -> int:
        return 0

    @property
    def stuck(self) -> bool:
        return False


@dataclass(frozen=True)
class EM:
    """Converged when a step lowers the objective by no more than `tol` of it."""

    tol: float = setting(1e-5, above=0.0, below=1.0)

    vectors = 2

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Expected, theta: F64) -> EMState:
        """Where nothing is hidden the counts are those that they lead to, and there is nothing to do."""
        value, expected = objective(theta)
        return EMState(theta, expected, value, converged=bool(np.array_equal(theta, expected)))

    def step(self, objective: Expected, state: EMState) -> EMState:
        """The counts that were expected become those that count."""
        value, expected = objective(state.expected)
        converged = state.value - value <= self.tol * abs(value)
        return EMState(state.expected, expected, value, state.iteration + 1, converged)

    def fraction_done(self, state: EMState) -> float:
        """Known only at the end."""
        return float(state.converged)

    def usual_work(self, objective: Any) -> float:
        """Not to be compared with L-BFGS."""
        return 1.0


@dataclass(frozen=True)
class EarlyEM(EM):
    """So many `steps` and no more: what is likeliest is not what is best where labels have a meaning (see `HMM`)."""

    any_end: ClassVar[bool] = True
    limit: ClassVar[str] = "steps"

    steps: int = setting(3, least=1)

    def step(self, objective: Expected, state: EMState) -> EMState:
        now = super().step(objective, state)
        return replace(now, finished=now.iteration >= self.steps)

    def fraction_done(self, state: EMState) -> float:
        return 1.0 if state.converged else state.iteration / self.steps
