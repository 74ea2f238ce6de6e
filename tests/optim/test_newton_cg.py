"""Newton-CG: how the equation is solved, what the trust region does, and what preconditioning is good for."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optim_problems import Objective, Problem, logistic, quadratic, rosenbrock, run, states

from trellis.optim import NewtonCG
from trellis.optim.truncated_cg import EDGE, EXHAUSTED, NOT_POSITIVE, SOLVED, newton_step


def model(seed, size=8, lowest=0.1):
    """A Hessian with eigenvalues from `lowest` on, a gradient, and a diagonal metric."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0]
    hessian = axes @ np.diag(np.linspace(lowest, 5.0, size)) @ axes.T
    return (hessian + hessian.T) / 2, rng.normal(size=size), np.exp(rng.normal(size=size))


def predicted(hessian, gradient, s):
    return -(gradient @ s + 0.5 * s @ hessian @ s)


def size(s, metric):
    return math.sqrt(s @ s if metric is None else s @ (metric * s))


class TestTheEquation:
    @pytest.mark.parametrize("measured", [False, True])
    @given(seed=st.integers(0, 2**32 - 1))
    def test_is_solved(self, measured, seed):
        hessian, gradient, metric = model(seed)
        metric = metric if measured else None
        found = newton_step(hessian.__matmul__, gradient, 1e-12, 50, metric=metric)
        assert found.end == SOLVED
        np.testing.assert_allclose(found.step, np.linalg.solve(hessian, -gradient), atol=1e-8)
        assert found.predicted == pytest.approx(predicted(hessian, gradient, found.step))
        assert found.length == pytest.approx(size(found.step, metric))

    def test_is_solved_no_better_than_asked_for(self):
        hessian, gradient, _ = model(0, size=40)
        products = []
        for accuracy in (0.5, 0.1, 0.01):
            found = newton_step(hessian.__matmul__, gradient, accuracy, 100)
            assert np.linalg.norm(hessian @ found.step + gradient) <= accuracy * np.linalg.norm(gradient)
            products.append(found.products)
        assert products[0] < products[1] < products[2] < 40

    def test_is_left_where_what_is_missing_is_negligible(self):
        hessian, gradient, _ = model(0, size=40)
        whole = newton_step(hessian.__matmul__, gradient, 1e-12, 100)
        enough = newton_step(hessian.__matmul__, gradient, 1e-12, 100, negligible=1e-3 * whole.predicted)
        assert enough.end == SOLVED
        assert enough.products < whole.products
        assert enough.predicted >= (1 - 1e-3) * whole.predicted

    def test_costs_no_more_products_than_allowed(self):
        hessian, gradient, _ = model(0)
        found = newton_step(hessian.__matmul__, gradient, 1e-12, 3)
        assert (found.end, found.products) == (EXHAUSTED, 3)
        assert found.predicted == pytest.approx(predicted(hessian, gradient, found.step))

    @pytest.mark.parametrize("measured", [False, True])
    @given(seed=st.integers(0, 2**32 - 1), radius=st.floats(1e-3, 0.3))
    def test_ends_at_the_edge_of_the_trust_region(self, measured, seed, radius):
        hessian, gradient, metric = model(seed)
        metric = metric if measured else None
        found = newton_step(hessian.__matmul__, gradient, 1e-12, 50, radius, metric)
        if found.end == SOLVED:
            assert found.length <= radius
            return
        assert found.end == EDGE
        assert size(found.step, metric) == pytest.approx(radius)
        assert found.predicted == pytest.approx(predicted(hessian, gradient, found.step))
        down = -gradient if metric is None else -gradient / metric
        cauchy = down * radius / size(down, metric)
        assert found.predicted >= predicted(hessian, gradient, cauchy) - 1e-12

    @given(seed=st.integers(0, 2**32 - 1))
    @example(seed=7993572)
    def test_follows_negative_curvature_to_the_edge(self, seed):
        """Unless a direction of hardly any curvature leads there before."""
        hessian, gradient, metric = model(seed, lowest=-4.0)
        found = newton_step(hessian.__matmul__, gradient, 1e-12, 50, 1000.0, metric)
        assert found.end in (NOT_POSITIVE, EDGE)
        assert size(found.step, metric) == pytest.approx(1000.0)
        assert found.predicted == pytest.approx(predicted(hessian, gradient, found.step))

    @given(seed=st.integers(0, 2**32 - 1))
    def test_without_an_edge_negative_curvature_ends_it(self, seed):
        hessian, gradient, _ = model(seed, lowest=-4.0)
        found = newton_step(hessian.__matmul__, gradient, 1e-12, 50)
        assert found.end == NOT_POSITIVE
        assert found.step @ gradient < 0

    def test_negative_curvature_at_once_leaves_the_gradient(self):
        found = newton_step(lambda d: -d, np.array([3.0, 4.0]), 0.1, 50)
        assert (found.end, found.products) == (NOT_POSITIVE, 1)
        np.testing.assert_array_equal(found.step, [-3.0, -4.0])


