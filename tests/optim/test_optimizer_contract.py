"""What every optimiser keeps, on every problem: it finds the optimum, its state is all there is, and it says how it
ended. A new optimiser is a line here."""

from __future__ import annotations

import numpy as np
import pytest
from optim_problems import Objective, Problem, bits, logistic, quadratic, rebuilt, rosenbrock, run, states, walled

from trellis.errors import DataError, SettingError
from trellis.optim import LBFGS, OPTIMIZERS, OWLQN, STATES, Auto, NewtonCG, NonlinearCG, traits_of

OPTIMISERS = {
    "auto": Auto,
    "lbfgs": LBFGS,
    "lbfgs, short memory": lambda **more: LBFGS(memory=2, **more),
    "lbfgs, diagonal": lambda **more: LBFGS(diagonal=True, refresh=3, **more),
    "lbfgs, full diagonal": lambda **more: LBFGS(diagonal=True, power=1.0, refresh=0, **more),
    "owlqn": OWLQN,
    "cg": NonlinearCG,
    "newton-cg": NewtonCG,
    "newton-cg, preconditioned": lambda **more: NewtonCG(preconditioned=True, **more),
    "newton-cg, line search": lambda **more: NewtonCG(globalisation="line-search", **more),
    "newton-cg, both": lambda **more: NewtonCG(globalisation="line-search", preconditioned=True, power=1.0, **more),
}

PROBLEMS = {
    "one weight": quadratic(0, size=1),
    "quadratic": quadratic(1),
    "large quadratic": quadratic(2, size=40),
    "ill-conditioned quadratic": quadratic(3, spread=5.0),
    "badly scaled quadratic": quadratic(4, spread=5.0, rotated=False),
    "logistic regression": logistic(0),
    "logistic regression, hardly regularised": logistic(1, l2=1e-3),
    "logistic regression, badly scaled": logistic(2, scales=10.0 ** np.linspace(-1, 1, 6)),
    "rosenbrock": rosenbrock(),
    "beyond a wall there is no number": walled(),
}

each_optimiser = pytest.mark.parametrize("optimiser", OPTIMISERS.values(), ids=OPTIMISERS)
each_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def test_every_batch_optimiser_of_the_registry_is_here():
    """Boosting, which has a loss of its own, is in `test_boosting_optimizer`."""
    batch = {kind for kind in OPTIMIZERS.values() if not traits_of(kind).learns}
    assert {type(make()) for make in OPTIMISERS.values()} == batch


