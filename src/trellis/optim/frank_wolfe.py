"""Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013): the way to the minimum of the hinge loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.optim.contract import Objective
from trellis.optim.online import GapState, draws, smooth_prior
from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class BCFW:
    """Ends where the duality gap is at most `tol` of the objective, which is then no further from its minimum, or after
    `epochs`. Its weights are those of the lowest objective so far, among the averages of all steps, the k-th counted k
    times, or, with `averaged` off, among the last of each epoch. The log of a run has the dual and the gap.

    The dual begins at zero whatever weights training begins with: these are only kept until there are better ones."""

    learns: ClassVar[tuple[str, ...]] = ("hinge",)
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(50, least=1)
    averaged: bool = setting(True)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> GapState:
        if not smooth_prior(objective, "bcfw") > 0.0:
            raise SettingError("l2 is 0, and without a prior there is no dual for bcfw; give l2 > 0, or use lbfgs")
        return GapState(theta, vectors=(np.zeros_like(theta), np.zeros_like(theta)), dual=0.0)

    def step(self, objective: Objective, state: GapState) -> GapState:
        """An epoch."""
        from trellis.objective.rules.frank_wolfe import FrankWolfeRule

        online = objective.online(marginals=True)
        stores, l2 = state.stores or online.stores_for(FrankWolfeRule), objective.l2
        if state.epoch == 0 and state.theta.any():
            state = replace(state, value=objective.value_and_gradient(state.theta)[0], evaluations=1)
        steps = state.epoch * online.sentences
        rule = FrankWolfeRule(l2, steps)
        done = online.epoch(rule, state.vectors, draws(self.seed, state.epoch), stores)
        theta, late = done.vectors
        steps += online.sentences
        answer = theta - late * (2.0 / max(1.0, steps * (steps + 1.0))) if self.averaged else theta
        value = objective.value_and_gradient(answer)[0]
        if value > state.value:
            answer, value = state.theta, state.value
        dual = float(np.sum(done.stores[2])) - 0.5 * l2 * float(np.einsum("i,i->", theta, theta))
        epoch = state.epoch + 1
        return replace(
            state, theta=answer, value=value, vectors=done.vectors, stores=done.stores, dual=dual, gap=value - dual,
            epoch=epoch, evaluations=state.evaluations + 1, converged=value - dual <= self.tol * abs(value),
            finished=epoch >= self.epochs,
        )  # fmt: skip

    def fraction_done(self, state: GapState) -> float:
        return state.fraction_done(self.epochs, self.tol)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 40.0

    @property
    def vectors(self) -> int:
        return 6

    def stored(self, objective: Objective) -> int:
        from trellis.objective.rules.frank_wolfe import FrankWolfeRule

        return objective.online(marginals=True).bytes_for(FrankWolfeRule)
