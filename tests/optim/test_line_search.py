"""The line search ends at the strong Wolfe conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trellis.optim.line_search import CURVATURE, MOST_TRIALS, SUFFICIENT, Point, wolfe_search
from trellis.optim.vectors import dot


def search(function, theta, direction, first_step=1.0):
    """The point found, the start, and the steps that were tried."""
    theta, direction = np.asarray(theta, float), np.asarray(direction, float)
    steps = []

    def evaluate(at):
        steps.append(float(((at - theta) / direction)[0]))
        return function(at)

    value, gradient = function(theta)
    start = Point(0.0, value, dot(gradient, direction), theta, gradient)
    return wolfe_search(evaluate, start, direction, first_step), start, steps


def has_strong_wolfe(found, start):
    decrease = found.value <= start.value + SUFFICIENT * found.step * start.slope
    return decrease and abs(found.slope) <= CURVATURE * abs(start.slope)


def make_function(seed, size, wiggle):
    """Bounded below and smooth: a quadratic, log cosh, and waves."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    hessian = root @ root.T * np.exp(rng.normal())
    centre, rate, phase = rng.normal(size=size) * 3, np.exp(rng.normal(size=size)), rng.normal(size=size)

    def function(theta):
        d = theta - centre
        value = 0.5 * d @ hessian @ d + np.sum(np.logaddexp(rate * d, -rate * d)) + wiggle * np.sum(np.sin(d + phase))
        return float(value), hessian @ d + rate * np.tanh(rate * d) + wiggle * np.cos(d + phase)

    return function


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("wiggle", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("size", [1, 5])
def test_ends_at_a_strong_wolfe_point(size, wiggle, first):
    for seed in range(50):
        function = make_function(seed, size, wiggle)
        theta = np.random.default_rng(seed + 1000).normal(size=size)
        check_search(function, theta, -function(theta)[1], first)


def check_search(function, theta, direction, first):
    found, start, steps = search(function, theta, direction, first)
    assert found is not None
    assert has_strong_wolfe(found, start)
    assert len(steps) <= MOST_TRIALS
    value, gradient = function(theta + found.step * direction)
    assert found.value == value
    np.testing.assert_array_equal(found.gradient, gradient)
    np.testing.assert_array_equal(found.theta, theta + found.step * direction)


def test_a_first_step_that_is_good_enough_is_the_only_one():
    found, _, steps = search(lambda x: (float(x @ x), 2 * x), [1.0], [-1.0])
    assert (found.step, found.value, len(steps)) == (1.0, 0.0, 1)


def test_goes_further_while_it_still_goes_down():
    found, start, _ = search(lambda x: (float((x[0] - 1000) ** 2), 2 * (x - 1000)), [0.0], [1.0])
    assert found.step >= 50
    assert has_strong_wolfe(found, start)


def test_comes_back_from_where_the_function_is_not_finite():
    def barrier(x):
        if x[0] >= 1:
            return math.nan, np.array([math.nan])
        return float(-np.log1p(-x[0]) - 3 * x[0]), 1 / (1 - x) - 3

    found, start, _ = search(barrier, [0.0], [1.0], first_step=8.0)
    assert 0 < found.step < 1
    assert has_strong_wolfe(found, start)


def test_without_a_bottom_the_best_point_so_far_is_returned():
    found, start, steps = search(lambda x: (float(-x[0]), np.array([-1.0])), [0.0], [1.0])
    assert len(steps) == MOST_TRIALS
    assert found.step == max(steps)
    assert found.value < start.value


def test_none_when_nothing_decreases():
    """The gradient lies: the function rises in every direction."""
    found, _, steps = search(lambda x: (float(abs(x[0])), np.array([-1.0])), [0.0], [1.0])
    assert found is None
    assert len(steps) <= MOST_TRIALS


@pytest.mark.parametrize("slope", [1e160, 1e300])
def test_an_enormous_slope_is_survived(slope):
    """Nothing may be divided by zero, and nothing that is no number may be accepted."""
    found, start, _ = search(
        lambda x: (float(slope * abs(x[0] - 1e-3)), slope * np.sign(x - 1e-3)), [0.0], [slope], first_step=1.0 / slope
    )
    assert found is None or (math.isfinite(found.value) and found.value < start.value)


@pytest.mark.parametrize("curvature", [0.1, 0.5])
def test_as_little_slope_is_left_as_asked_for(curvature):
    for seed in range(30):
        function = make_function(seed, 4, 1.0)
        theta = np.random.default_rng(seed).normal(size=4)
        value, gradient = function(theta)
        start = Point(0.0, value, -dot(gradient, gradient), theta, gradient)
        found = wolfe_search(function, start, -gradient, 1.0, curvature)
        assert abs(found.slope) <= curvature * abs(start.slope)
        assert has_strong_wolfe(found, start)


@pytest.mark.parametrize("nonsense", [math.nan, math.inf, -math.inf])
def test_a_point_whose_gradient_is_no_number_is_not_accepted(nonsense):
    def function(x):
        return (float(-x[0]), np.array([-1.0])) if x[0] < 1 else (-1e3, np.array([nonsense]))

    found, start, _ = search(function, [0.0], [1.0], first_step=3.0)
    assert start.value > found.value > -1.0
    assert np.isfinite(found.gradient).all()


@pytest.mark.parametrize("edge", [1.0, 0.3, 1.0 + 1e-15])
@pytest.mark.parametrize("first", [1.0, 0.5, 1e-3])
def test_ends_where_the_function_falls_up_to_an_edge(edge, first):
    """Infinite beyond it: what is left between the last two trials becomes too narrow for a third."""
    found, start, steps = search(
        lambda x: (float(-x[0]), np.array([-1.0])) if x[0] <= edge else (math.inf, np.array([math.nan])),
        [0.0], [1.0], first,
    )  # fmt: skip
    assert start.value > found.value >= -edge
    assert len(set(steps)) == len(steps) <= MOST_TRIALS