@each_problem
@each_optimiser
def test_finds_the_optimum(optimiser, problem):
    # how many iterations a short memory takes is a matter of rounding: fewer than 3,000, or 3,112 on another processor
    state = run(optimiser(tol=1e-10), Objective(problem), problem.start, most=10_000)
    assert state.converged
    optimum = problem.optimum()
    lowest = problem.function(optimum)[0]
    assert state.value == pytest.approx(lowest, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(state.theta, optimum, rtol=1e-4, atol=1e-4)


@each_problem
@each_optimiser
def test_the_objective_never_rises_and_the_state_is_true(optimiser, problem):
    objective, last = Objective(problem), np.inf
    for state in states(optimiser(tol=1e-8), objective, problem.start, most=60):
        value, gradient = problem.function(state.theta)
        assert state.value == value <= last
        assert state.gradient_norm == pytest.approx(np.linalg.norm(gradient))
        last = value


@each_problem
@each_optimiser
def test_work_is_counted(optimiser, problem):
    objective = Objective(problem)
    for k, state in enumerate(states(optimiser(), objective, problem.start, most=30)):
        assert (state.evaluations, state.products) == (objective.evaluations, objective.products)
        assert state.iteration == k or state.stuck


@pytest.mark.parametrize("problem", [rosenbrock(), logistic(0), walled()], ids=["rosenbrock", "logistic", "walled"])
@each_optimiser
def test_a_step_depends_on_the_state_alone(optimiser, problem):
    """So a run can be stopped, stored and taken up again, to the same bits."""
    for state in states(optimiser(tol=1e-8), Objective(problem), problem.start, most=15):
        assert STATES[type(state).__name__] is type(state)
        before = bits(state)
        ways = [optimiser(tol=1e-8).step(Objective(problem), start) for start in (state, state, rebuilt(state))]
        assert bits(state) == before
        assert len({bits(new) for new in ways}) == 1


@each_optimiser
def test_steps_leave_nothing_behind_that_the_next_one_overwrites(optimiser):
    problem = rosenbrock()
    kept = [(state, bits(state)) for state in states(optimiser(tol=1e-8), Objective(problem), problem.start, most=15)]
    assert all(bits(state) == before for state, before in kept)


@each_optimiser
def test_a_better_start_is_less_work(optimiser):
    problem = logistic(3)
    near = problem.optimum() + 1e-4
    warm, cold = (run(optimiser(), Objective(problem), theta) for theta in (near, problem.start))
    assert warm.converged
    assert warm.evaluations + warm.products < cold.evaluations + cold.products


class TestEnds:
    @each_optimiser
    def test_at_once_where_the_gradient_is_zero(self, optimiser):
        problem = quadratic(0)
        objective = Objective(problem)
        state = optimiser().start(objective, problem.lowest)
        assert state.converged
        assert not state.stuck
        assert (objective.evaluations, objective.products) == (1, 0)

    @each_optimiser
    def test_as_near_to_the_optimum_as_asked_for(self, optimiser):
        problem = logistic(4, size=10, l2=0.01)
        lowest = problem.function(problem.optimum())[0]
        for tol in (1e-2, 1e-4, 1e-6):
            state = run(optimiser(tol=tol), Objective(problem), problem.start)
            assert state.converged
            assert state.value - lowest <= 2 * tol * lowest

    @each_optimiser
    def test_when_no_part_of_the_gradient_is_above_what_was_asked_for(self, optimiser):
        problem = logistic(4, size=10, l2=0.01)
        *before, last = states(optimiser(tol=1e-12, gradient_tol=0.05), Objective(problem), problem.start)
        assert last.converged
        assert all(np.abs(problem.function(state.theta)[1]).max() > 0.05 for state in before)
        assert np.abs(problem.function(last.theta)[1]).max() <= 0.05

    @each_optimiser
    def test_stuck_when_the_gradient_lies(self, optimiser):
        liar = Problem(lambda x: (float(x @ x), -2 * x - 1), lambda x: 2 * np.eye(1), np.ones(1))
        state = run(optimiser(), Objective(liar), liar.start)
        assert state.stuck
        assert not state.converged
        assert (state.value, state.iteration <= 60, state.evaluations <= 100) == (1.0, True, True)

    @each_optimiser
    def test_where_rounding_hides_any_further_fall_without_searching_for_long(self, optimiser):
        for seed in range(10):
            problem = logistic(seed)
            state = run(optimiser(tol=1e-15), Objective(problem), problem.start)
            assert state.converged
            assert state.evaluations <= 3 * state.iteration + 25

    @each_optimiser
    def test_a_step_beyond_the_end_changes_nothing(self, optimiser):
        problem = quadratic(0, size=1)
        end = optimiser().start(Objective(problem), problem.lowest)
        after = optimiser().step(Objective(problem), end)
        assert after.converged
        np.testing.assert_array_equal(after.theta, end.theta)

    @each_optimiser
    def test_the_guess_of_what_is_done_is_a_fraction(self, optimiser):
        problem, made = logistic(5, l2=0.01), optimiser(tol=1e-6)
        guesses = [made.fraction_done(state) for state in states(made, Objective(problem), problem.start)]
        assert guesses[0] == 0.0
        assert all(0.0 <= guess <= 1.0 for guess in guesses)
        assert guesses[-1] > 0.0


class TestRefuses:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @each_optimiser
    def test_an_objective_that_is_no_number(self, optimiser, value):
        with pytest.raises(DataError, match="not finite where training starts"):
            optimiser().start(Objective(Problem(lambda x: (value, np.ones(1)), None, None)), np.ones(1))
        with pytest.raises(DataError, match="not finite where training starts"):
            optimiser().start(Objective(Problem(lambda x: (1.0, np.full(1, value)), None, None)), np.ones(1))

    @each_optimiser
    def test_weights_to_start_from_are_blamed_if_there_are_any(self, optimiser):
        problem = Problem(lambda x: (np.inf, np.ones(1)), None, None)
        with pytest.raises(DataError, match=r"starts; are there extreme feature values\?$"):
            optimiser().start(Objective(problem), np.zeros(1))
        with pytest.raises(DataError, match=r"are the weights .* too large, or are there extreme feature values\?$"):
            optimiser().start(Objective(problem), np.ones(1))

    @each_optimiser
    def test_what_has_no_gradient_unless_it_can_do_without(self, optimiser):
        objective = Objective(logistic(0), l1=0.5)
        if isinstance(optimiser(), OWLQN | Auto):
            assert run(optimiser(), objective, np.zeros(6)).converged
            return
        with pytest.raises(SettingError, match=r"l1 is 0\.5.*use the optimizer 'owlqn'"):
            optimiser().start(objective, np.zeros(6))

    @pytest.mark.parametrize("diagonal", [np.nan, np.inf, 0.0, -1.0])
    @pytest.mark.parametrize("name", ["lbfgs, diagonal", "newton-cg, preconditioned"])
    def test_curvature_that_is_no_measure(self, name, diagonal):
        problem = quadratic(0)
        objective = Objective(problem)
        objective.hessian_diagonal = lambda theta: np.full(8, diagonal)
        with pytest.raises(DataError, match="no finite curvature"):
            run(OPTIMISERS[name](), objective, problem.start)


class TestSurvives:
    @each_optimiser
    def test_gradients_that_overflow_where_the_value_does_not(self, optimiser):
        wall = walled()

        def function(theta):
            value, gradient = wall.function(theta)
            return (value, gradient) if np.isfinite(value) else (-1e6, np.full(3, np.inf))

        problem = Problem(function, wall.hessian, wall.start)
        state = run(optimiser(tol=1e-9), Objective(problem), problem.start)
        assert state.converged
        np.testing.assert_allclose(state.theta, wall.lowest, atol=1e-5)

    @pytest.mark.parametrize("scale", [1e-200, 1e150, 1e160, 1e300])
    @each_optimiser
    def test_extreme_scales(self, optimiser, scale):
        """Found or stuck, but never a point that is no number, and no warning on the way."""
        problem = Problem(
            lambda x: (scale * float(np.abs(x).sum()), scale * np.sign(x)), lambda x: scale * np.eye(3), None
        )
        state = run(optimiser(), Objective(problem), [1.0, -2.0, 3.0], most=50)
        assert np.isfinite(state.theta).all()
        assert state.value <= scale * 6.0
        assert state.stuck or state.iteration == 50 or state.converged

    @pytest.mark.parametrize("curvature", [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 1e-100])
    @pytest.mark.parametrize("name", [name for name in OPTIMISERS if name.startswith("newton")])
    def test_products_that_are_nonsense(self, name, curvature):
        problem = quadratic(0, size=3)
        objective = Objective(problem)
        objective.hessian_vector = lambda theta, direction: curvature * direction
        values = [state.value for state in states(OPTIMISERS[name](), objective, problem.start, most=50)]
        assert np.isfinite(values).all()
        assert np.all(np.diff(values) <= 0)
