"""What online optimisers share: a state between two epochs, and how the loop around them sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.optim.contract import Objective

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class OnlineState:
    """After `epoch` epochs. `theta` is what training would end with, such as an average; `vectors` are what the rule
    changes, each as long as theta, `stores` its memory for tokens or sentences, `numbers` whatever else it counts.
    `value` is what was added up on the way: the loss of each sentence before its own update; `values`: after the last
    epochs. `finished`: all epochs are done, of an optimiser that knows that this is not its end. `missed`: how many of
    the last epochs led too far and left nothing behind."""

    theta: F64
    value: float = math.inf
    vectors: tuple[F64, ...] = ()
    stores: tuple[NDArray[Any], ...] = ()
    numbers: tuple[float, ...] = ()
    epoch: int = 0
    values: tuple[float, ...] = ()
    gradient_norm: float = math.inf
    converged: bool = False
    stuck: bool = False
    finished: bool = False
    missed: int = 0

    @property
    def iteration(self) -> int:
        return self.epoch

    @property
    def done(self) -> int:
        return self.epoch

    @property
    def evaluations(self) -> int:
        """None: `value` is a guess."""
        return 0

    @property
    def products(self) -> int:
        return self.epoch


@dataclass(frozen=True)
class GapState(OnlineState):
    """Of optimisers that know how far they can be from the minimum at most. `dual`: a bound from below for it, which
    rises in every epoch. `value` is the objective at theta and `gap` how far that is above the dual; both are inf where
    they were not computed."""

    dual: float = -math.inf
    gap: float = math.inf
    evaluations: int = 0

    @property
    def more(self) -> dict[str, float]:
        return {"dual": self.dual, "gap": self.gap}

    def fraction_done(self, epochs: int, tol: float) -> float:
        """By epochs, or by how far the gap has fallen on its way to `tol` of the objective, in powers of ten."""
        part = self.gap / abs(self.value) if self.value and math.isfinite(self.gap) else 1.0
        fallen = math.log(min(max(part, tol), 1.0)) / math.log(tol)
        return min(max(self.epoch / epochs, fallen), 1.0)


def smooth_prior(objective: Objective, name: str) -> float:
    """l2, if that is all there is of a prior."""
    if objective.l1 > 0:
        other = "owlqn with the loss hinge" if name == "bcfw" else "adagrad or owlqn"
        raise SettingError(f"l1 is {objective.l1:g}, which {name} does not know; use the optimizer {other}")
    return objective.l2


_MISSING = 0.1  # of the sentences: if more are left out, weights have gone too far


def went_too_far(loss: float, missing: float, sentences: int, theta: F64) -> bool:
    """Whether an epoch led to what is no number, or to scores so large that many sentences have no probabilities."""
    return missing > _MISSING * sentences or not math.isfinite(loss) or not bool(np.isfinite(theta).all())


def has_settled(values: tuple[float, ...], period: int, tol: float) -> bool:
    """What an epoch meets has neither risen nor fallen by more than `tol` of itself over the last `period` epochs."""
    return len(values) > period and max(values) - min(values) <= tol * abs(values[-1])


def draws(seed: int, epoch: int) -> np.random.Generator:
    """The random numbers of an epoch, which depend on nothing else: a run that is taken up again draws the same."""
    return np.random.default_rng([seed, epoch])
