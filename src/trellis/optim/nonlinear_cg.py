"""Nonlinear conjugate gradient: each direction is the gradient's, turned so that it keeps clear of the last one.

Hager & Zhang's (2005) formula or Polak & Ribiere's, cut off at zero (Gilbert & Nocedal 1992).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.line_search import Counted, Point, wolfe_search
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import ROUNDING, evaluate_start, fraction_done, is_flat, is_slow, latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]

_DESCENT = 1e-3
HAGER_ZHANG, POLAK_RIBIERE = "hager-zhang", "polak-ribiere"


@dataclass(frozen=True)
class NonlinearCGState:
    """Everything the next step depends on. `direction` is the one to search next, `first_step` how far the search
    tries to go at first; `restarts` counts directions that are the plain gradient's, the first aside."""

    theta: F64
    value: float
    gradient: F64
    direction: F64
    first_step: float
    iteration: int = 0
    evaluations: int = 0
    products: int = 0
    values: tuple[float, ...] = ()
    converged: bool = False
    stuck: bool = False

    @property
    def gradient_norm(self) -> float:
        return norm(self.gradient)


@dataclass(frozen=True)
class NonlinearCG:
    """Stops as L-BFGS does. `curvature` is the part of the slope that a search may leave, less than for L-BFGS since
    directions are conjugate only if the searches along them are thorough (Nocedal & Wright 2006, section 5.2)."""

    beta: str = setting(HAGER_ZHANG, choices=(HAGER_ZHANG, POLAK_RIBIERE))
    curvature: float = setting(0.1, above=1e-4, below=1.0)
    tol: float = setting(1e-5, above=0.0, below=1.0)
    period: int = setting(10, least=1)
    gradient_tol: float | None = setting(None, least=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> NonlinearCGState:
        value, gradient = evaluate_start(objective, theta)
        flat = is_flat(theta, gradient, self.tol, self.gradient_tol)
        first = 1.0 / max(1.0, norm(gradient))
        return NonlinearCGState(
            theta, value, gradient, -gradient, first, evaluations=1, values=(value,), converged=flat
        )

    def step(self, objective: Objective, state: NonlinearCGState) -> NonlinearCGState:
        """One iteration: line search, then the next direction."""
        start = Point(0.0, state.value, dot(state.gradient, state.direction), state.theta, state.gradient)
        evaluate = Counted(objective)
        found = wolfe_search(evaluate, start, state.direction, state.first_step, self.curvature)
        state = replace(state, evaluations=state.evaluations + evaluate.count)
        if found is not None and found.value < state.value:
            return self._moved(state, start, found)
        if abs(start.slope) * state.first_step <= ROUNDING * abs(state.value):
            return replace(state, stuck=True, converged=True)
        if not np.array_equal(state.direction, -state.gradient):  # conjugate to what is far behind: from the gradient
            first = 1.0 / max(1.0, state.gradient_norm)
            return self.step(objective, replace(state, direction=-state.gradient, first_step=first))
        return replace(state, stuck=True, converged=is_flat(state.theta, state.gradient, self.tol, self.gradient_tol))

    def fraction_done(self, state: NonlinearCGState) -> float:
        return fraction_done(state.values, self.tol)

    def _moved(self, state: NonlinearCGState, start: Point, to: Point) -> NonlinearCGState:
        direction = self._next_direction(start, to, state.direction)
        slope = dot(direction, to.gradient)
        values = latest(state.values, to.value, self.period)
        flat = is_flat(to.theta, to.gradient, self.tol, self.gradient_tol)
        return replace(
            state,
            theta=to.theta,
            value=to.value,
            gradient=to.gradient,
            direction=direction,
            first_step=_first_step(start, to, slope),
            iteration=state.iteration + 1,
            values=values,
            converged=flat or is_slow(values, self.period, self.tol),
        )

    def _next_direction(self, start: Point, to: Point, last: F64) -> F64:
        """d' = -g' + beta d, or -g' where that would hardly lead down."""
        y = to.gradient - start.gradient
        if self.beta == HAGER_ZHANG:
            beta = _hager_zhang(y, start, to, last)
        else:
            beta = max(0.0, dot(y, to.gradient) / dot(start.gradient, start.gradient))
        squared = dot(to.gradient, to.gradient)
        direction = np.multiply(last, beta, out=y)
        direction -= to.gradient
        if not dot(direction, to.gradient) <= -_DESCENT * squared:
            np.negative(to.gradient, out=direction)
        return direction


def _hager_zhang(y: F64, start: Point, to: Point, last: F64) -> float:
    """beta = (y - 2 d |y|^2 / (d.y)) . g' / (d.y), from below at -1 / (|d| min(0.01, |g|)) (Hager & Zhang 2005, eqs.
    1.3-1.5 and 7.?)."""
    dy = to.slope - start.slope
    if dy <= 0.0:
        return 0.0
    beta = (dot(y, to.gradient) - 2.0 * to.slope * dot(y, y) / dy) / dy
    return max(beta, -1.0 / (norm(last) * min(0.01, norm(start.gradient))))


def _first_step(start: Point, to: Point, slope: float) -> float:
    """The first change of the objective will be about the last one (Nocedal & Wright 2006, eq. 3.60)."""
    return to.step * start.slope / slope
