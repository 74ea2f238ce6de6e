"""L-BFGS finds known optima, its state is explicit, and it says how it ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.optim import LBFGS, find_optimizer


class Objective:
    """A function with its gradient, and nothing else to call."""

    __slots__ = ("calls", "function")
    l1 = 0.0

    def __init__(self, function):
        self.function = function
        self.calls = []

    def value_and_gradient(self, theta):
        assert theta.dtype == np.float64
        theta.flags.writeable = False  # whoever changes a point in place is caught
        self.calls.append(theta.copy())
        return self.function(theta)


def run(optimizer, objective, theta, most=500):
    state = optimizer.start(objective, np.asarray(theta, float))
    while not (state.converged or state.stuck) and state.iteration < most:
        state = optimizer.step(objective, state)
    return state


def quadratic(seed, size, spread=3.0):
    """A convex quadratic and its lowest point; `spread`: powers of ten between its axes."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(size, size)))
    hessian = axes @ np.diag(10.0 ** (spread * rng.random(size) - spread / 2)) @ axes.T
    lowest = rng.normal(size=size)

    def function(theta):
        gradient = hessian @ (theta - lowest)
        return 0.5 * float((theta - lowest) @ gradient), gradient

    return function, lowest


def logistic(seed, examples=30, size=4, l2=0.5):
    """Regularised logistic regression, strictly convex."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(examples, size))

    def function(theta):
        margin = x @ theta
        p = np.exp(-np.logaddexp(0, margin))
        return float(np.logaddexp(0, -margin).sum() + l2 / 2 * theta @ theta), -x.T @ p + l2 * theta

    return function


def rosenbrock(theta):
    a, b = theta[:-1], theta[1:]
    gradient = np.zeros_like(theta)
    gradient[:-1] = -400 * a * (b - a * a) - 2 * (1 - a)
    gradient[1:] += 200 * (b - a * a)
    return float(np.sum(100 * (b - a * a) ** 2 + (1 - a) ** 2)), gradient


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 20))
def test_convex_quadratics(seed, size):
    function, lowest = quadratic(seed, size)
    state = run(LBFGS(tol=1e-9), Objective(function), np.zeros(size))
    assert state.converged
    np.testing.assert_allclose(state.theta, lowest, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1))
def test_logistic_functions_end_where_the_gradient_vanishes(seed):
    function = logistic(seed)
    state = run(LBFGS(tol=1e-8), Objective(function), np.zeros(4))
    assert state.converged
    newton = state.theta.copy()
    for _ in range(5):  # polish by Newton's method with a numerical Hessian
        hessian = np.array([(function(newton + e)[1] - function(newton - e)[1]) / 2e-5 for e in np.eye(4) * 1e-5])
        newton -= np.linalg.solve(hessian, function(newton)[1])
    np.testing.assert_allclose(state.theta, newton, atol=1e-6)


@pytest.mark.parametrize("size", [2, 10])
def test_rosenbrock(size):
    state = run(LBFGS(tol=1e-10), Objective(rosenbrock), np.tile([-1.2, 1.0], size // 2))
    assert state.converged
    np.testing.assert_allclose(state.theta, 1.0, atol=1e-6)
    assert state.evaluations < 200


def test_the_objective_never_rises():
    objective, optimizer = Objective(rosenbrock), LBFGS(tol=1e-10)
    state = optimizer.start(objective, np.array([-1.2, 1.0]))
    values = [state.value]
    while not state.converged:
        state = optimizer.step(objective, state)
        values.append(state.value)
    assert np.all(np.diff(values) < 0)


def test_a_step_depends_on_the_state_alone():
    """So a run can be stopped, stored and taken up again, to the same bits."""
    optimizer = LBFGS(memory=3)
    state = optimizer.start(Objective(rosenbrock), np.array([-1.2, 1.0, 0.5]))
    for _ in range(8):
        before = _bits(state)
        ways = [optimizer.step(Objective(rosenbrock), state) for _ in range(2)]
        ways.append(LBFGS(memory=3).step(Objective(rosenbrock), _copied(state)))
        assert _bits(state) == before
        assert len({_bits(new) for new in ways}) == 1
        state = ways[0]
    assert len(state.changes) == 3


def _bits(state):
    changes = b"".join(s.tobytes() + y.tobytes() for s, y in state.changes)
    rest = (state.value, state.iteration, state.evaluations, state.values, state.converged, state.stuck)
    return state.theta.tobytes() + state.gradient.tobytes() + changes, rest


def _copied(state):
    changes = tuple((s.copy(), y.copy()) for s, y in state.changes)
    return replace(state, theta=state.theta.copy(), gradient=state.gradient.copy(), changes=changes)


def test_evaluations_and_iterations_are_counted():
    objective, optimizer = Objective(rosenbrock), LBFGS()
    state = optimizer.start(objective, np.array([-1.2, 1.0]))
    assert (state.iteration, state.evaluations) == (0, 1)
    for k in range(1, 6):
        state = optimizer.step(objective, state)
        assert state.iteration == k
        assert state.evaluations == len(objective.calls)


class TestEnds:
    def test_at_once_where_the_gradient_is_zero(self):
        function, lowest = quadratic(0, 3)
        state = LBFGS().start(Objective(function), lowest)
        assert state.converged
        assert not state.stuck

    def test_when_the_fall_over_a_period_is_small(self):
        """Far from flat, but not getting anywhere: exp(-x) on a huge constant."""
        objective = Objective(lambda x: (float(np.exp(-x[0])) + 1e9, -np.exp(-x)))
        state = run(LBFGS(tol=1e-5, period=4), objective, [0.0])
        assert state.converged
        assert state.iteration <= 6
        assert len(state.values) == 5

    def test_stuck_when_the_gradient_lies(self):
        objective = Objective(lambda x: (float(x @ x), -2 * x - 1))
        state = run(LBFGS(), objective, [1.0])
        assert state.stuck
        assert not state.converged
        assert state.value == 1.0

    def test_where_rounding_hides_any_further_fall_without_searching_for_long(self):
        for seed in range(20):
            state = run(LBFGS(tol=1e-12), Objective(logistic(seed)), np.zeros(4))
            assert state.converged
            assert state.evaluations <= 2 * state.iteration + 25

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_an_objective_that_is_no_number_is_refused(self, value):
        with pytest.raises(DataError, match="not finite"):
            run(LBFGS(), Objective(lambda x: (value, np.full(1, value))), [1.0])

    def test_stale_curvature_is_forgotten_before_giving_up(self):
        """With a wrong memory the direction leads up; the plain gradient still works."""
        function, _ = quadratic(0, 3)
        optimizer, objective = LBFGS(), Objective(function)
        state = optimizer.start(objective, np.full(3, 5.0))
        misled = replace(state, changes=((state.gradient, -1e6 * state.gradient),))
        new = optimizer.step(objective, misled)
        assert not new.stuck
        assert new.value < state.value
        assert new.evaluations == len(objective.calls)


def test_optimisers_have_names():
    assert find_optimizer("lbfgs", 1e-3, memory=5) == LBFGS(tol=1e-3, memory=5)
    with pytest.raises(SettingError, match="optimizer 'adam' is not known; there are: auto, lbfgs"):
        find_optimizer("adam", 1e-3)
