"""SAGA (Defazio et al. 2014): stochastic gradient descent whose noise dies away, so that it comes to the minimum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.online import OnlineState, draws, smooth_prior
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import is_slow, latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]

_SMALLEST = 1e-9


@dataclass(frozen=True)
class SAGA:
    """Ends after `epochs`, when the loss that an epoch meets has fallen by less than `tol` of itself over `period`
    epochs, or when the gradient, of which it has an estimate at any time, is below `tol` of theta's norm. The
    `step_size` is halved, and the epoch begun again, when the loss rises."""

    learns: ClassVar[tuple[str, ...]] = ("log",)
    is_online: ClassVar[bool] = True

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(100, least=1)
    step_size: float = setting(0.1, above=0.0)
    period: int = setting(5, least=1)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OnlineState:
        smooth_prior(objective, "saga")
        online = objective.online(marginals=True)
        slopes = np.zeros((online.length("tokens"), online.width))
        of_arcs = np.zeros((online.length("fours"), online.labels, online.labels))
        return OnlineState(
            theta, vectors=(theta, np.zeros_like(theta)), stores=(slopes, of_arcs), numbers=(self.step_size,)
        )

    def step(self, objective: Objective, state: OnlineState) -> OnlineState:
        """An epoch."""
        from trellis.objective.rules.saga import SAGARule

        online, (size,) = objective.online(marginals=True), state.numbers
        rule = SAGARule(min(size, 0.5 / objective.l2) if objective.l2 else size, objective.l2)
        done = online.epoch(rule, (*state.vectors, online.shares), draws(self.seed, state.epoch), state.stores)
        theta, mu, _ = done.vectors
        value = done.tally[0] + 0.5 * objective.l2 * dot(theta, theta)
        epoch = state.epoch + 1
        rises = not math.isfinite(value) or (bool(state.values) and value > state.values[-1])
        if rises:
            return replace(state, numbers=(size / 2.0,), epoch=epoch, stuck=size < _SMALLEST)
        gradient = norm(mu + objective.l2 * theta)
        values = latest(state.values, value, self.period)
        flat = gradient <= self.tol * max(1.0, norm(theta))
        return replace(
            state, theta=theta, value=value, vectors=(theta, mu), stores=done.stores, epoch=epoch, values=values,
            gradient_norm=gradient, converged=flat or epoch >= self.epochs or is_slow(values, self.period, self.tol),
        )  # fmt: skip

    def fraction_done(self, state: OnlineState) -> float:
        return min(state.epoch / self.epochs, 1.0)

    def usual_work(self, objective: Objective) -> float:
        return 0.6

    @property
    def vectors(self) -> int:
        return 9
