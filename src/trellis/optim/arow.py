"""Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009) for sequences."""

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
class AROW(MarginLearner):
    """Weights have variances, `variance` at first, which fall with every update they are in: weights that were changed
    often are changed less. A large `gamma` makes steps smaller, and variances fall more slowly. `augmented`: as for
    passive-aggressive algorithms."""

    variance: float = setting(1.0, above=0.0)
    gamma: float = setting(1.0, above=0.0)
    augmented: bool = setting(False)

    def rule(self, steps: int) -> Any:
        from trellis.objective.rules.arow import ArowRule

        return ArowRule(steps, self.gamma, self.augmented)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        begun = super().start(objective, theta)
        return replace(begun, vectors=(*begun.vectors, np.full_like(theta, self.variance)))

    @property
    def vectors(self) -> int:
        return 7
