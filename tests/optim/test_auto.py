"""Auto: descent and then L-BFGS where there is enough to learn from, L-BFGS or OWL-QN alone elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise

import numpy as np
import pytest

from trellis import CRF
from trellis.corpus import sample_corpus
from trellis.errors import SettingError
from trellis.optim import LBFGS, OWLQN, Auto, LBFGSState, OWLQNState, find_optimizer
from trellis.store import from_bytes, to_bytes
from trellis.training import Checkpoint, Run, has_ended, train

LOWEST = np.array([0.5, -1.0, 2.0, 0.0])
SCALE = np.array([1.0, 30.0, 4.0, 0.5])
ZERO = np.zeros(4)


@dataclass
class Epoch:
    theta: np.ndarray
    average: np.ndarray
    loss: float


class Descent:
    """Goes half of the way in an epoch, give or take a little at random; `bad` has epochs that fail in some way."""

    def __init__(self, sentences=1000, bad=None):
        self.sentences, self.bad = sentences, bad or {}
        self.epochs, self.steps = [], None

    def best_step(self, theta, steps, rng):
        assert not theta.any()
        self.steps = tuple(steps)
        return 0.25

    def epoch(self, theta, step, decay, epoch, snapshots, rng):
        self.epochs.append((step, decay, epoch, snapshots))
        theta = theta + (0.5 + 0.02 * rng.random()) * (LOWEST - theta)
        if epoch in self.bad:
            return self.bad[epoch](theta)
        return Epoch(theta, theta + 0.001 if snapshots else theta, 10.0 - epoch)


class Objective:
    """sum of SCALE log cosh(theta - LOWEST): convex, not a quadratic."""

    def __init__(self, descent=None, l1=0.0, has_curvature=True):
        self.l1, self._descent, self.has_curvature = l1, descent, has_curvature
        self.evaluations = self.diagonals = 0

    def value_and_gradient(self, theta):
        self.evaluations += 1
        d = theta - LOWEST
        return float(np.sum(SCALE * np.log(np.cosh(d)))) + 1.0, SCALE * np.tanh(d)

    def hessian_diagonal(self, theta):
        self.diagonals += 1
        return SCALE / np.cosh(theta - LOWEST) ** 2

    def descent(self):
        return self._descent


BAD = {
    "infinite loss": lambda theta: Epoch(theta, theta, math.inf),
    "no loss": lambda theta: Epoch(theta, theta, math.nan),
    "no theta": lambda theta: Epoch(theta * math.nan, theta, 1.0),
    "infinite theta": lambda theta: Epoch(theta + math.inf, theta, 1.0),
    "no average": lambda theta: Epoch(theta, theta * math.nan, 1.0),
}


def states_of(optimizer, objective, theta=ZERO, most=100):
    states = [optimizer.start(objective, theta)]
    while not (states[-1].converged or states[-1].stuck) and len(states) < most:
        states.append(optimizer.step(objective, states[-1]))
    return states


def bits(value):
    """All that a state is made of, so that it can be compared."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if is_dataclass(value):
        return tuple(bits(getattr(value, field.name)) for field in fields(value))
    return repr(value)


def assert_is_alone(states, alone):
    """Auto went the way of another optimiser, all of it."""
    assert [bits(state.then) for state in states] == [bits(state) for state in alone]
    for state, other in zip(states, alone, strict=True):
        assert state.theta is state.then.theta
        assert (state.value, state.gradient_norm) == (other.value, other.gradient_norm)
        assert (state.iteration, state.evaluations) == (other.iteration, other.evaluations)
        assert (state.products, state.converged, state.stuck) == (other.products, other.converged, other.stuck)
        assert Auto().fraction_done(state) == LBFGS().fraction_done(other)


