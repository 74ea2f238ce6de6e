"""OWL-QN (Andrew & Gao 2007): L-BFGS for f(theta) + l1 |theta|_1, which has no gradient where a weight is zero.

Within one orthant, where no weight changes its sign, |theta|_1 is linear and all curvature is that of f. So a step is
an L-BFGS step that may reach the border of its orthant but not cross it: weights that want to cross become zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.line_search import MOST_TRIALS, SUFFICIENT, Counted, Point
from trellis.optim.quasi_newton import Changes, remember, times_inverse_hessian
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import ROUNDING, evaluate_start, fraction_done, is_flat, is_slow, latest
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class OWLQNState:
    """Everything the next step depends on. `value` and `values` have the l1 part, `gradient` is that of f alone and
    `gradient_norm` that of the pseudo-gradient; `changes` and `curvatures` as in L-BFGS."""

    theta: F64
    value: float
    gradient: F64
    gradient_norm: float
    changes: Changes = ()
    curvatures: tuple[float, ...] = ()
    iteration: int = 0
    evaluations: int = 0
    products: int = 0
    values: tuple[float, ...] = ()
    converged: bool = False
    stuck: bool = False


@dataclass(frozen=True)
class OWLQN:
    """Stops as L-BFGS does, by the pseudo-gradient; with l1 = 0 it is an L-BFGS whose searches only backtrack. More
    memory than there: pairs cost little where most weights are zero."""

    memory: int = setting(20, least=1)
    tol: float = setting(1e-5, above=0.0, below=1.0)
    period: int = setting(10, least=1)
    gradient_tol: float | None = setting(None, least=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> OWLQNState:
        smooth, gradient = evaluate_start(objective, theta, takes_l1=True)
        value = smooth + objective.l1 * float(np.abs(theta).sum())
        slopes = pseudo_gradient(theta, gradient, objective.l1)
        flat = is_flat(theta, slopes, self.tol, self.gradient_tol)
        return OWLQNState(theta, value, gradient, norm(slopes), evaluations=1, values=(value,), converged=flat)

    def step(self, objective: Objective, state: OWLQNState) -> OWLQNState:
        """One iteration: direction, search within the orthant, new pair."""
        slopes = pseudo_gradient(state.theta, state.gradient, objective.l1)
        direction = self._direction(state, slopes, objective.l1)
        first = 1.0 if state.changes else 1.0 / max(1.0, state.gradient_norm)
        start = Point(0.0, state.value, dot(slopes, direction), state.theta, slopes)
        evaluate = Counted(objective)
        found = orthant_search(evaluate, start, direction, first, objective.l1) if start.slope < 0 else None
        state = replace(state, evaluations=state.evaluations + evaluate.count)
        if found is not None:
            return self._moved(state, found, objective.l1)
        if abs(start.slope) <= ROUNDING * abs(state.value):
            return replace(state, stuck=True, converged=True)
        if state.changes:  # the curvature may be stale: once more from the plain pseudo-gradient
            return self.step(objective, replace(state, changes=(), curvatures=()))
        return replace(state, stuck=True, converged=is_flat(state.theta, slopes, self.tol, self.gradient_tol))

    def fraction_done(self, state: OWLQNState) -> float:
        return fraction_done(state.values, self.tol)

    def usual_work(self, objective: Objective) -> float:
        return 1.0 if objective.l1 == 0 else 2.0  # chunking, l1 = 1

    @property
    def vectors(self) -> int:
        return 2 * self.memory + 8

    def _direction(self, state: OWLQNState, slopes: F64, l1: float) -> F64:
        """-H v for the pseudo-gradient v, which weights at zero follow only where it does not lead them out of the
        orthant (Andrew & Gao, section 3.2), made from the pairs as they are in the weights that are free to move.

        The paper takes H of all weights and drops parts of other weights, too, that go against the pseudo-gradient.
        But the inverse of a part of the Hessian is not that part of its inverse, and a Newton step without some of its
        parts is none. On a chunker (1,000 sentences of CoNLL-2000, lasso and elastic net) that took 1.1 to 1.4 times as
        many evaluations to within 1e-3 of the optimum with memory 5, and 3 to 4 times with memory 50.
        """
        if l1 == 0:
            direction = -slopes
            times_inverse_hessian(direction, state.changes, state.curvatures)
            return direction
        free = np.flatnonzero(slopes)
        changes: Changes = ()
        curvatures: tuple[float, ...] = ()
        for s, y in state.changes:
            changes, curvatures = remember(changes, curvatures, s[free], y[free], self.memory)
        down = -slopes[free]
        d = down.copy()
        times_inverse_hessian(d, changes, curvatures)
        d[(d * down <= 0.0) & (state.theta[free] == 0.0)] = 0.0
        direction = np.zeros_like(slopes)
        direction[free] = d
        return direction

    def _moved(self, state: OWLQNState, to: Point, l1: float) -> OWLQNState:
        slopes = pseudo_gradient(to.theta, to.gradient, l1)
        s, y = to.theta - state.theta, to.gradient - state.gradient
        changes, curvatures = remember(state.changes, state.curvatures, s, y, self.memory)
        values = latest(state.values, to.value, self.period)
        flat = is_flat(to.theta, slopes, self.tol, self.gradient_tol)
        return replace(
            state,
            theta=to.theta,
            value=to.value,
            gradient=to.gradient,
            gradient_norm=norm(slopes),
            changes=changes,
            curvatures=curvatures,
            iteration=state.iteration + 1,
            values=values,
            converged=flat or is_slow(values, self.period, self.tol),
        )


def pseudo_gradient(theta: F64, gradient: F64, l1: float) -> F64:
    """The slope of steepest descent (Andrew & Gao eq. 4): dF/dtheta where it exists; at zero the one-sided slope that
    leads down, or 0 where both lead up."""
    if l1 == 0:
        return gradient
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(theta != 0.0, gradient + l1 * np.sign(theta), at_zero)


def orthant_search(evaluate: Counted, start: Point, direction: F64, first_step: float, l1: float) -> Point | None:
    """The first of ever shorter steps, projected onto the orthant, that lowers F enough; None when none does.

    F = f + l1 |theta|_1 is the value of a point. The gradient of `start` is F's pseudo-gradient, that of the point
    found is f's.
    """
    orthant = np.where(start.theta != 0.0, np.sign(start.theta), np.sign(direction)) if l1 > 0 else None
    step = first_step
    for _ in range(MOST_TRIALS):
        with np.errstate(over="ignore", invalid="ignore"):  # a point out of reach has no finite value either
            theta = step * direction
            theta += start.theta
            if orthant is not None:
                theta[theta * orthant <= 0.0] = 0.0
        value, gradient = evaluate(theta)
        value += l1 * float(np.abs(theta).sum())
        promised = dot(start.gradient, theta - start.theta)  # not step * slope: some weights stop at zero
        lower = value < start.value and value <= start.value + SUFFICIENT * promised
        if lower and math.isfinite(value) and np.isfinite(gradient).all():
            return Point(step, value, promised / step, theta, gradient)
        step *= _shortening(value - start.value, step * start.slope)
        if abs(step * start.slope) <= 1e-16 * abs(start.value):  # what is left to gain drowns in rounding
            break
    return None


def _shortening(rise: float, expected: float) -> float:
    """The part to keep of a step that changed F by `rise` where its slope at the start foretold `expected` < 0: up to
    the lowest point of the parabola through both, but a tenth at least and a half at most."""
    bend = rise - expected
    if not math.isfinite(bend):
        return 0.1
    return min(max(-0.5 * expected / bend, 0.1), 0.5) if bend > 0.0 else 0.5
