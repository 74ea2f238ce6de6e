"""OWL-QN finds the solution of slow methods for L1, zeros included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optim_problems import Objective, Problem, logistic, quadratic, rosenbrock, run, states

from trellis.optim import LBFGS, OWLQN
from trellis.optim.line_search import Counted, Point
from trellis.optim.owlqn import orthant_search, pseudo_gradient


def least_squares(seed, rows=30, size=12, l2=0.0):
    """1/2 |X theta - y|^2 + l2/2 |theta|^2 where few columns matter and neighbours are alike."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, size))
    x[:, 1:] += 0.5 * x[:, :-1]
    y = x[:, ::4] @ rng.normal(size=len(range(0, size, 4))) * 2 + rng.normal(size=rows)

    def function(theta):
        rest = x @ theta - y
        return 0.5 * float(rest @ rest + l2 * theta @ theta), x.T @ rest + l2 * theta

    return Problem(function, lambda theta: x.T @ x + l2 * np.eye(size), np.zeros(size)), x, y


def coordinate_descent(x, y, l1, l2):
    """theta_j <- S(x_j . (y - X theta + x_j theta_j), l1) / (|x_j|^2 + l2), S soft threshold, until nothing moves."""
    theta = np.zeros(x.shape[1])
    for _ in range(20_000):
        before = theta.copy()
        for j in range(len(theta)):
            theta[j] = 0.0
            inner = x[:, j] @ (y - x @ theta)
            theta[j] = np.sign(inner) * max(abs(inner) - l1, 0.0) / (x[:, j] @ x[:, j] + l2)
        if np.abs(theta - before).max() < 1e-14:
            return theta
    raise AssertionError("the slow method did not get there")


def proximal_gradient(problem, l1, steps=30_000):
    theta = problem.start.copy()
    rate = 1.0 / np.linalg.eigvalsh(problem.hessian(theta)).max()  # a logistic Hessian is largest at zero
    for _ in range(steps):
        theta = theta - rate * problem.function(theta)[1]
        theta = np.sign(theta) * np.maximum(np.abs(theta) - rate * l1, 0.0)
    return theta


def whole(problem, theta, l1):
    return problem.function(theta)[0] + l1 * np.abs(theta).sum()


@pytest.mark.parametrize("memory", [2, 20])
@pytest.mark.parametrize("l2", [0.0, 1.0])
@pytest.mark.parametrize("l1", [0.5, 5.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_lasso_and_elastic_net(seed, l1, l2, memory):
    problem, x, y = least_squares(seed, l2=l2)
    expected = coordinate_descent(x, y, l1, l2)
    start = np.random.default_rng(seed).normal(size=12) * (seed % 2)
    state = run(OWLQN(memory=memory, tol=1e-11), Objective(problem, l1), start)
    assert state.converged
    np.testing.assert_allclose(state.theta, expected, atol=1e-6)
    np.testing.assert_array_equal(state.theta == 0.0, expected == 0.0)
    assert state.value == pytest.approx(whole(problem, expected, l1), rel=1e-12)


def test_more_weights_than_examples():
    problem, x, y = least_squares(0, rows=20, size=60)
    expected = coordinate_descent(x, y, 3.0, 0.0)
    state = run(OWLQN(tol=1e-10), Objective(problem, 3.0), problem.start)
    np.testing.assert_allclose(state.theta, expected, atol=1e-5)
    np.testing.assert_array_equal(state.theta == 0.0, expected == 0.0)


@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_logistic_regression(l2):
    problem = logistic(0, examples=60, size=10, l2=l2)
    expected = proximal_gradient(problem, 4.0)
    assert 0 < np.count_nonzero(expected) < 10
    state = run(OWLQN(tol=1e-10), Objective(problem, 4.0), problem.start)
    np.testing.assert_allclose(state.theta, expected, atol=1e-6)
    np.testing.assert_array_equal(state.theta == 0.0, expected == 0.0)


def test_where_l1_wins_everywhere_zero_is_the_end_at_once():
    problem, _, _ = least_squares(0)
    l1 = 1.01 * np.abs(problem.function(problem.start)[1]).max()
    state = OWLQN().start(Objective(problem, l1), problem.start)
    assert state.converged
    assert state.gradient_norm == 0.0


def test_without_l1_it_is_a_way_to_minimise_f():
    for problem in (quadratic(0), rosenbrock()):
        state = run(OWLQN(tol=1e-10), Objective(problem), problem.start)
        np.testing.assert_allclose(state.theta, problem.lowest, atol=1e-6)


def test_weights_cross_zero_in_two_steps_at_least():
    """Within a step no sign changes."""
    problem, _, _ = least_squares(1)
    start = -np.sign(np.linalg.lstsq(problem.hessian(None), -problem.function(np.zeros(12))[1], rcond=None)[0]) * 3
    before = None
    for state in states(OWLQN(tol=1e-9), Objective(problem, 1.0), start):
        assert before is None or np.all(np.sign(state.theta) * np.sign(before) >= 0)
        before = state.theta


@given(st.integers(0, 2**32 - 1))
def test_the_pseudo_gradient_is_the_slope_of_steepest_descent(seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=9) * rng.integers(0, 2, 9)
    gradient, l1 = rng.normal(size=9), 0.7
    for slope, at, g in zip(pseudo_gradient(theta, gradient, l1), theta, gradient, strict=True):
        right, left = g + l1 * (1 if at >= 0 else -1), g + l1 * (1 if at > 0 else -1)
        expected = right if right < 0 else left if left > 0 else right if at else 0.0
        assert slope == pytest.approx(expected)


def test_value_and_norm_are_those_of_the_whole():
    problem, _, _ = least_squares(2)
    l1, last = 2.0, np.inf
    for state in states(OWLQN(), Objective(problem, l1), np.ones(12)):
        assert state.value == pytest.approx(whole(problem, state.theta, l1), rel=1e-14)
        slopes = pseudo_gradient(state.theta, problem.function(state.theta)[1], l1)
        assert state.gradient_norm == pytest.approx(np.linalg.norm(slopes))
        assert state.value < last
        last = state.value


def test_a_search_gives_up_where_nothing_falls():
    liar = Objective(Problem(lambda x: (float(x @ x), -2 * x - 1), None, None), l1=0.1)
    start = Point(0.0, 1.1, -3.0, np.ones(1), np.full(1, -3.0))
    assert orthant_search(Counted(liar), start, np.ones(1), 1.0, 0.1) is None


def test_takes_about_as_many_evaluations_as_lbfgs_where_l1_does_little():
    problem = logistic(0, examples=200, size=30, l2=0.01)
    ours = run(OWLQN(), Objective(problem, 1e-6), problem.start)
    theirs = run(LBFGS(memory=20), Objective(problem), problem.start)
    assert ours.evaluations <= 1.5 * theirs.evaluations