class TestLBFGSAlone:
    @pytest.mark.parametrize(
        ("objective", "theta", "settings"),
        [
            (Objective(None), ZERO, {}),
            (Objective(Descent(999)), ZERO, {}),
            (Objective(Descent(1000)), np.array([0.0, 0.0, 1e-9, 0.0]), {}),
            (Objective(Descent(1000)), ZERO, {"epochs": 0}),
        ],
        ids=["no descent", "few sentences", "a warm start", "no epochs"],
    )
    def test_where_descent_does_not_pay(self, objective, theta, settings):
        states = states_of(Auto(tol=1e-6, memory=3, **settings), objective, theta)
        assert isinstance(states[0].then, LBFGSState)
        assert states[-1].converged
        assert_is_alone(states, states_of(LBFGS(tol=1e-6, memory=3, diagonal=True), Objective(), theta))
        assert objective._descent is None or objective._descent.epochs == []

    def test_without_the_diagonal_where_the_loss_has_none(self):
        objective = Objective(has_curvature=False)
        states = states_of(Auto(tol=1e-6, memory=3), objective, ZERO)
        assert_is_alone(states, states_of(LBFGS(tol=1e-6, memory=3), Objective(), ZERO))
        assert (states[-1].converged, objective.diagonals) == (True, 0)

    def test_starts_where_it_was_told_to(self):
        theta = np.array([1.0, 2.0, 3.0, 4.0])
        np.testing.assert_array_equal(Auto().start(Objective(Descent()), theta).theta, theta)


@pytest.mark.parametrize("theta", [ZERO, np.array([1.0, 0.0, -1.0, 0.5])], ids=["cold", "warm"])
def test_owlqn_where_there_is_an_l1_part(theta):
    objective = Objective(Descent(), l1=0.7)
    states = states_of(Auto(tol=1e-6, memory=3), objective, theta)
    assert isinstance(states[0].then, OWLQNState)
    assert_is_alone(states, states_of(OWLQN(tol=1e-6, memory=3), Objective(l1=0.7), theta))
    assert objective._descent.epochs == []
    assert states[-1].converged
    assert states[-1].theta[3] == 0.0


class TestDescentFirst:
    @pytest.fixture
    def objective(self):
        return Objective(Descent())

    def test_for_so_many_epochs_the_last_of_them_averaged(self, objective):
        states = states_of(Auto(epochs=4), objective)
        assert [state.then is None for state in states[:6]] == [True] * 5 + [False]
        steps, decays, epochs, snapshots = zip(*objective._descent.epochs, strict=True)
        assert set(steps) == {0.25}
        assert len(set(decays)) == 1
        assert epochs == (0, 1, 2, 3)
        assert [bool(n) for n in snapshots] == [False, False, False, True]
        assert [state.value for state in states[:5]] == [math.inf, 10.0, 9.0, 8.0, 7.0]
        gaps = [np.abs(state.theta - LOWEST).max() for state in states[:5]]
        assert all(b < 0.55 * a for a, b in pairwise(gaps))

    def test_the_steps_to_choose_from_fall(self, objective):
        Auto().start(objective, ZERO)
        steps = objective._descent.steps
        assert list(steps) == sorted(steps, reverse=True)
        assert min(steps) > 0

    def test_then_l_bfgs_from_the_average_with_the_diagonal(self, objective):
        states = states_of(Auto(epochs=3, tol=1e-6), objective)
        lbfgs = states_of(
            LBFGS(tol=1e-6, diagonal=True, power=0.75, refresh=0, first_step=0.1, memory=20),
            Objective(),
            states[3].theta,
        )
        assert [bits(state.then) for state in states[4:]] == [bits(state) for state in lbfgs[1:]]
        assert states[-1].converged
        np.testing.assert_allclose(states[-1].theta, LOWEST, atol=1e-4)

    def test_each_step_is_an_iteration(self, objective):
        states = states_of(Auto(epochs=3), objective)
        assert [state.iteration for state in states] == list(range(len(states)))

    def test_work_is_counted(self, objective):
        state, optimizer = Auto(epochs=3).start(objective, ZERO), Auto(epochs=3)
        while not state.converged:
            assert state.evaluations == objective.evaluations
            assert state.products == len(objective._descent.epochs) + objective.diagonals
            state = optimizer.step(objective, state)

    def test_is_not_at_its_end_while_it_descends(self, objective):
        optimizer = Auto(epochs=3)
        for state in states_of(optimizer, objective)[:4]:
            assert not state.converged
            assert not state.stuck
            assert state.gradient_norm == math.inf
            assert 0.0 <= optimizer.fraction_done(state) < 1.0

    def test_the_fraction_done_grows(self, objective):
        optimizer = Auto(epochs=3)
        done = [optimizer.fraction_done(state) for state in states_of(optimizer, objective)]
        assert done[:4] == sorted(done[:4])
        assert all(done[3] <= fraction <= 1.0 for fraction in done[4:])

    def test_the_seed_makes_the_difference(self):
        ends = [states_of(Auto(epochs=2, seed=seed), Objective(Descent()))[2].theta for seed in (1, 1, 2)]
        assert ends[0].tobytes() == ends[1].tobytes() != ends[2].tobytes()

    def test_the_start_is_left_alone(self, objective):
        theta = np.zeros(4)
        states_of(Auto(), objective, theta)
        assert not theta.any()

    def test_that_ends_at_the_very_optimum_is_converged(self):
        descent = Descent(bad={1: lambda theta: Epoch(LOWEST.copy(), LOWEST.copy(), 1.0)})
        states = states_of(Auto(epochs=2), Objective(descent))
        assert states[-1].converged
        np.testing.assert_array_equal(states[-1].theta, LOWEST)


