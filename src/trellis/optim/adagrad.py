"""AdaGrad (Duchi et al. 2011) with the priors l2 and l1: online, with weights that are 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws, has_settled, went_too_far
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import latest
from trellis.optim.vectors import dot

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class AdaGrad:
    """Ends after `epochs`, or when the loss that an epoch meets changes by less than `tol` of itself over `period`
    epochs. `step_size` is what a weight moves at its first slope. The weights are those after the last sentence: an
    average of weights that are 0 now and then would hardly have any."""

    learns: ClassVar[tuple[str, ...]] = ("log",)
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(50, least=1)
    step_size: float = setting(0.3, above=0.0)
    period: int = setting(5, least=1)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        objective.online(marginals=True)  # or an error, before anything is done; as for priors of other kinds
        _ = objective.l2
        return OnlineState(theta, vectors=(theta, np.zeros_like(theta)))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        from trellis.objective.rules.adagrad import AdaGradRule

        online = objective.online(marginals=True)
        rule = AdaGradRule(self.step_size, objective.l2, objective.l1)
        # a weight moves by as much as makes about the same difference to scores
        vectors = *state.vectors, online.shares, 1.0 / np.sqrt(online.squares)
        done = online.epoch(rule, vectors, draws(self.seed, state.epoch))
        theta, squares = done.vectors[:2]
        loss, missing = done.tally
        prior = 0.5 * objective.l2 * dot(theta, theta) + objective.l1 * float(np.abs(theta).sum())
        value, epoch = loss + prior, state.epoch + 1
        if went_too_far(loss, missing, online.sentences, theta):
            return replace(state, epoch=epoch, stuck=True, missed=1)
        values = () if missing else latest(state.values, value, self.period)
        return replace(
            state, theta=theta, value=value, vectors=(theta, squares), epoch=epoch, values=values,
            converged=has_settled(values, self.period, self.tol), finished=epoch >= self.epochs,
        )  # fmt: skip

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 60.0

    @property
    def vectors(self) -> int:
        return 8