class TestTheOuterLoop:
    @pytest.mark.parametrize("globalisation", ["trust-region", "line-search"])
    @pytest.mark.parametrize("preconditioned", [False, True])
    def test_a_quadratic_is_one_step(self, globalisation, preconditioned):
        axes = quadratic(0, spread=1.0)
        steep = Problem(
            lambda theta: tuple(
                10 * part for part in axes.function(theta)
            ),  # so that |g| > |s|: the region is no limit
            lambda theta: 10 * axes.hessian(theta),
            axes.start,
        )
        optimizer = NewtonCG(globalisation=globalisation, preconditioned=preconditioned, accuracy=1e-12, tol=1e-9)
        state = run(optimizer, Objective(steep), steep.start)
        assert state.converged
        assert (state.iteration, state.evaluations) == (1, 2)
        np.testing.assert_allclose(state.theta, axes.lowest, atol=1e-7)

    def test_convergence_is_superlinear(self):
        problem = logistic(0, examples=100, size=20, l2=0.1)
        norms = [state.gradient_norm for state in states(NewtonCG(tol=1e-14), Objective(problem), problem.start)]
        assert len(norms) < 15
        ratios = np.array(norms[1:]) / norms[:-1]
        assert ratios[-2] < 0.1 * ratios[0]

    def test_a_rejected_trial_only_shrinks_the_region(self):
        """On a steep wall the model promises too much."""
        wall = Problem(
            lambda x: (float(np.sum(x**4 - x)), 4 * x**3 - 1), lambda x: 1e-3 * np.diag(x**2), np.array([2.0, 1.0])
        )
        objective, optimizer = Objective(wall), NewtonCG(preconditioned=True)
        state = optimizer.start(objective, wall.start)
        first = optimizer.step(objective, state)
        assert first.theta is state.theta
        assert (first.iteration, first.evaluations, first.value) == (1, 2, state.value)
        assert (first.converged, first.stuck) == (False, False)
        diagonals = []
        objective.hessian_diagonal = diagonals.append
        second = optimizer.step(objective, first)
        assert second.radius < first.radius
        assert diagonals == []  # it is known at this point

    def test_a_rejected_trial_promises_a_smaller_region_until_one_is_accepted(self):
        problem = rosenbrock()
        radii, moved = [], []
        for state in states(NewtonCG(), Objective(problem), problem.start, most=12):
            radii.append(state.radius)
            moved.append(state.theta)
        for before, after, a, b in zip(radii[1:], radii[2:], moved[1:], moved[2:], strict=False):
            assert after <= 4.0 * before
            if a is b:
                assert after <= 0.5 * before

    def test_escapes_where_the_curvature_is_negative(self):
        """cos has a maximum near the start."""
        hill = Problem(lambda x: (float(np.cos(x).sum()), -np.sin(x)), lambda x: -np.diag(np.cos(x)), np.full(2, 0.1))
        for globalisation in ("trust-region", "line-search"):
            state = run(NewtonCG(globalisation=globalisation, tol=1e-9), Objective(hill), hill.start)
            assert state.converged
            assert state.value == pytest.approx(-2.0)

    @pytest.mark.parametrize("globalisation", ["trust-region", "line-search"])
    def test_preconditioning_saves_products_where_weights_have_different_scales(self, globalisation):
        problem = logistic(1, examples=200, size=30, l2=0.01, scales=10.0 ** np.linspace(-1, 1.5, 30))
        products = {}
        for power in (None, 0.5, 1.0):
            more = {} if power is None else {"preconditioned": True, "power": power}
            state = run(NewtonCG(globalisation=globalisation, tol=1e-9, **more), Objective(problem), problem.start)
            assert state.converged
            products[power] = state.products
        assert products[1.0] < products[0.5] < products[None]

    def test_the_last_step_is_not_solved_better_than_needed(self):
        problem = logistic(2, examples=80, size=30, l2=0.01, scales=10.0 ** np.linspace(-1, 1, 30))
        lowest = problem.function(problem.optimum())[0]
        state = run(NewtonCG(tol=1e-4), Objective(problem), problem.start)
        assert state.value - lowest <= 1e-4 * lowest
        with mock.patch("trellis.optim.newton_cg._NEGLIGIBLE", 0.0):
            exact = run(NewtonCG(tol=1e-4), Objective(problem), problem.start)
        assert state.products < exact.products