class TestDescentThatLeadsNowhere:
    # only the last epoch has an average of its own
    @pytest.mark.parametrize(
        ("case", "at"), [(case, at) for case in BAD for at in (0, 1, 3) if at == 3 or case != "no average"]
    )
    def test_is_followed_by_l_bfgs_from_zero(self, case, at):
        objective = Objective(Descent(bad={at: BAD[case]}))
        states = states_of(Auto(epochs=4, tol=1e-6), objective)
        lbfgs = states_of(LBFGS(tol=1e-6, memory=20, diagonal=True), Objective())
        followed = states[at + 1 :]
        same = 9 - at  # then the diagonal is taken anew, here so many iterations sooner
        assert [state.theta.tobytes() for state in followed[:same]] == [s.theta.tobytes() for s in lbfgs[1 : same + 1]]
        assert followed[-1].value == pytest.approx(lbfgs[-1].value, rel=1e-6)
        assert followed[-1].converged
        assert len(objective._descent.epochs) == at + 1

    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_counts_as_any_other_work(self, at):
        objective = Objective(Descent(bad={at: BAD["no loss"]}))
        optimizer = Auto(epochs=4)
        state = optimizer.start(objective, ZERO)
        for iteration in range(at + 5):
            assert state.iteration == iteration
            assert state.evaluations == objective.evaluations
            assert state.products == len(objective._descent.epochs) + objective.diagonals
            state = optimizer.step(objective, state)
            assert math.isfinite(state.value)
            assert 0.0 <= optimizer.fraction_done(state) <= 1.0


def all_ways():
    """One of each: descent and L-BFGS, descent that fails, L-BFGS alone, OWL-QN."""
    return [Objective(Descent()), Objective(Descent(bad={1: BAD["no loss"]})), Objective(), Objective(l1=0.5)]


@pytest.mark.parametrize("way", range(4))
def test_a_step_depends_on_the_state_alone(way):
    optimizer = Auto(epochs=3)
    state = optimizer.start(all_ways()[way], ZERO)
    while not (state.converged or state.stuck):
        before = bits(state)
        ways = [optimizer.step(all_ways()[way], state), Auto(epochs=3).step(all_ways()[way], state)]
        assert bits(state) == before
        assert bits(ways[0]) == bits(ways[1])
        state = ways[0]


def through_a_file(run):
    made = {"trellis": "1"}
    description, tensors = from_bytes(to_bytes(*Checkpoint(run, False, 10, made).parts()))
    del description["format"]
    return Checkpoint.from_parts(description, tensors, made, 4, "f").run


@pytest.mark.parametrize("way", range(4))
def test_every_state_survives_a_checkpoint(way):
    for state in states_of(Auto(epochs=3), all_ways()[way]):
        again = through_a_file(Run(state)).state
        assert bits(again) == bits(state)
        assert type(again.then) is type(state.then)
        assert not has_ended(Run(again), 1000, 10) or state.converged


