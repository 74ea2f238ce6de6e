"""L-BFGS (Nocedal 1980; Liu & Nocedal 1989): a quasi-Newton step from the last m changes of theta and gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.optim.contract import Objective
from trellis.optim.line_search import Point, dot, wolfe_search

F64 = NDArray[np.float64]

_ROUNDING = 1e-10


@dataclass(frozen=True)
class LBFGSState:
    """Everything the next step depends on. `changes` are the last pairs (s, y) with s = theta' - theta and
    y = gradient' - gradient; `values` the objective after each iteration."""

    theta: F64
    value: float
    gradient: F64
    changes: tuple[tuple[F64, F64], ...] = ()
    iteration: int = 0
    evaluations: int = 0
    products: int = 0
    values: tuple[float, ...] = ()
    converged: bool = False
    stuck: bool = False

    @property
    def gradient_norm(self) -> float:
        return float(np.sqrt(dot(self.gradient, self.gradient)))


@dataclass(frozen=True)
class LBFGS:
    """Stops when the objective has fallen by less than `tol` of itself over the last `period` iterations, or when
    the gradient's norm is below `tol` of theta's."""

    memory: int = 10
    tol: float = 1e-5
    period: int = 10

    def start(self, objective: Objective, theta: F64) -> LBFGSState:
        value, gradient = objective.value_and_gradient(theta)
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            raise DataError("the objective is not finite where training starts; are there extreme feature values?")
        state = LBFGSState(theta, value, gradient, evaluations=1, values=(value,))
        return replace(state, converged=self._flat(state))

    def step(self, objective: Objective, state: LBFGSState) -> LBFGSState:
        """One iteration: direction, line search, new pair."""
        trials = 0

        def evaluate(theta: F64) -> tuple[float, F64]:
            nonlocal trials
            trials += 1
            return objective.value_and_gradient(theta)

        direction = self._direction(state)
        first = 1.0 if state.changes else 1.0 / max(1.0, state.gradient_norm)
        start = Point(0.0, state.value, dot(state.gradient, direction), state.theta, state.gradient)
        found = wolfe_search(evaluate, start, direction, first) if start.slope < 0 else None
        evaluations = state.evaluations + trials
        if found is None or not found.value < state.value:
            if abs(start.slope) <= _ROUNDING * abs(state.value):  # less to gain than rounding takes away
                return replace(state, evaluations=evaluations, stuck=True, converged=True)
            if state.changes:  # the curvature may be stale: once more from the plain gradient
                return self.step(objective, replace(state, changes=(), evaluations=evaluations))
            return replace(state, evaluations=evaluations, stuck=True, converged=self._flat(state))
        pair = (found.theta - state.theta, found.gradient - state.gradient)
        changes = state.changes
        if dot(*pair) > 1e-10 * dot(pair[1], pair[1]):
            changes = (*changes, pair)[-self.memory :]
        new = LBFGSState(
            found.theta,
            found.value,
            found.gradient,
            changes,
            state.iteration + 1,
            evaluations,
            state.products,
            (*state.values, found.value)[-self.period - 1 :],
        )
        return replace(new, converged=self._flat(new) or self._slow(new))

    def fraction_done(self, state: LBFGSState) -> float:
        """The fall of the objective over a period shrinks about geometrically: how far it is from the stopping rule,
        on a logarithmic scale."""
        if len(state.values) < 2:
            return 0.0
        fall = max((state.values[0] - state.value) / max(abs(state.value), 1e-300), 1e-300)
        return min(max(1.0 - math.log(fall / self.tol) / math.log(1.0 / self.tol), 0.0), 1.0)

    def _direction(self, state: LBFGSState) -> F64:
        """-H g by the two-loop recursion."""
        q = -state.gradient
        if not state.changes:
            return q
        scratch = np.empty_like(q)  # large temporaries would be mapped anew each time
        inner = [dot(s, y) for s, y in state.changes]
        coefficients = []
        for (s, y), sy in zip(reversed(state.changes), reversed(inner), strict=True):
            a = dot(s, q) / sy
            q -= np.multiply(y, a, out=scratch)
            coefficients.append(a)
        y = state.changes[-1][1]
        q *= inner[-1] / dot(y, y)
        for (s, y), sy, a in zip(state.changes, inner, reversed(coefficients), strict=True):
            q += np.multiply(s, a - dot(y, q) / sy, out=scratch)
        return q

    def _flat(self, state: LBFGSState) -> bool:
        return state.gradient_norm <= self.tol * max(1.0, float(np.sqrt(dot(state.theta, state.theta))))

    def _slow(self, state: LBFGSState) -> bool:
        if len(state.values) <= self.period:
            return False
        return state.values[0] - state.value <= self.tol * abs(state.value)
