"""What an optimiser sees, keeps and offers. A new one is a file with these, and a line in the registry."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


class Objective(Protocol):
    """A function to minimise; where its data is and how it is computed is nobody's business here."""

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]: ...


class State(Protocol):
    """Everything the next step depends on, and what the loop around it reads."""

    @property
    def theta(self) -> F64: ...
    @property
    def value(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...
    @property
    def iteration(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def converged(self) -> bool: ...
    @property
    def stuck(self) -> bool:
        """No step makes the objective smaller, and that is not because it is at its minimum."""
        ...


class Optimizer(Protocol):
    """Hyperparameters, and steps from one explicit state to the next."""

    def start(self, objective: Objective, theta: F64) -> Any: ...

    def step(self, objective: Objective, state: Any) -> Any: ...

    def fraction_done(self, state: Any) -> float:
        """A guess from 0 to 1, for progress bars."""
        ...
