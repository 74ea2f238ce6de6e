"""Nonlinear conjugate gradient (Hager & Zhang 2005): the gradient, turned so that it does not undo the last direction.

Altun et al. (2003) compare it with L-BFGS. Polak & Ribiere's formula, cut off at zero, was tried as well: with the
default curvature it took up to 4 of a hundred evaluations more on each of four chunkers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.line_search import SUFFICIENT, Counted, Point, wolfe_search
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import ROUNDING, evaluate_start, fraction_done, is_flat, is_slow, latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]

_DESCENT = 1e-3  # of |g|^2: a direction with a smaller slope starts again from the gradient
_LEAST_NORM = 0.01  # eta of Hager & Zhang: how far below zero beta may get


@dataclass(frozen=True)
class NonlinearCGState:
    """Everything the next step depends on. `direction` is the one to search next, `first_step` how far the search
    tries to go."""

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
    """Stops as L-BFGS does. `curvature` is the part of the slope that a search may leave: less than for L-BFGS, since
    directions are conjugate only as far as the searches along them are thorough (Nocedal & Wright 2006, section 5.2),
    but each search then takes two trials, not one. On four chunkers (1,000 and 2,234 sentences of CoNLL-2000, l2 = 2
    and 0.2) 0.2 and 0.1 took the same number of evaluations within 8 of a hundred, 0.2 a little fewer in all."""

    curvature: float = setting(0.2, above=SUFFICIENT, below=1.0)
    tol: float = setting(1e-5, above=0.0, below=1.0)
    period: int = setting(10, least=1)
    gradient_tol: float | None = setting(None, least=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> NonlinearCGState:
        value, gradient = evaluate_start(objective, theta)
        flat = is_flat(theta, gradient, self.tol, self.gradient_tol)
        first = _cautious(gradient)
        return NonlinearCGState(theta, value, gradient, -gradient, first, 0, 1, values=(value,), converged=flat)

    def step(self, objective: Objective, state: NonlinearCGState) -> NonlinearCGState:
        """One iteration: line search, then the next direction."""
        start = Point(0.0, state.value, dot(state.gradient, state.direction), state.theta, state.gradient)
        evaluate = Counted(objective)
        found = None
        if start.slope < 0:
            found = wolfe_search(evaluate, start, state.direction, state.first_step, self.curvature)
        state = replace(state, evaluations=state.evaluations + evaluate.count)
        if found is not None and found.value < state.value:
            return self._moved(state, start, found)
        if abs(start.slope) * state.first_step <= ROUNDING * abs(state.value):
            return replace(state, stuck=True, converged=True)
        steepest = -state.gradient
        if not np.array_equal(state.direction, steepest):
            return self.step(objective, replace(state, direction=steepest, first_step=_cautious(state.gradient)))
        return replace(state, stuck=True, converged=is_flat(state.theta, state.gradient, self.tol, self.gradient_tol))

    def fraction_done(self, state: NonlinearCGState) -> float:
        return fraction_done(state.values, self.tol)

    def usual_work(self, objective: Objective) -> float:
        return 2.2  # chunking 2.3 (l2 = 2) and 2.1 (l2 = 0.5)

    @property
    def vectors(self) -> int:
        return 9

    def _moved(self, state: NonlinearCGState, start: Point, to: Point) -> NonlinearCGState:
        direction = _next_direction(start, to, state.direction)
        slope = dot(direction, to.gradient)
        values = latest(state.values, to.value, self.period)
        flat = is_flat(to.theta, to.gradient, self.tol, self.gradient_tol)
        return replace(
            state,
            theta=to.theta,
            value=to.value,
            gradient=to.gradient,
            direction=direction,
            # so that it foretells as much decrease as the last one did (Nocedal & Wright 2006, section 3.5)
            first_step=to.step * start.slope / slope if slope < 0 else to.step,
            iteration=state.iteration + 1,
            values=values,
            converged=flat or is_slow(values, self.period, self.tol),
        )


def _next_direction(start: Point, to: Point, last: F64) -> F64:
    """d' = -g' + beta d, or -g' where that would hardly lead down; beta as Hager & Zhang have it:

    beta = max((y - 2 d |y|^2 / (d.y)) . g' / (d.y), -1 / (|d| min(eta, |g|))), y = g' - g.
    """
    y = to.gradient - start.gradient
    dy = to.slope - start.slope
    beta = 0.0
    if dy > 0.0:
        beta = (dot(y, to.gradient) - 2.0 * to.slope * dot(y, y) / dy) / dy
        beta = max(beta, -1.0 / (norm(last) * min(_LEAST_NORM, norm(start.gradient))))
    direction = np.multiply(last, beta, out=y)
    direction -= to.gradient
    if not dot(direction, to.gradient) <= -_DESCENT * dot(to.gradient, to.gradient):
        np.negative(to.gradient, out=direction)
    return direction


def _cautious(gradient: F64) -> float:
    """A step along the gradient that changes theta by 1 at most: nothing is known of the curvature yet."""
    return 1.0 / max(1.0, norm(gradient))
