"""Exponentiated gradient: the dual is a bound that rises, the gap says how far it is, and it ends at the optimum."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from eg_reference import Dual
from online_reference import make_problem
from optim_problems import bits, rebuilt, run, states

from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.objective import L2, Hyperbolic, Priors
from trellis.optim import EG, LBFGS, find_optimizer


@pytest.fixture(scope="module")
def problem():
    return make_problem(5, labels=3, lengths=[3, 4, 0, 1, 2] * 5)


@pytest.fixture(scope="module")
def seen(problem):
    """All states of a run."""
    with problem.objective(l2=0.5) as objective:
        return list(states(EG(tol=1e-11, epochs=400), objective, np.zeros(problem.size)))


def test_the_dual_never_falls(seen):
    duals = [state.dual for state in seen[1:]]
    assert len(duals) > 20
    assert min(np.diff(duals)) >= -1e-10
    assert all(state.numbers[1] == 0 for state in seen[1:])  # no sentence stays as it was


def test_dual_value_and_gap_are_those_of_whole_paths(problem, seen):
    reference = Dual(problem, 0.5)
    for state in (*seen[1:4], seen[11], seen[-1]):
        dual, theta = reference.value(reference.at(*state.stores[:2]))
        assert state.dual == pytest.approx(dual, rel=1e-10)
        np.testing.assert_allclose(state.theta, theta, atol=1e-10)
        assert state.value == pytest.approx(reference.primal(theta), rel=1e-10)
        assert state.gap == pytest.approx(reference.primal(theta) - dual, abs=1e-9)
        assert state.gap >= -1e-9


def test_it_ends_at_the_optimum(problem, seen):
    last = seen[-1]
    assert last.converged
    assert last.gap <= 1e-11 * last.value
    assert last.epoch < 400
    with problem.objective(l2=0.5) as objective:
        best = run(LBFGS(tol=1e-13, gradient_tol=1e-9), objective, np.zeros(problem.size))
    assert last.value == pytest.approx(best.value, rel=1e-9)
    np.testing.assert_allclose(last.theta, best.theta, atol=1e-4)


def test_weights_are_made_anew_from_the_potentials_now_and_then(problem, seen):
    """Which changes nothing but roundings, and gives the same bits when a run is taken up again there."""
    spoilt = replace(seen[10], theta=seen[10].theta + 1.0, dual=seen[10].dual - 3.0)
    with problem.objective(l2=0.5) as objective:
        after = [EG(tol=1e-11, epochs=400).step(objective, rebuilt(state)) for state in (seen[10], spoilt)]
    assert bits(after[0]) == bits(after[1]) == bits(seen[11])


def test_it_may_begin_near_the_optimum(problem, seen):
    optimum = seen[-1]
    with problem.objective(l2=0.5) as objective:
        first = EG().step(objective, EG().start(objective, optimum.theta))
    assert first.converged
    assert first.value == pytest.approx(optimum.value, rel=1e-6)


def test_a_gap_that_is_not_computed_is_not_known(problem):
    made = EG(tol=1e-3, gap_every=3, epochs=100)
    with problem.objective(l2=0.5) as objective:
        found = list(states(made, objective, np.zeros(problem.size)))
    assert all(math.isfinite(state.gap) == (state.epoch % 3 == 0) for state in found[1:])
    assert all(math.isfinite(state.value) == (state.epoch % 3 == 0) for state in found[1:])
    assert found[-1].converged
    assert found[-1].epoch % 3 == 0


def test_an_end_far_from_the_optimum_is_told(problem):
    with problem.objective(l2=0.5) as objective:
        last = run(EG(epochs=2), objective, np.zeros(problem.size))
    assert (last.epoch, last.finished, last.converged) == (2, True, False)


@pytest.mark.parametrize("bonus", [0.0, 5.0, 30.0])
@pytest.mark.parametrize("rate", [0.01, 1.0])
def test_any_start_leads_there(problem, seen, bonus, rate):
    with problem.objective(l2=0.5) as objective:
        last = run(EG(tol=1e-6, bonus=bonus, rate=rate, epochs=1000), objective, np.zeros(problem.size))
    assert last.gap <= 1e-6 * last.value
    assert last.value == pytest.approx(seen[-1].value, rel=1e-5)


def test_priors_that_have_no_such_dual_are_refused(problem):
    def start(prior, l1=0.0):
        with ThreadedObjective(problem.shards(), problem.size, prior, 1, l1) as objective:
            EG().start(objective, np.zeros(problem.size))

    with pytest.raises(SettingError, match=r"l2 is 0, .* give l2 > 0, or use lbfgs or auto"):
        start(L2(0.0))
    with pytest.raises(SettingError, match=r"l1 is 0\.5, which eg does not know"):
        start(L2(1.0), 0.5)
    with pytest.raises(SettingError, match="no hyperbolic"):
        start(Priors([L2(1.0), Hyperbolic(1.0)]))


def test_attributes_on_transitions_are_refused():
    problem = make_problem(0, arcs=True)
    with problem.objective() as objective, pytest.raises(SettingError, match="attributes on transitions; use lbfgs"):
        EG().start(objective, np.zeros(problem.size))


def test_its_options_have_ranges():
    assert find_optimizer("eg", 1e-3, bonus=7.0) == EG(tol=1e-3, bonus=7.0)
    for name, value in {"rate": 1.5, "bonus": 101.0, "gap_every": 0, "epochs": 0}.items():
        with pytest.raises(SettingError, match=f"{name} is"):
            EG(**{name: value})
