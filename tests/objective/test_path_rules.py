"""Rules that learn from best paths make the updates they say they make: compared with whole paths, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from online_reference import InOrder, make_problem, problems

from trellis.objective.rules.perceptron import PerceptronRule


def perceptron(problem, theta, steps):
    """theta, u, and the three counts, after all sentences in order."""
    theta, late, value, sentences, labels = theta.copy(), np.zeros_like(theta), 0.0, 0, 0
    for s in filter(problem.tokens_of, range(problem.sentences)):
        best, gold = problem.best(s, theta), problem.gold(s)
        if best != gold:
            change = problem.counts(s, gold) - problem.counts(s, best)
            value -= theta @ change
            theta, late = theta + change, late + steps * change
            sentences, labels = sentences + 1, labels + sum(map(int.__ne__, best, gold))
        steps += 1
    return theta, late, (value, sentences, labels)


@given(problem=problems, seed=st.integers(0, 1000))
def test_the_perceptron_adds_the_gold_path_and_takes_the_best_one_away(problem, seed):
    theta = np.random.default_rng(seed).normal(size=problem.size)
    done = problem.online().epoch(PerceptronRule(7), (theta, np.zeros_like(theta)), InOrder())
    expected, late, tally = perceptron(problem, theta, 7)
    np.testing.assert_allclose(done.vectors[0], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(done.vectors[1], late, rtol=1e-9, atol=1e-9)
    assert done.tally == pytest.approx(tally, rel=1e-9, abs=1e-9)


@pytest.fixture
def in_shards(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    problem = make_problem(1, labels=4, lengths=[3, 2, 4, 1, 0, 5] * 6, arcs=True)
    assert len(problem.shards()) > 3
    return problem


class TestAnEpoch:
    def test_over_several_shards_is_one_over_all_sentences(self, in_shards):
        theta = np.random.default_rng(0).normal(size=in_shards.size)
        done = in_shards.online().epoch(PerceptronRule(0), (theta, np.zeros_like(theta)), InOrder())
        expected, late, _ = perceptron(in_shards, theta, 0)
        np.testing.assert_allclose(done.vectors[0], expected, atol=1e-9)
        np.testing.assert_allclose(done.vectors[1], late, atol=1e-9)

    def test_leaves_what_it_was_given_alone(self, in_shards):
        theta = np.random.default_rng(0).normal(size=in_shards.size)
        before = theta.copy()
        in_shards.online().epoch(PerceptronRule(0), (theta, theta), np.random.default_rng(0))
        np.testing.assert_array_equal(theta, before)

    def test_depends_on_its_random_numbers_alone(self, in_shards):
        theta, online = np.random.default_rng(0).normal(size=in_shards.size), in_shards.online()

        def after(online, seed):
            return online.epoch(PerceptronRule(0), (theta, theta), np.random.default_rng(seed)).vectors[0].tobytes()

        assert after(online, 1) == after(online, 1) == after(in_shards.online(), 1) != after(online, 2)

    @pytest.mark.parametrize(("snapshots", "pieces"), [(1, 1), (8, 2)])
    def test_averages_over_moments_as_many_in_each_shard(self, in_shards, snapshots, pieces, monkeypatch):
        online, seen = in_shards.online(), []
        run = PerceptronRule.run

        def watched(rule, shard, order, vectors, stores, done):
            ran = run(rule, shard, order, vectors, stores, done)
            now = theta_now.copy()
            shard.put(vectors[:1], [now])
            theta_now[:] = now
            seen.append(now)
            return ran

        monkeypatch.setattr(PerceptronRule, "run", watched)
        theta_now = np.random.default_rng(0).normal(size=in_shards.size)
        start = theta_now.copy()
        done = online.epoch(
            PerceptronRule(0), (start, np.zeros_like(start)), np.random.default_rng(0), snapshots=snapshots
        )
        assert len(seen) == pieces * len(online.shards)
        np.testing.assert_allclose(done.average, np.mean(seen, axis=0), atol=1e-12)
