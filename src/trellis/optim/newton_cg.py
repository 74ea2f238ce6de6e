"""Newton-CG: Newton steps from Hessian-vector products alone, kept in bounds by a trust region (Lin, Weng & Keerthi
2008; Tsuboi et al. 2011 for CRFs) or by a line search."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.diagonal import diagonal_metric
from trellis.optim.line_search import Counted, Point, wolfe_search
from trellis.optim.settings import check_settings, setting
from trellis.optim.stopping import ROUNDING, evaluate_start, fraction_done, is_flat, is_slow, latest
from trellis.optim.truncated_cg import NOT_POSITIVE, SOLVED, NewtonStep, newton_step
from trellis.optim.vectors import dot, norm

F64 = NDArray[np.float64]

TRUST_REGION, LINE_SEARCH = "trust-region", "line-search"

# Lin, Weng & Keerthi (2008): eta_0..2 judge the fall of f by the fall predicted, sigma_1..3 change the radius
_ACCEPTED, _POOR, _GOOD = 1e-4, 0.25, 0.75
_SMALLEST, _SMALLER, _LARGEST = 0.25, 0.5, 4.0

_NEGLIGIBLE = 0.1  # of tol: what CG may leave of the predicted fall, however exactly xi wants the equation solved


@dataclass(frozen=True)
class NewtonCGState:
    """Everything the next step depends on. `radius` is the trust region's, None before the first step; `metric` the
    preconditioner at theta, if a rejected step has already asked for it; `values` the objective after each step
    that was accepted."""

    theta: F64
    value: float
    gradient: F64
    first_norm: float
    radius: float | None = None
    metric: F64 | None = None
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
class NewtonCG:
    """Stops once a Newton step that no trust region cut short was predicted to lower the objective by less than `tol`
    of itself. L-BFGS stops about that near to the optimum by its own rules, which hold here as well; but they look back
    on a period, and Newton steps are few.

    The equation H s = -g is solved to xi = min(accuracy, sqrt(|g| / |g0|)) of the gradient's norm: roughly while the
    way is long and better and better later, so that convergence is superlinear (Nocedal & Wright 2006, theorem 7.2).
    `max_products` limits the Hessian-vector products of one step. `preconditioned` measures steps by the Hessian's
    diagonal to the power `power`: about a tenth fewer products on a chunker that SGD had begun, a third more from zero.
    `cache` is what the objective is asked to keep between products: solved lattices of so many sentences, or of all.
    `hvp`: products from solved lattices, or with "ad" by differentiating the forward-backward pass (give cache=0).
    """

    globalisation: str = setting(TRUST_REGION, choices=(TRUST_REGION, LINE_SEARCH))
    preconditioned: bool = setting(False)
    power: float = setting(0.5, above=0.0, most=1.0)
    accuracy: float = setting(0.1, above=0.0, below=1.0)
    max_products: int = setting(250, least=1)
    cache: int | str = setting("all", least=0, choices=("all",))
    hvp: str = setting("kept", choices=("kept", "ad"))
    tol: float = setting(1e-5, above=0.0, below=1.0)
    period: int = setting(10, least=1)
    gradient_tol: float | None = setting(None, least=0.0)

    def __post_init__(self) -> None:
        check_settings(self)

    def start(self, objective: Objective, theta: F64) -> NewtonCGState:
        value, gradient = evaluate_start(objective, theta)
        flat = is_flat(theta, gradient, self.tol, self.gradient_tol)
        return NewtonCGState(theta, value, gradient, norm(gradient), evaluations=1, values=(value,), converged=flat)

    def step(self, objective: Objective, state: NewtonCGState) -> NewtonCGState:
        """One iteration: a Newton step, and its trial or the search along it. A trial that is rejected only makes the
        trust region smaller."""
        if not 0.0 < state.gradient_norm < math.inf:  # nowhere to go, or too steep to compute with
            return replace(state, stuck=True, converged=self._flat(state))
        if self.preconditioned and state.metric is None:
            metric = diagonal_metric(objective, state.theta, state.gradient, self.power)
            state = replace(state, metric=metric, products=state.products + 1)
        radius = _first_radius(state) if state.radius is None else state.radius
        xi = min(self.accuracy, math.sqrt(state.gradient_norm / state.first_norm))
        newton = newton_step(
            lambda direction: objective.hessian_vector(state.theta, direction),
            state.gradient,
            xi,
            self.max_products,
            radius if self.globalisation == TRUST_REGION else math.inf,
            state.metric,
            _NEGLIGIBLE * self.tol * abs(state.value),
        )
        state = replace(state, products=state.products + newton.products)
        if not newton.predicted > 0.0:
            return replace(state, stuck=True, converged=self._flat(state))
        if self.globalisation == LINE_SEARCH:
            return self._search(objective, state, newton)
        return self._try(objective, state, newton, radius)

    def fraction_done(self, state: NewtonCGState) -> float:
        """As for L-BFGS, with the last step in place of a period."""
        return fraction_done(state.values[-2:], self.tol)

    def usual_work(self, objective: Objective) -> float:
        return 1.6  # with lattices kept; chunking 1.7 (l2 = 2), Spanish entities 1.25 (l2 = 1)

    @property
    def vectors(self) -> int:
        return 12

    def _try(self, objective: Objective, state: NewtonCGState, newton: NewtonStep, radius: float) -> NewtonCGState:
        theta = state.theta + newton.step
        value, gradient = objective.value_and_gradient(theta)
        finite = math.isfinite(value) and bool(np.isfinite(gradient).all())
        fall = state.value - value if finite else -math.inf
        radius = _next_radius(radius, newton, fall, dot(state.gradient, newton.step))
        evaluations = state.evaluations + 1
        if fall > 0.0 and fall > _ACCEPTED * newton.predicted:
            slope = dot(gradient, newton.step)
            state = replace(state, radius=radius, evaluations=evaluations)
            return self._moved(state, newton, Point(1.0, value, slope, theta, gradient))
        state = replace(state, radius=radius, evaluations=evaluations, iteration=state.iteration + 1)
        if newton.predicted > ROUNDING * abs(state.value):
            return state
        return replace(state, stuck=True, converged=newton.end == SOLVED or self._flat(state))

    def _search(self, objective: Objective, state: NewtonCGState, newton: NewtonStep) -> NewtonCGState:
        start = Point(0.0, state.value, dot(state.gradient, newton.step), state.theta, state.gradient)
        unscaled = newton.end == NOT_POSITIVE and newton.products == 1 and state.metric is None
        first = 1.0 / max(1.0, state.gradient_norm) if unscaled else 1.0
        evaluate = Counted(objective)
        found = wolfe_search(evaluate, start, newton.step, first)
        state = replace(state, evaluations=state.evaluations + evaluate.count)
        if found is not None and found.value < state.value:
            return self._moved(state, newton, found)
        rounded = abs(start.slope) <= ROUNDING * abs(state.value)
        return replace(state, stuck=True, converged=rounded or self._flat(state))

    def _moved(self, state: NewtonCGState, newton: NewtonStep, to: Point) -> NewtonCGState:
        new = replace(
            state,
            theta=to.theta,
            value=to.value,
            gradient=to.gradient,
            metric=None,
            iteration=state.iteration + 1,
            values=latest(state.values, to.value, self.period),
        )
        little = newton.end == SOLVED and newton.predicted <= self.tol * abs(new.value)
        return replace(new, converged=little or self._flat(new) or is_slow(new.values, self.period, self.tol))

    def _flat(self, state: NewtonCGState) -> bool:
        return is_flat(state.theta, state.gradient, self.tol, self.gradient_tol)


def _first_radius(state: NewtonCGState) -> float:
    """|g|, or with a preconditioner |M^-1 g|_M: as far as the gradient itself would go."""
    gradient = state.gradient
    return norm(gradient) if state.metric is None else math.sqrt(dot(gradient / state.metric, gradient))


def _next_radius(radius: float, newton: NewtonStep, fall: float, slope: float) -> float:
    """Up to where along s the parabola through f(theta), its slope there and f(theta + s) is lowest, within bounds that
    depend on how well the model foretold the fall (Lin, Weng & Keerthi 2008, after Lin & More 1999)."""
    bend = -fall - slope  # f(theta + s) - f(theta) - g.s
    lowest = max(-0.5 * slope / bend, _SMALLEST) if bend > 0.0 else _LARGEST
    ratio = fall / newton.predicted
    if ratio <= _POOR:
        bounds = _SMALLEST * min(newton.length, radius), _SMALLER * radius
    elif ratio < _GOOD:
        bounds = _SMALLEST * radius, _LARGEST * radius
    else:
        bounds = radius, _LARGEST * radius
    return min(max(lowest * newton.length, bounds[0]), bounds[1])
