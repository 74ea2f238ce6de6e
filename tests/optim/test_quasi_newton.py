"""The two-loop recursion is the BFGS matrix, whatever it starts from, and the diagonal gives steps their scale."""

from __future__ import annotations

import numpy as np
import pytest
from optim_problems import Objective, logistic, quadratic, run

from trellis.optim import LBFGS
from trellis.optim.diagonal import diagonal_metric
from trellis.optim.quasi_newton import _MANY, in_two_loops, remember, times_inverse_hessian


def pairs(seed, count, size=6):
    """Changes on one quadratic, so that s . y > 0."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    steps = rng.normal(size=(count, size))
    return tuple((s, (root @ root.T + 0.1 * np.eye(size)) @ s) for s in steps)


def bfgs_matrix(changes, first):
    """H <- (I - s y'/sy) H (I - y s'/sy) + s s'/sy (Nocedal & Wright 2006, eq. 6.17)."""
    h = first
    for s, y in changes:
        left = np.eye(len(s)) - np.outer(s, y) / (s @ y)
        h = left @ h @ left.T + np.outer(s, s) / (s @ y)
    return h


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_recursion_equals_the_matrix(count, scaled):
    for seed in range(10):
        rng, changes = np.random.default_rng(seed), pairs(seed, count)
        inverse = np.exp(rng.normal(size=6)) if scaled else None
        first = np.diag(inverse) if scaled else np.eye(6)
        if changes:
            s, y = changes[-1]
            first = first * (s @ y) / (y @ first @ y)
        vector = rng.normal(size=6)
        known = tuple(s @ y for s, y in changes)
        for curvatures in ((), known):
            q = vector.copy()
            times_inverse_hessian(q, changes, curvatures, inverse)
            np.testing.assert_allclose(q, bfgs_matrix(changes, first) @ vector, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("size", [_MANY, _MANY + 13])
def test_many_weights_are_done_in_sweeps_over_single_precision(size, scaled):
    rng = np.random.default_rng(size)
    curvature = np.exp(rng.normal(size=size))
    changes, curvatures = (), ()
    for s in rng.normal(size=(5, size)):
        changes, curvatures = remember(changes, curvatures, s, curvature * s, memory=4)
    assert all(kept.dtype == np.float32 for pair in changes for kept in pair)
    inverse = np.exp(rng.normal(size=size)) if scaled else None
    vector = rng.normal(size=size)
    found, expected = vector.copy(), vector.copy()
    times_inverse_hessian(found, changes, curvatures, inverse)
    doubles = tuple((s.astype(float), y.astype(float)) for s, y in changes)
    in_two_loops(expected, doubles, curvatures, inverse)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_what_has_no_room_in_single_precision_is_kept_in_double():
    s = np.ones(_MANY)
    (pair,), _ = remember((), (), 1e39 * s, s, memory=4)
    assert {kept.dtype for kept in pair} == {np.dtype(float)}
    assert remember((), (), s, -s, memory=4) == ((), ())


def test_pairs_without_curvature_are_not_remembered_and_old_ones_are_forgotten():
    changes, curvatures = (), ()
    for s, y in pairs(0, 5):
        changes, curvatures = remember(changes, curvatures, s, y, memory=3)
        assert remember(changes, curvatures, s, -y, memory=3) == (changes, curvatures)
    assert len(changes) == 3
    np.testing.assert_allclose(curvatures, [s @ y for s, y in changes])


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_the_diagonal_metric_makes_the_first_step_as_long_as_the_diagonal_says(power):
    """-M^-1 g is the lowest point along itself of the quadratic that has the diagonal for Hessian."""
    problem = quadratic(0, spread=4.0, rotated=False)
    gradient = problem.function(problem.start)[1]
    metric = diagonal_metric(Objective(problem), problem.start, gradient, power)
    d = np.diag(problem.hessian(problem.start))
    np.testing.assert_allclose(metric / metric[0], (d / d[0]) ** power)
    step = -gradient / metric
    assert step @ (d * step) == pytest.approx(-gradient @ step)


def test_with_the_whole_diagonal_a_quadratic_along_the_axes_is_one_step():
    problem = quadratic(0, spread=4.0, rotated=False)
    state = run(LBFGS(diagonal=True, power=1.0), Objective(problem), problem.start)
    assert (state.iteration, state.evaluations, state.products) == (1, 2, 1)
    np.testing.assert_allclose(state.theta, problem.lowest, atol=1e-9)


@pytest.mark.parametrize(("refresh", "products"), [(0, 1), (3, 4), (20, 1)])
def test_the_diagonal_is_taken_anew_as_often_as_asked_for(refresh, products):
    problem = logistic(0, size=20)
    state = run(LBFGS(diagonal=True, refresh=refresh, tol=1e-14), Objective(problem), problem.start, most=10)
    assert (state.iteration, state.products) == (10, products)


def test_the_diagonal_helps_where_weights_have_different_scales():
    problem = logistic(1, examples=200, size=30, l2=0.01, scales=10.0 ** np.linspace(-1, 1.5, 30))
    plain, scaled = (
        run(LBFGS(diagonal=diagonal, tol=1e-9), Objective(problem), problem.start) for diagonal in (False, True)
    )
    assert scaled.evaluations + scaled.products < 0.7 * plain.evaluations
