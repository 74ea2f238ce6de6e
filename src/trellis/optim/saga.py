"""SAGA (Defazio et al. 2014): stochastic gradient descent whose noise dies away, so that it comes to the minimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws, has_settled, smooth_prior, went_too_far
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]

_SMALLEST = 1e-9
_ROUGHLY = 1e-6  # of the loss: what it may rise by
_SHORTER, _LONGER = 0.5, 1.1  # a step after an epoch whose loss has risen, or fallen


@dataclass(frozen=True)
class SAGA:
    """Ends after `epochs`, when the loss that an epoch meets changes by less than `tol` of itself over `period`
    epochs, or when the gradient, of which it has an estimate at any time, is below `tol` of theta's norm. The
    `step_size` is halved when that loss rises, and grows by a tenth when it falls."""

    learns: ClassVar[tuple[str, ...]] = ("log",)
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(100, least=1)
    step_size: float = setting(0.1, above=0.0)
    period: int = setting(5, least=1)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        from trellis.objective.rules.saga import SAGARule

        smooth_prior(objective, "saga")
        stores = objective.online(marginals=True).stores_for(SAGARule)
        return OnlineState(theta, vectors=(theta, np.zeros_like(theta)), stores=stores, numbers=(self.step_size,))

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        from trellis.objective.rules.saga import SAGARule

        online, (size,) = objective.online(marginals=True), state.numbers
        rule = SAGARule(min(size, 0.5 / objective.l2) if objective.l2 else size, objective.l2)
        # slopes of an attribute add up over its occurrences in an update
        gain = 1.0 / (1.0 + online.counts / online.length("fours")) / online.squares
        vectors = *state.vectors, online.shares, gain
        done = online.epoch(rule, vectors, draws(self.seed, state.epoch), state.stores)
        theta, mu = done.vectors[:2]
        loss, missing = done.tally
        value, epoch = loss + 0.5 * objective.l2 * dot(theta, theta), state.epoch + 1
        if went_too_far(loss, missing, online.sentences, theta):
            size /= 10.0
            return replace(
                state, numbers=(size,), epoch=epoch, finished=epoch >= self.epochs, stuck=size < _SMALLEST,
                missed=state.missed + 1,
            )  # fmt: skip
        rises = bool(missing) or (bool(state.values) and value > (1.0 + _ROUGHLY) * state.values[-1])
        size *= _SHORTER if rises else _LONGER
        gradient = norm(mu + objective.l2 * theta)
        values = () if missing else latest(state.values, value, self.period)
        flat = not missing and gradient <= self.tol * max(1.0, norm(theta))
        return replace(
            state, theta=theta, value=value, vectors=(theta, mu), stores=done.stores, numbers=(size,), epoch=epoch,
            values=values, missed=0, gradient_norm=gradient, finished=epoch >= self.epochs,
            converged=flat or has_settled(values, self.period, self.tol),
        )  # fmt: skip

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return 0.6

    @property
    def vectors(self) -> int:
        return 9

    def stored(self, objective: Objective) -> int:
        from trellis.objective.rules.saga import SAGARule

        return objective.online(marginals=True).bytes_for(SAGARule)
