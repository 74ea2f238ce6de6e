"""Sequence boosting (Altun et al. 2003, Algorithm 2): one weight a round, by an upper bound of the exponential loss.

Each round changes that weight, and by that much, for which a bound of the loss falls most; then only the sentences that
have its attribute are done again. The model stays sparse: after a while the same weights are chosen again and again.
There is no prior; the number of rounds takes its place.

Measured on CoNLL-2002 Spanish, F1 on testb. Altun's S3: 68.6, 71.6 and 74.8 after 2,000, 4,000 and 8,000 rounds, with
1%, 2% and 3% of the weights. S1, where most attributes are rare: 42.8 after 8,000 rounds with smoothing = 1, 48.0 with
0.3. S1, 4,000 rounds, smoothing = 0.01: 48.7 with straight_from = 5, 47.2 with 0, but 13.1 with uniform weights. S3 of
the first 1,200 sentences, 1,000 rounds: 59.4; without the search 48.8; by paths no entity is found yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.optim.contract import Objective
from trellis.optim.settings import check_settings, setting

F64 = NDArray[np.float64]

_SMOOTHING = 0.3  # where none is given


@dataclass(frozen=True)
class BoostingState:
    """Everything the next step depends on. `value` is the loss that is boosted (see `Boosting`), without any prior; inf
    before the first step. `promised` is the bound of it in the last round. `finished`: all rounds are done."""

    theta: F64
    value: float = math.inf
    gradient_norm: float = math.inf
    promised: float = math.inf
    iteration: int = 0
    rounds: int = 0
    converged: bool = False
    finished: bool = False

    @property
    def done(self) -> int:
        return self.rounds

    @property
    def evaluations(self) -> int:
        """None: `value` may not be the objective's."""
        return 0

    @property
    def products(self) -> int:
        """An iteration solves all lattices twice, and then those of some rounds."""
        return 2 * self.iteration

    @property
    def stuck(self) -> bool:
        return False


@dataclass(frozen=True)
class Boosting:
    """The loss is the sum over sentences of exp(l) - 1 with l = log Z - S(y); beyond l = `straight_from` it goes on
    along its tangent, so that no sentence weighs more than exp(straight_from): 0 is the log loss, 50 the loss 'exp' as
    other optimisers know it. With `weights="uniform"` it has no tangent; each sentence's exp(l) - 1 is divided by what
    it is with theta = 0, L^T - 1, so that all sentences weigh the same in the first round, as in the paper.

    `bound`: 'paths' is the paper's, 'tokens' a tighter one. Two options are for 'tokens' only: with `smoothing`, in
    mean losses of a sentence, changes stay moderate where an attribute has but one label; with `search`, a change goes
    on as long as the loss falls.

    Stops after so many `rounds`, or when the loss falls by less than `tol` of itself in an iteration, which is
    `rounds_per_step` rounds."""

    tol: float = setting(1e-5, above=0.0, below=1.0)
    rounds: int = setting(10_000, least=1)
    rounds_per_step: int = setting(500, least=1)
    weights: str = setting("capped", choices=("capped", "uniform"))
    straight_from: float = setting(2.0, least=0.0, most=500.0)
    bound: str = setting("tokens", choices=("tokens", "paths"))
    smoothing: float = setting(_SMOOTHING, above=0.0)
    search: bool = setting(True)

    learns: ClassVar[tuple[str, ...]] = ("exp",)
    uses_prior: ClassVar[bool] = False
    any_end: ClassVar[bool] = True
    limit: ClassVar[str] = "rounds"

    def __post_init__(self) -> None:
        check_settings(self)
        if self.bound == "paths" and self.smoothing != _SMOOTHING:
            raise SettingError(
                f"smoothing is {self.smoothing:g}, which the bound 'paths' does not know; leave one of them out"
            )

    def start(self, objective: Objective, theta: F64) -> BoostingState:
        if objective.l1 > 0:
            raise SettingError(f"l1 is {objective.l1:g}, and boosting knows no prior; use fewer rounds instead")
        if not np.isfinite(theta).all():
            raise DataError("the weights that boosting starts from are not finite")
        objective.boosting()  # says at once where it is not possible
        return BoostingState(theta)

    def step(self, objective: Objective, state: BoostingState) -> BoostingState:
        """So many rounds."""
        whole = self.rounds_per_step - state.rounds % self.rounds_per_step
        count = min(whole, self.rounds - state.rounds)
        if state.converged or count <= 0:
            return state if state.converged else replace(state, finished=True)
        done = objective.boosting().rounds(
            state.theta, count, self.straight_from, self.weights == "uniform", self.bound, self.smoothing, self.search
        )
        value = float(done.loss[-1]) if len(done.loss) else done.start
        rounds = state.rounds + len(done.loss)
        slow = count == self.rounds_per_step and done.start - value <= self.tol * value
        return BoostingState(
            done.theta,
            value,
            done.gradient_norm,
            float(done.bound[-1]) if len(done.bound) else value,
            state.iteration + 1,
            rounds,
            converged=slow or done.ended,
            finished=rounds >= self.rounds,
        )

    def fraction_done(self, state: BoostingState) -> float:
        return 1.0 if state.converged else state.rounds / self.rounds

    def usual_work(self, objective: Objective) -> float:
        # A round takes as long as 0.2 evaluations of the log loss, on 6, 19 and 265 thousand tokens; how many of them
        # L-BFGS needs is in `training.estimate.usual_evaluations`.
        evaluations: float = 2.1 * max(1, objective.boosting().tokens) ** 0.38
        return 0.2 * self.rounds / evaluations

    @property
    def vectors(self) -> int:
        return 8

    def stored(self, objective: Objective) -> int:
        return objective.boosting().nbytes
