"""Block-coordinate Frank-Wolfe comes to the minimum of the hinge loss, and knows how near it is."""

from __future__ import annotations

import numpy as np
import pytest
from online_reference import make_problem

from trellis.errors import SettingError
from trellis.optim import BCFW, LBFGS, is_over

scipy_optimize = pytest.importorskip("scipy.optimize")

LENGTHS = (3, 2, 3, 1, 2)


def states(optimizer, objective, theta):
    """All states of a run."""
    state = optimizer.start(objective, theta)
    yield state
    while not is_over(state):
        state = optimizer.step(objective, state)
        yield state


def run(optimizer, objective, theta):
    *_, last = states(optimizer, objective, theta)
    return last


def minimum(problem, l2):
    """By a general method for smooth functions with constraints: theta, and xi_s >= cost(y) - theta' psi_s(y)."""
    rows, costs, owner = [], [], []
    for s in range(problem.sentences):
        gold = problem.gold(s)
        for path in problem.paths(s):
            rows.append(problem.counts(s, gold) - problem.counts(s, path))
            costs.append(sum(map(int.__ne__, gold, path)))
            owner.append(s)
    n = problem.size
    matrix = np.hstack([np.array(rows), np.eye(problem.sentences)[owner]])

    def value(x):
        return l2 / 2 * x[:n] @ x[:n] + x[n:].sum()

    def gradient(x):
        return np.concatenate([l2 * x[:n], np.ones(problem.sentences)])

    met = {"type": "ineq", "fun": lambda x: matrix @ x - costs, "jac": lambda x: matrix}
    start = np.concatenate([np.zeros(n), np.full(problem.sentences, 4.0)])
    found = scipy_optimize.minimize(
        value, start, jac=gradient, method="SLSQP", constraints=[met], options={"maxiter": 500, "ftol": 1e-12}
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize(
    ("valued", "averaged", "tol"), [(False, False, 1e-3), (False, True, 3e-3), (True, False, 1e-2), (True, True, 1e-2)]
)
def test_comes_to_the_minimum(valued, averaged, tol):
    """The gap falls as one over the number of epochs."""
    problem = make_problem(1, labels=3, lengths=LENGTHS, valued=valued)
    lowest = minimum(problem, 0.5)
    with problem.objective("hinge", l2=0.5) as objective:
        last = run(BCFW(tol=tol, epochs=4000, averaged=averaged), objective, np.zeros(problem.size))
    dual, gap = last.dual, last.gap
    assert last.epoch < 4000
    assert gap == last.value - dual <= tol * last.value
    assert dual <= lowest + 1e-6 <= last.value + 2e-6
    assert last.value == pytest.approx(lowest, rel=tol)


def test_the_objective_falls_and_the_dual_rises_to_meet_it():
    problem = make_problem(2, labels=4, lengths=(4, 3, 5, 2) * 5)
    with problem.objective("hinge", l2=0.5) as objective:
        seen = list(states(BCFW(epochs=40), objective, np.zeros(problem.size)))[1:]
        assert seen[-1].value == pytest.approx(objective.value(seen[-1].theta), rel=1e-12)
    values, duals = [state.value for state in seen], [state.dual for state in seen]
    assert values == sorted(values, reverse=True)
    assert duals == pytest.approx(sorted(duals), rel=1e-9)
    assert max(duals) <= min(values)


def test_gets_below_what_lbfgs_stops_at():
    problem = make_problem(2, labels=4, lengths=(4, 3, 5, 2) * 5)
    with problem.objective("hinge", l2=0.5) as objective:
        zero = np.zeros(problem.size)
        assert run(BCFW(epochs=300), objective, zero).value < run(LBFGS(tol=1e-5), objective, zero).value


def test_weights_to_begin_with_are_kept_until_there_are_better_ones():
    problem = make_problem(2, labels=4, lengths=(4, 3, 5, 2) * 5)
    with problem.objective("hinge", l2=0.5) as objective:
        good = run(BCFW(epochs=200), objective, np.zeros(problem.size))
        first = BCFW().step(objective, BCFW().start(objective, good.theta))
    np.testing.assert_array_equal(first.theta, good.theta)
    assert first.value == pytest.approx(good.value, rel=1e-12)


def test_needs_a_gaussian_prior_and_no_attributes_on_transitions():
    plain, arcs = make_problem(1), make_problem(1, arcs=True)
    with (
        plain.objective("hinge", l2=0.0) as objective,
        pytest.raises(SettingError, match="l2 is 0, and without a prior"),
    ):
        BCFW().start(objective, np.zeros(plain.size))
    with (
        plain.objective("hinge", l1=1.0) as objective,
        pytest.raises(SettingError, match="l1 is 1, which bcfw does not"),
    ):
        BCFW().start(objective, np.zeros(plain.size))
    with (
        arcs.objective("hinge") as objective,
        pytest.raises(SettingError, match="attributes on transitions; use lbfgs"),
    ):
        BCFW().step(objective, BCFW().start(objective, np.zeros(arcs.size)))
