"""What learners with margins share: epochs of a rule that changes weights sentence by sentence, and their average."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws
from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class MarginLearner(ABC):
    """Ends after `epochs`, or where no sentence (or no more than `tol` of all) makes an update any more. Its weights
    are the average over all steps unless `averaged` is off."""

    learns: ClassVar[tuple[str, ...]] = ("perceptron",)
    uses_prior: ClassVar[bool] = False
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"
    any_end: ClassVar[bool] = True

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(20, least=1)
    averaged: bool = setting(True)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    @abstractmethod
    def rule(self, steps: int) -> Any:
        """What an epoch does that begins after so many steps."""

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        objective.online()  # or an error, before anything is done
        return OnlineState(theta, vectors=(theta, np.zeros_like(theta)))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        online = objective.online()
        steps = state.epoch * online.sentences
        done = online.epoch(self.rule(steps), state.vectors, draws(self.seed, state.epoch))
        theta, late = done.vectors[:2]
        value, wrong, _ = done.tally
        epoch = state.epoch + 1
        answer = theta - late / max(1, steps + online.sentences) if self.averaged else theta
        return replace(
            state, theta=answer, value=value, vectors=done.vectors, epoch=epoch,
            converged=wrong <= self.tol * online.sentences, finished=epoch >= self.epochs,
        )  # fmt: skip

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 160.0

    @property
    def vectors(self) -> int:
        return 5
