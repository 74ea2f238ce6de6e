"""L-BFGS (Nocedal 1980; Liu & Nocedal 1989): a quasi-Newton step from the last m changes of theta and gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.diagonal import diagonal_metric
from trellis.optim.line_search import Counted, Point, wolfe_search
from trellis.optim.quasi_newton import Changes, remember_change, times_inverse_hessian
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import ROUNDING, evaluate_start, fraction_done, is_flat, is_slow, latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class LBFGSState:
    """Everything the next step depends on. `changes` are the last pairs (s, y) with s = theta' - theta and
    y = gradient' - gradient, `curvatures` their s . y; `inverse_diagonal` is H0, if not the identity; `values` the
    objective after each iteration."""

    theta: F64
    value: float
    gradient: F64
    changes: Changes = ()
    iteration: int = 0
    evaluations: int = 0
    products: int = 0
    values: tuple[float, ...] = ()
    converged: bool = False
    stuck: bool = False
    curvatures: tuple[float, ...] = ()
    inverse_diagonal: F64 | None = None

    @property
    def gradient_norm(self) -> float:
        return norm(self.gradient)


@dataclass(frozen=True)
class LBFGS:
    """Stops when the objective has fallen by less than `tol` of itself over the last `period` iterations, when the
    gradient's norm is below `tol` of theta's, or when no part of the gradient is above `gradient_tol`, if given.

    With `diagonal`, the recursion starts from the Hessian's diagonal to the power -`power` in place of the identity,
    taken anew every `refresh` iterations (0: only at the start; more often helped from zero, and made no difference
    from a warm start), and its first trial is `first_step` of what the diagonal says. See `diagonal_metric` for what it
    gains.
    """

    memory: int = setting(10, least=1)
    tol: float = setting(1e-5, above=0.0, below=1.0)
    period: int = setting(10, least=1)
    gradient_tol: float | None = setting(None, least=0.0)
    diagonal: bool = setting(False)
    power: float = setting(0.5, above=0.0, most=1.0)
    refresh: int = setting(10, least=0)
    first_step: float = setting(1.0, above=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> LBFGSState:
        value, gradient = evaluate_start(objective, theta)
        state = LBFGSState(theta, value, gradient, evaluations=1, values=(value,))
        state = replace(state, converged=self._flat(state))
        return self._with_diagonal(objective, state) if self.diagonal and not state.converged else state

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """One iteration: direction, line search, new pair."""
        if self.diagonal and self.refresh and state.iteration and state.iteration % self.refresh == 0:
            state = self._with_diagonal(objective, state)
        return self._search(objective, state)

    def fraction_done(self, state: LBFGSState) -> float:
        return fraction_done(state.values, self.tol)

    def usual_work(self, objective: Objective) -> float:
        return 1.0

    @property
    def vectors(self) -> int:
        return 2 * self.memory + 6

    def _with_diagonal(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        metric = diagonal_metric(objective, state.theta, state.gradient, self.power)
        return replace(state, inverse_diagonal=np.divide(1.0, metric, out=metric), products=state.products + 1)

    def _search(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        direction = -state.gradient
        times_inverse_hessian(direction, state.changes, state.curvatures, state.inverse_diagonal)
        has_scale = bool(state.changes) or state.inverse_diagonal is not None
        first = 1.0 if state.changes else self.first_step if has_scale else 1.0 / max(1.0, state.gradient_norm)
        start = Point(0.0, state.value, dot(state.gradient, direction), state.theta, state.gradient)
        evaluate = Counted(objective)
        found = wolfe_search(evaluate, start, direction, first) if start.slope < 0 else None
        del direction  # it takes as much room as a pair
        state = replace(state, evaluations=state.evaluations + evaluate.count)
        if found is not None and found.value < state.value:
            return self._moved(state, found)
        if abs(start.slope) <= ROUNDING * abs(state.value):
            return replace(state, stuck=True, converged=True)
        if has_scale:  # the curvature may be stale: once more from the plain gradient
            return self._search(objective, replace(state, changes=(), curvatures=(), inverse_diagonal=None))
        return replace(state, stuck=True, converged=self._flat(state))

    def _moved(self, state: LBFGSState, to: Point) -> LBFGSState:
        here, before = (to.theta, to.gradient), (state.theta, state.gradient)
        changes, curvatures = remember_change(state.changes, state.curvatures, here, before, self.memory)
        new = replace(
            state,
            theta=to.theta,
            value=to.value,
            gradient=to.gradient,
            changes=changes,
            curvatures=curvatures,
            iteration=state.iteration + 1,
            values=latest(state.values, to.value, self.period),
        )
        return replace(new, converged=self._flat(new) or is_slow(new.values, self.period, self.tol))

    def _flat(self, state: LBFGSState) -> bool:
        return is_flat(state.theta, state.gradient, self.tol, self.gradient_tol)
