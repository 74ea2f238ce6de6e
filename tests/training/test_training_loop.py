"""The loop around an optimiser: when it ends, what it keeps, what it reports."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from trellis.optim import LBFGS
from trellis.training import train

START = np.array([-1.2, 1.0])


class Rosenbrock:
    """A long way down, for L-BFGS about 35 iterations."""

    l1 = 0.0

    def __init__(self):
        self.calls = 0

    def value_and_gradient(self, theta):
        self.calls += 1
        a, b = theta
        gradient = np.array([-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)])
        return float(100 * (b - a * a) ** 2 + (1 - a) ** 2), gradient


class Scores:
    """Development scores one after the other, and the weights they were asked for."""

    def __init__(self, *scores):
        self.scores = scores
        self.asked = []

    def __call__(self, theta):
        self.asked.append(theta.copy())
        return self.scores[min(len(self.asked), len(self.scores)) - 1]


def run(max_iter=1000, tol=1e-8, **more):
    return train(Rosenbrock(), LBFGS(tol=tol), START, max_iter, **more)


def test_runs_until_the_optimiser_has_converged():
    outcome = run()
    assert outcome.converged
    assert not outcome.stopped_early
    assert outcome.dev_score is None
    np.testing.assert_allclose(outcome.theta, 1.0, atol=1e-5)
    assert outcome.objective == Rosenbrock().value_and_gradient(outcome.theta)[0]


def test_ends_at_max_iter_unconverged():
    outcome = run(max_iter=3)
    assert outcome.iterations == 3
    assert not outcome.converged
    assert outcome.objective < Rosenbrock().value_and_gradient(START)[0]


def test_counts_evaluations():
    objective = Rosenbrock()
    outcome = train(objective, LBFGS(), START, 10)
    assert outcome.evaluations == objective.calls


def test_the_start_is_left_alone():
    start = START.copy()
    train(Rosenbrock(), LBFGS(), start, 5)
    np.testing.assert_array_equal(start, START)


class TestDevelopmentScore:
    def test_stops_when_it_has_not_risen_for_patience_iterations(self):
        dev = Scores(0.1, 0.5, 0.4, 0.5, 0.3)
        outcome = run(dev_score=dev, patience=3)
        assert outcome.stopped_early
        assert outcome.iterations == 5
        assert not outcome.converged

    def test_keeps_the_weights_of_the_best_one(self):
        dev = Scores(0.1, 0.5, 0.4, 0.5, 0.3)
        outcome = run(dev_score=dev, patience=3)
        assert outcome.dev_score == 0.5
        np.testing.assert_array_equal(outcome.theta, dev.asked[1])
        assert outcome.objective == Rosenbrock().value_and_gradient(dev.asked[1])[0]

    def test_that_keeps_rising_does_not_stop_anything(self):
        dev = Scores(*np.arange(1000.0))
        outcome = run(dev_score=dev, patience=1)
        assert outcome.converged
        assert not outcome.stopped_early
        np.testing.assert_array_equal(outcome.theta, dev.asked[-1])

    def test_the_best_weights_are_kept_at_max_iter_too(self):
        dev = Scores(0.9, 0.5)
        outcome = run(max_iter=3, dev_score=dev, patience=50)
        assert not outcome.stopped_early
        np.testing.assert_array_equal(outcome.theta, dev.asked[0])

    def test_is_known_even_when_there_is_nothing_to_do(self):
        outcome = train(Rosenbrock(), LBFGS(), np.ones(2), 10, dev_score=Scores(0.25))
        assert outcome.converged
        assert outcome.iterations == 0
        assert outcome.dev_score == 0.25


class TestProgress:
    def test_is_reported_after_each_iteration(self):
        seen = []
        dev = Scores(*np.arange(100.0))
        outcome = run(max_iter=8, dev_score=dev, report=seen.append)
        assert [p.iteration for p in seen] == list(range(1, 9))
        assert [p.dev_score for p in seen] == list(np.arange(8.0))
        assert seen[-1].objective == outcome.objective
        assert seen[-1].evaluations == outcome.evaluations
        assert all(a.objective > b.objective for a, b in pairwise(seen))
        assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
        gradient = Rosenbrock().value_and_gradient(outcome.theta)[1]
        assert seen[-1].gradient_norm == pytest.approx(np.linalg.norm(gradient))

    def test_fraction_is_between_zero_and_one(self):
        seen = []
        run(report=seen.append)
        assert all(0.0 <= p.fraction <= 1.0 for p in seen)

    def test_includes_the_iteration_that_stops_early(self):
        seen = []
        outcome = run(dev_score=Scores(1.0, 0.0), patience=2, report=seen.append)
        assert len(seen) == outcome.iterations == 3