@pytest.mark.parametrize("best", [2, 7])
def test_from_every_iteration_a_run_with_a_development_score_goes_on_to_the_same_bits(best):
    """Whether the best weights are from within descent, where nobody asked for the objective, or from after it."""

    runs = []

    class Keeper:
        def after_iteration(self, run):
            runs.append(run)

        def at_end(self, run, finished):
            pass

    optimizer = Auto(tol=1e-9, epochs=4)
    near = states_of(optimizer, Objective(Descent()))[best].theta

    def fit(**more):
        return train(
            Objective(Descent()), optimizer, ZERO, 100, lambda theta: -float(np.abs(theta - near).sum()), 5, **more
        )

    whole = fit(keeper=Keeper())
    assert whole.theta.tobytes() == near.tobytes()
    assert whole.objective == Objective().value_and_gradient(near)[0]
    for run in runs:
        again = fit(resumed=through_a_file(run))
        assert (again.theta.tobytes(), again.objective) == (whole.theta.tobytes(), whole.objective)
        assert (again.iterations, again.evaluations) == (whole.iterations, whole.evaluations)


@pytest.mark.parametrize("max_iter", [1, 3, 6, 7])
def test_the_objective_that_is_reported_is_that_of_the_weights(max_iter):
    """Also where it ends within descent, which asks for no such value."""
    outcome = train(Objective(Descent()), Auto(tol=1e-9), ZERO, max_iter)
    assert outcome.objective == Objective().value_and_gradient(outcome.theta)[0]
    scores = iter([0.1, 0.7, 0.3, 0.4, 0.2, 0.2, 0.1])
    outcome = train(Objective(Descent()), Auto(tol=1e-9), ZERO, max_iter, lambda theta: next(scores), 10)
    assert outcome.objective == Objective().value_and_gradient(outcome.theta)[0]
    outcome = train(Objective(l1=0.5), Auto(tol=1e-9), np.ones(4), max_iter, lambda theta: -theta[0], 10)
    value = Objective().value_and_gradient(outcome.theta)[0] + 0.5 * np.abs(outcome.theta).sum()
    assert outcome.objective == pytest.approx(value, rel=1e-15)


def test_is_found_by_name_with_its_settings():
    assert find_optimizer("auto", 1e-3, epochs=2, seed=5) == Auto(tol=1e-3, epochs=2, seed=5)
    with pytest.raises(SettingError, match="epochs is -1; expected a whole number >= 0"):
        Auto(epochs=-1)
    with pytest.raises(SettingError, match="optimizer 'auto' has no option 'diagonal'"):
        find_optimizer("auto", 1e-3, diagonal=True)


@pytest.fixture(scope="module")
def text():
    return sample_corpus("train").slice(0, 250)


class TestOnText:
    """The corpus that ships, as if it were large enough for descent."""

    @pytest.fixture(autouse=True)
    def large_enough(self, monkeypatch):
        monkeypatch.setattr("trellis.optim.auto._FEWEST", 100)
        monkeypatch.setattr("trellis.objective.cutting.SHARD", 1000)

    def fit(self, text, **settings):
        seen = []
        crf = CRF("chunk", tol=1e-6, **settings)
        crf.fit(text, progress=seen.append)
        return crf, seen

    def test_it_ends_where_l_bfgs_does(self, text):
        crf, seen = self.fit(text)
        assert [now.evaluations for now in seen[:6]] == [0] * 6
        assert [now.iteration for now in seen] == list(range(1, len(seen) + 1))
        other, _ = self.fit(text, optimizer="lbfgs")
        assert crf.objective_ == pytest.approx(other.objective_, rel=1e-4)
        assert crf.converged_
        assert crf.evaluations_ < other.evaluations_

    def test_the_same_bits_for_any_number_of_threads(self, text):
        ends = {self.fit(text, threads=threads)[0].model_.weights.tobytes() for threads in (1, 2, 8)}
        assert len(ends) == 1

    @pytest.mark.parametrize("at", [0, 1, 6, 9])
    def test_an_interrupted_run_goes_on_to_the_same_bits(self, text, at, tmp_path, monkeypatch):
        whole, _ = self.fit(text)
        step = Auto.step

        def interrupting(optimizer, objective, state):
            if state.iteration == at:
                raise KeyboardInterrupt
            return step(optimizer, objective, state)

        with monkeypatch.context() as patch:
            patch.setattr(Auto, "step", interrupting)
            with pytest.raises(KeyboardInterrupt):
                CRF("chunk", tol=1e-6).fit(text, checkpoint=tmp_path / "c")
        again = CRF("chunk", tol=1e-6).fit(text, checkpoint=tmp_path / "c", resume=True)
        assert again.model_.weights.tobytes() == whole.model_.weights.tobytes()
        assert (again.iterations_, again.evaluations_) == (whole.iterations_, whole.evaluations_)
