"""A run that was interrupted goes on to the same bits, and only where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.errors import CheckpointError, DamagedModelError
from trellis.optim import LBFGS
from trellis.store import from_bytes, to_bytes
from trellis.training import Checkpoint, Run, Schedule, train
from trellis.training.checkpoint import compared

START = np.array([-1.2, 1.0])
MADE = {"trellis": "1", "l2": 1.0, "labels": "a" * 64, "attributes": "b" * 64, "dev": None, "start": None}


class Rosenbrock:
    l1 = 0.0

    def value_and_gradient(self, theta):
        a, b = theta
        gradient = np.array([-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)])
        return float(100 * (b - a * a) ** 2 + (1 - a) ** 2), gradient


class Keeping:
    """A keeper that holds what it was told last."""

    def __init__(self):
        self.runs, self.ends = [], []

    def after_iteration(self, run):
        self.runs.append(run)

    def at_end(self, run, finished):
        self.ends.append((run, finished))


def dev(theta):
    """Best a good while before the end."""
    return 1.0 - abs(float(theta[0]) - 0.6)


def fit(max_iter=1000, patience=10, score=None, **more):
    return train(Rosenbrock(), LBFGS(tol=1e-8), START, max_iter, score, patience, **more)


def through_a_file(run, finished=False, patience=10):
    parts = Checkpoint(run, finished, patience, MADE).parts()
    description, tensors = from_bytes(to_bytes(*parts))
    del description["format"]
    return Checkpoint.from_parts(description, tensors, MADE, 2, "f")


def assert_same(a, b):
    for name in ("objective", "iterations", "evaluations", "products", "converged", "stopped_early", "dev_score"):
        assert getattr(a, name) == getattr(b, name)
    assert a.theta.tobytes() == b.theta.tobytes()


@pytest.mark.parametrize("score", [None, dev], ids=["alone", "with a development score"])
def test_from_every_iteration_a_run_goes_on_to_the_same_bits(score):
    keeping = Keeping()
    whole = fit(score=score, keeper=keeping)
    assert whole.stopped_early is (score is not None)
    for run in keeping.runs:
        assert_same(fit(score=score, resumed=through_a_file(run).run), whole)


def test_seconds_add_up():
    keeping = Keeping()
    fit(max_iter=3, keeper=keeping)
    run = through_a_file(keeping.runs[-1]).run
    outcome = fit(max_iter=5, resumed=Run(run.state, run.best, 1000.0))
    assert 1000.0 < outcome.seconds < 1100.0


def test_a_finished_run_is_at_its_end_at_once():
    keeping = Keeping()
    whole = fit(keeper=keeping)
    run, finished = keeping.ends[-1]
    assert finished
    again = through_a_file(run, True)
    assert again.finished
    seen = []
    assert_same(fit(resumed=again.run, report=seen.append), whole)
    assert seen == []


def test_more_iterations_than_it_was_made_with():
    keeping = Keeping()
    fit(max_iter=5, keeper=keeping)
    assert_same(fit(max_iter=9, resumed=through_a_file(keeping.ends[-1][0]).run), fit(max_iter=9))


def test_more_patience_than_it_was_made_with():
    keeping = Keeping()
    assert fit(score=dev, patience=3, keeper=keeping).stopped_early
    resumed = through_a_file(keeping.ends[-1][0], patience=3)
    resumed.check_stops(1000, 7, "f")
    assert_same(fit(score=dev, patience=7, resumed=resumed.run), fit(score=dev, patience=7))


class TestInterrupts:
    @pytest.mark.parametrize("where", ["step", "score", "report"])
    def test_the_last_whole_iteration_is_kept(self, where):
        keeping, calls = Keeping(), []

        def interrupting(name, inner):
            def call(*arguments):
                calls.append(name)
                if name == where and calls.count(name) == 4:
                    raise KeyboardInterrupt
                return inner(*arguments)

            return call

        optimizer = LBFGS(tol=1e-8)
        stepping = type("Stepping", (), {})()
        stepping.start, stepping.fraction_done = optimizer.start, optimizer.fraction_done
        stepping.step = interrupting("step", optimizer.step)
        with pytest.raises(KeyboardInterrupt):
            train(
                Rosenbrock(), stepping, START, 1000, interrupting("score", dev), 10,
                interrupting("report", lambda now: None), keeping,
            )  # fmt: skip
        [(run, finished)] = keeping.ends
        assert not finished
        assert run.state.iteration == (4 if where == "report" else 3)
        assert_same(fit(score=dev, resumed=through_a_file(run).run), fit(score=dev))

    def test_before_the_first_iteration_nothing_is_lost(self):
        keeping = Keeping()

        class Interrupted(Rosenbrock):
            def value_and_gradient(self, theta):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(Interrupted(), LBFGS(), START, 10, keeper=keeping)
        assert keeping.ends == []


class TestWarmStart:
    def test_the_start_may_be_the_best(self):
        outcome = fit(score=lambda theta: -abs(float(theta[0]) + 1.2), patience=3, warm=True)
        np.testing.assert_array_equal(outcome.theta, START)
        assert (outcome.dev_score, outcome.iterations) == (0.0, 3)
        assert outcome.objective == Rosenbrock().value_and_gradient(START)[0]

    def test_but_not_one_of_zeros(self):
        outcome = fit(score=lambda theta: -abs(float(theta[0]) + 1.2), patience=3)
        assert outcome.dev_score < 0.0


class TestWhatBelongsTogether:
    @pytest.mark.parametrize(
        ("other", "message"),
        [
            ({"l2": 2.0}, ["was made with l2=1.0, this is l2=2.0"]),
            (
                {"l2": 2.0, "trellis": "2"},
                ["made with trellis='1', this is trellis='2'", "with l2=1.0, this is l2=2.0"],
            ),
            ({"labels": "c" * 64, "attributes": "d" * 64}, ["was made from other training data"]),
            ({"attributes": "c" * 64}, ["was made with other features or from other training data"]),
            ({"l2": 2.0, "attributes": "c" * 64}, ["was made with l2=1.0, this is l2=2.0"]),
            ({"dev": "c" * 64}, ["was made without development data, this is with some"]),
            ({"start": "c" * 64}, ["began from other weights (a warm start, or vectors)"]),
            ({"l1": 0.5}, ["was made with l1=None, this is l1=0.5"]),
        ],
    )
    def test_differences_are_said(self, other, message):
        found = compared(MADE, {**MADE, **other})
        assert len(found) == len(message)
        assert all(part in one for part, one in zip(message, found, strict=True))

    def test_a_setting_that_is_no_more_is_a_difference(self):
        assert compared({**MADE, "old": 1}, MADE) == ["was made with old=1, this is old=None"]

    def test_the_same_number_is_the_same(self):
        assert compared(MADE, {**MADE, "l2": 1}) == []

    def test_another_run_is_refused_before_it_is_looked_at(self):
        parts = Checkpoint(Run(LBFGS().start(Rosenbrock(), START)), False, 10, MADE).parts()
        with pytest.raises(CheckpointError, match=r"f: the checkpoint was made with l2=1\.0, this is l2=3\.0; resume"):
            Checkpoint.from_parts(*parts, {**MADE, "l2": 3.0}, 99, "f")
        with pytest.raises(DamagedModelError, match="2 for 99 weights"):
            Checkpoint.from_parts(*parts, MADE, 99, "f")

    def test_limits_that_would_have_stopped_it_before(self):
        keeping = Keeping()
        fit(max_iter=6, score=dev, keeper=keeping)
        checkpoint = through_a_file(keeping.ends[-1][0])
        with pytest.raises(CheckpointError, match="is at iteration 6, beyond max_iter=5"):
            checkpoint.check_stops(5, 10, "f")
        with pytest.raises(CheckpointError, match="patience=10, this is patience=9; it may be raised"):
            checkpoint.check_stops(6, 9, "f")
        checkpoint.check_stops(6, 10, "f")


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": -1.0},
        {"seconds": "1"},
        {"seconds": {"float": "nan"}},
        {"finished": 0},
        {"patience": 0},
        {"patience": None},
        {"best": []},
        {"best": [{"tensor": 0}, 1.0, {"float": "nan"}, 1]},
        {"best": [{"tensor": 0}, 1.0, 1.0, -1]},
        {"best": [{"tensor": 0}, 1.0, 1.0]},
        {"best": 3},
        {"state": None},
        {"fingerprint": None},
        {"more": 1},
    ],
    ids=str,
)
def test_hand_made_checkpoints_are_one_typed_error(change):
    description, tensors = Checkpoint(Run(LBFGS().start(Rosenbrock(), START)), False, 10, MADE).parts()
    with pytest.raises(DamagedModelError, match="f: the checkpoint's parts do not fit together"):
        Checkpoint.from_parts({**description, **change}, tensors, MADE, 2, "f")


class TestSchedule:
    @pytest.fixture
    def clock(self, monkeypatch):
        """Seconds that pass only when a test says so."""
        now = [0.0]
        monkeypatch.setattr("trellis.training.checkpoint.time.perf_counter", lambda: now[0])
        return now

    def run_at(self, iteration):
        state = type("S", (), {"iteration": iteration})()
        return Run(state)

    def test_by_time_the_writing_takes_a_hundredth(self, clock):
        written = []

        def write(run, finished):
            clock[0] += 0.5  # as a large model may take
            written.append(clock[0])

        schedule = Schedule(write)
        for k in range(2000):
            clock[0] += 0.1
            schedule.after_iteration(self.run_at(k))
        assert len(written) == 4  # after 10 s, then every 50
        assert written[0] == pytest.approx(10.5, abs=0.2)
        assert np.diff(written).min() >= 50.0

    def test_never_more_often_than_every_ten_seconds(self, clock):
        written = []
        schedule = Schedule(lambda run, finished: written.append(run))
        for k in range(100):
            clock[0] += 1.0
            schedule.after_iteration(self.run_at(k))
        assert len(written) == 10

    def test_by_iterations(self, clock):
        written = []
        schedule = Schedule(lambda run, finished: written.append(run.state.iteration), every=3)
        for k in range(1, 11):
            schedule.after_iteration(self.run_at(k))
        assert written == [3, 6, 9]

    def test_the_end_is_written_in_any_case_and_once(self, clock):
        written = []
        schedule = Schedule(lambda run, finished: written.append((run.state.iteration, finished)), every=1)
        last = self.run_at(1)
        schedule.after_iteration(last)
        schedule.at_end(last, finished=False)
        assert written == [(1, False)]
        schedule.at_end(last, finished=True)
        assert written == [(1, False), (1, True)]
