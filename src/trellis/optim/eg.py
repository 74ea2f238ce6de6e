"""Exponentiated gradient on the dual of the log loss (Collins et al. 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.optim.contract import Objective
from trellis.optim.online import GapState, draws, smooth_prior
from trellis.optim.settings import check_settings, setting
from trellis.optim.vectors import norm

F64 = NDArray[np.float64]

_FRESH = 10  # epochs after which theta is made anew from the dual variables, so that roundings do not add up


@dataclass(frozen=True)
class EG:
    """Ends where the duality gap is at most `tol` of the objective, which is then no further from its minimum; or after
    `epochs`. The gap takes an evaluation, every `gap_every` epochs. From zero, it begins with all sentences nearly
    certain of their own labels: their potentials are ahead by `bonus`. `rate`: that of the first steps."""

    learns: ClassVar[tuple[str, ...]] = ("log",)
    is_online: ClassVar[bool] = True
    limit: ClassVar[str] = "epochs"

    tol: float = setting(1e-5, above=0.0, below=1.0)
    epochs: int = setting(500, least=1)
    rate: float = setting(0.5, above=0.0, most=1.0)
    bonus: float = setting(10.0, least=0.0, most=100.0)
    gap_every: int = setting(1, least=1)
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> GapState:
        if not smooth_prior(objective, "eg") > 0.0:
            raise SettingError(
                "l2 is 0, and without a prior there is no dual for eg; give l2 > 0, or use lbfgs or auto"
            )
        objective.online(marginals=True)  # or an error, before anything is done
        return GapState(theta)

    def step(self, objective: Objective, state: GapState) -> GapState:
        """An epoch."""
        from trellis.objective.rules.eg import EGRule

        if state.epoch % _FRESH == 0:
            state = self._made_anew(objective, state)
        online = objective.online(marginals=True)
        done = online.epoch(EGRule(objective.l2), (state.theta,), draws(self.seed, state.epoch), state.stores)
        state = replace(
            state, theta=done.vectors[0], stores=done.stores, epoch=state.epoch + 1,
            dual=state.dual + done.tally[0], numbers=done.tally[1:],
        )  # fmt: skip
        return self._judged(objective, state)

    def fraction_done(self, state: GapState) -> float:
        return state.fraction_done(self.epochs, self.tol)

    def usual_work(self, objective: Objective) -> float:
        return self.epochs / 50.0

    @property
    def vectors(self) -> int:
        return 5

    def stored(self, objective: Objective) -> int:
        from trellis.objective.rules.eg import EGRule

        return objective.online(marginals=True).bytes_for(EGRule)

    def _made_anew(self, objective: Objective, state: GapState) -> GapState:
        """theta and the dual from potentials; before the first epoch, these from theta if it is not zero."""
        from trellis.objective.rules.eg import EGRule

        online, rule = objective.online(marginals=True), EGRule(objective.l2, fresh=True)
        stores, zero = state.stores, np.zeros_like(state.theta)
        if not stores:
            stores = _, _, rates = online.stores_for(EGRule)
            rates.fill(self.rate)
            rule = replace(rule, share=1.0) if state.theta.any() else replace(rule, bonus=self.bonus)
        done = online.epoch(rule, (zero, state.theta), draws(self.seed, state.epoch), stores)
        return replace(state, theta=done.vectors[0], stores=done.stores, dual=done.tally[0])

    def _judged(self, objective: Objective, state: GapState) -> GapState:
        """With the gap, if it is its turn."""
        last = state.epoch >= self.epochs
        if state.epoch % self.gap_every and not last:
            return replace(state, value=math.inf, gap=math.inf, gradient_norm=math.inf)
        value, gradient = objective.value_and_gradient(state.theta)
        gap = value - state.dual
        return replace(
            state, value=value, gap=gap, gradient_norm=norm(gradient), evaluations=state.evaluations + 1,
            converged=gap <= self.tol * abs(value), finished=last,
        )  # fmt: skip
