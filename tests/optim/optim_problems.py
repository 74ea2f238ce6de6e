"""Functions to minimise with all their derivatives, an objective that counts what it is asked, and a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from trellis.optim import is_over


@dataclass(frozen=True)
class Problem:
    """`function(theta)` -> value and gradient; `hessian(theta)` -> matrix; where to start; the lowest point, if known
    in closed form."""

    function: Callable
    hessian: Callable
    start: np.ndarray
    lowest: np.ndarray | None = None

    def optimum(self):
        """Newton's method with the whole matrix, until it does not move."""
        if self.lowest is not None:
            return self.lowest
        theta = self.start.copy()
        for _ in range(30):
            value, gradient = self.function(theta)
            step = np.linalg.solve(self.hessian(theta), gradient)
            size = 1.0
            while self.function(theta - size * step)[0] > value + 1e-12 * abs(value):
                size /= 2
            theta = theta - size * step
        return theta


class Objective:
    """Counts calls, and notices who writes to its points."""

    has_curvature = True

    def __init__(self, problem, l1=0.0):
        self.problem, self.l1 = problem, l1
        self.evaluations = self.products = 0

    def value_and_gradient(self, theta):
        assert theta.dtype == np.float64
        theta.flags.writeable = False
        self.evaluations += 1
        return self.problem.function(theta)

    def descent(self):
        return None

    def hessian_vector(self, theta, direction):
        self.products += 1
        return self.problem.hessian(theta) @ direction

    def hessian_diagonal(self, theta):
        self.products += 1
        return np.maximum(np.abs(np.diag(self.problem.hessian(theta))), 1e-3)


def states(optimizer, objective, theta, most=1000):
    """All states of a run."""
    state = optimizer.start(objective, np.array(theta, float))
    yield state
    while not is_over(state) and state.iteration < most:
        state = optimizer.step(objective, state)
        yield state


def run(optimizer, objective, theta, most=1000):
    *_, last = states(optimizer, objective, theta, most)
    return last


def bits(value):
    """Everything in a state, to compare."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return type(value).__name__, *((each.name, bits(getattr(value, each.name))) for each in fields(value))
    return tuple(map(bits, value)) if isinstance(value, tuple) else repr(value)


def rebuilt(value):
    """As a checkpoint gives it back: another object with equal fields."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if is_dataclass(value):
        return type(value)(**{each.name: rebuilt(getattr(value, each.name)) for each in fields(value)})
    return tuple(map(rebuilt, value)) if isinstance(value, tuple) else value


def quadratic(seed, size=8, spread=2.0, rotated=True):
    """Convex; `spread`: powers of ten between its axes, which are those of the weights unless it is rotated."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0] if rotated else np.eye(size)
    hessian = axes @ np.diag(10.0 ** (spread * np.linspace(-0.5, 0.5, size))) @ axes.T
    lowest = rng.normal(size=size)

    def function(theta):
        gradient = hessian @ (theta - lowest)
        return 0.5 * float((theta - lowest) @ gradient), gradient

    return Problem(function, lambda theta: hessian, rng.normal(size=size) * 3, lowest)


def logistic(seed, examples=40, size=6, l2=0.5, scales=None):
    """Regularised logistic regression; `scales` of the columns."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(examples, size)) * (1.0 if scales is None else scales)

    def function(theta):
        margin = x @ theta
        p = np.exp(-np.logaddexp(0, margin))
        return float(np.logaddexp(0, -margin).sum() + l2 / 2 * theta @ theta), -x.T @ p + l2 * theta

    def hessian(theta):
        margin = x @ theta
        weight = np.exp(-np.logaddexp(0, margin) - np.logaddexp(0, -margin))
        return x.T @ (weight[:, None] * x) + l2 * np.eye(size)

    return Problem(function, hessian, np.zeros(size))


def rosenbrock(size=2):
    """A curved valley; its Hessian is not positive everywhere. (From four weights on it has a second valley.)"""

    def function(theta):
        a, b = theta[:-1], theta[1:]
        gradient = np.zeros_like(theta)
        gradient[:-1] = -400 * a * (b - a * a) - 2 * (1 - a)
        gradient[1:] += 200 * (b - a * a)
        return float(np.sum(100 * (b - a * a) ** 2 + (1 - a) ** 2)), gradient

    def hessian(theta):
        a, b = theta[:-1], theta[1:]
        out = np.diag(np.append(1200 * a * a - 400 * b + 2, 0.0) + np.append(0.0, np.full(size - 1, 200.0)))
        return out + np.diag(-400 * a, 1) + np.diag(-400 * a, -1)

    return Problem(function, hessian, np.tile([-1.2, 1.0], size // 2), np.ones(size))


def walled(pull=(3.0, 50.0, 1.5)):
    """sum of -log(1 - theta) - pull theta: no number beyond 1, where every method looks at first."""
    pull = np.array(pull)

    def function(theta):
        if np.any(theta >= 1):
            return np.nan, np.full(len(theta), np.nan)
        return float(np.sum(-np.log1p(-theta) - pull * theta)), 1 / (1 - theta) - pull

    return Problem(function, lambda theta: np.diag((1 - theta) ** -2.0), np.zeros(len(pull)), 1 - 1 / pull)
