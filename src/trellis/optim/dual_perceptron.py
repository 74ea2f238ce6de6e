"""The structured perceptron in the dual (Altun et al. 2003, sections 5.1 and 7): a step is an epoch.

It sees training data that can be passed over, not an objective with a gradient, so it is no optimiser of a CRF and is
not found by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.dual import Coefficients, DualExamples, Progression
from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class DualPerceptronState:
    """`theta`: the vector of `Coefficients`, averaged if asked for, whose length changes; `value`: the sum of
    S(best) - S(gold) over the last epoch; `gradient_norm`: how many tokens were wrong in it."""

    theta: F64
    value: float
    gradient_norm: float
    iteration: int
    progression: Progression
    converged: bool = False

    @property
    def evaluations(self) -> int:
        return self.iteration

    @property
    def products(self) -> int:
        return 0

    @property
    def stuck(self) -> bool:
        return False

    @property
    def active(self) -> int:
        """Coefficients and transitions that are not 0."""
        return Coefficients.active(self.theta, len(self.progression.transitions))


@dataclass(frozen=True)
class DualPerceptron:
    """Converged when an epoch had no mistake. `averaged`: theta is the mean over the coefficients after every
    sentence (Collins 2002)."""

    averaged: bool = setting(True)
    seed: int = setting(0, least=0)

    vectors = 2

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, examples: DualExamples, theta: F64) -> DualPerceptronState:
        """Nothing is learnt yet; theta is that."""
        return DualPerceptronState(theta, np.inf, np.inf, 0, examples.start())

    def step(self, examples: DualExamples, state: DualPerceptronState) -> DualPerceptronState:
        """One epoch."""
        past = state.progression
        now = examples.epoch(past, self.seed)
        wrong = len(now.events) - len(past.events)
        theta = found(examples, now, self.averaged).vector
        return DualPerceptronState(theta, now.loss, float(wrong), now.epochs, now, wrong == 0)

    def fraction_done(self, state: DualPerceptronState) -> float:
        """Known only at the end."""
        return float(state.converged)

    def usual_work(self, objective: Any) -> float:
        """Not to be compared with L-BFGS."""
        return 1.0


def found(examples: DualExamples, now: Progression, averaged: bool) -> Coefficients:
    """What was learnt so far: of a change at visit i the average over V visits has (V - i + 1) / V."""
    visits = now.epochs * examples.sentences
    codes, values = now.events.coefficients(examples.gold, examples.labels, visits, averaged)
    transitions = now.transitions
    if averaged:
        transitions = ((visits + 1) * transitions - now.sums) / max(visits, 1)
    return Coefficients(codes, values, transitions)
