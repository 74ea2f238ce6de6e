"""Passive-aggressive rules, AROW and MIRA make the updates they say they make: compared with whole paths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from online_reference import InOrder, make_problem, problems

from trellis.jit import alone
from trellis.objective.kernels import kbest
from trellis.objective.rules.arow import ArowRule
from trellis.objective.rules.mira import MiraRule
from trellis.objective.rules.passive_aggressive import MARGINS, PassiveAggressiveRule

margins = st.sampled_from(MARGINS)


def wrong_labels(path, gold):
    return sum(map(int.__ne__, path, gold))


def updates(problem, theta, margin):
    """For every sentence in order, with the number of its step: the loss and Delta, if there is a loss. Whoever asks
    changes theta in place."""
    for step, s in enumerate(filter(problem.tokens_of, range(problem.sentences))):
        gold = problem.gold(s)
        best = problem.best(s, theta, 1.0 if margin == "worst" else 0.0)
        wrong, delta = wrong_labels(best, gold), problem.counts(s, gold) - problem.counts(s, best)
        size = {"one": 1.0, "root": math.sqrt(wrong)}.get(margin, wrong)
        loss = size - theta @ delta
        if wrong and loss > 1e-9:
            yield step, loss, wrong, delta


def passive_aggressive(problem, theta, steps, variant, c, margin):
    theta, late, value = theta.copy(), np.zeros_like(theta), 0.0
    for step, loss, _, delta in updates(problem, theta, margin):
        value, norm = value + loss, delta @ delta
        if norm:
            tau = loss / (norm + 0.5 / c) if variant == 2 else loss / norm
            change = (min(c, tau) if variant == 1 else tau) * delta
            theta += change
            late += (steps + step) * change
    return theta, late, value


@given(problem=problems, seed=st.integers(0, 1000), variant=st.integers(0, 2), c=st.floats(0.01, 2.0), margin=margins)
def test_passive_aggressive_rules_make_good_the_loss_of_a_sentence(problem, seed, variant, c, margin):
    theta = np.random.default_rng(seed).normal(size=problem.size)
    rule = PassiveAggressiveRule(7, variant, c, margin)
    done = problem.online().epoch(rule, (theta, np.zeros_like(theta)), InOrder())
    expected, late, value = passive_aggressive(problem, theta, 7, variant, c, margin)
    np.testing.assert_allclose(done.vectors[0], expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(done.vectors[1], late, rtol=1e-7, atol=1e-6)
    assert done.tally[0] == pytest.approx(value, rel=1e-7, abs=1e-6)


def test_the_tally_counts_sentences_and_labels():
    problem = make_problem(3, labels=4, arcs=True)
    theta = np.random.default_rng(0).normal(size=problem.size)
    done = problem.online().epoch(PassiveAggressiveRule(0, 1, 0.1, "root"), (theta, theta), InOrder())
    found, reference = [], theta.copy()
    for _, loss, wrong, delta in updates(problem, reference, "root"):
        found.append(wrong)
        reference += min(0.1, loss / (delta @ delta)) * delta
    assert done.tally[1:] == (len(found), sum(found))


def test_after_an_update_without_a_limit_the_gold_path_has_its_margin():
    problem = make_problem(1, labels=3, lengths=(4,), everything=True, valued=True)
    theta = np.random.default_rng(0).normal(size=problem.size) * 5
    ((_, loss, wrong, delta),) = updates(problem, theta, "count")
    assert loss > wrong
    after = problem.online().epoch(PassiveAggressiveRule(0, 0, 1.0, "count"), (theta, theta), InOrder()).vectors[0]
    assert after @ delta == pytest.approx(wrong)


@given(problem=problems, seed=st.integers(0, 1000), gamma=st.floats(0.1, 50.0), margin=margins)
def test_arow_scales_updates_by_variances_which_fall(problem, seed, gamma, margin):
    rng = np.random.default_rng(seed)
    theta, variance = rng.normal(size=problem.size), rng.uniform(0.1, 2.0, problem.size)
    vectors = theta, np.zeros_like(theta), variance
    done = problem.online().epoch(ArowRule(7, gamma, margin), vectors, InOrder())
    theta, late, variance, value = theta.copy(), np.zeros_like(theta), variance.copy(), 0.0
    for step, loss, _, delta in updates(problem, theta, margin):
        value += loss
        change = loss / (delta @ (variance * delta) + gamma) * variance * delta
        theta += change
        late += (7 + step) * change
        variance[:] = 1.0 / (1.0 / variance + delta**2 / gamma)
    np.testing.assert_allclose(done.vectors[0], theta, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(done.vectors[1], late, rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(done.vectors[2], variance, rtol=1e-7)
    assert done.tally[0] == pytest.approx(value, rel=1e-7, abs=1e-6)


@given(problem=problems, seed=st.integers(0, 1000), k=st.integers(1, 7))
def test_the_k_best_paths_are_those_of_an_enumeration(problem, seed, k):
    theta = np.random.default_rng(seed).normal(size=problem.size)
    (shard,) = problem.online().shards
    (taken,) = shard.taken([theta])
    search = alone(kbest.room_for_k)(shard.tokens, taken, k)
    for s in shard.sentences.tolist():
        count, gold_score = alone(kbest.k_best_paths)(shard.tokens, s, taken, search)
        length = len(problem.tokens_of(s))
        found = [tuple(search.path[n, :length].tolist()) for n in range(count)]
        scores = sorted((theta @ problem.counts(s, path) for path in problem.paths(s)), reverse=True)
        assert len(set(found)) == count == min(k, len(scores))
        np.testing.assert_allclose(search.value[length, 0, :count], scores[:k], rtol=1e-9, atol=1e-9)
        own = [theta @ problem.counts(s, path) for path in found]
        np.testing.assert_allclose(own, scores[:k], rtol=1e-9, atol=1e-9)
        assert gold_score == pytest.approx(theta @ problem.counts(s, problem.gold(s)), rel=1e-9, abs=1e-9)


def least_change(deltas, short, c):
    """Of theta, such that each constraint is met or has cost C: coordinate ascent. None where it does not come to rest,
    as constraints are nearly the same."""
    alpha, gram = np.zeros(len(short)), deltas @ deltas.T
    for _ in range(5000):
        before = alpha.copy()
        for p in range(len(short)):
            if gram[p, p]:
                alpha[p] = np.clip(alpha[p] + (short[p] - gram[p] @ alpha) / gram[p, p], 0.0, c)
        if np.abs(alpha - before).max() <= 1e-12:
            return alpha @ deltas
    return None


def mira(problem, theta, k, c):
    """theta and losses after all sentences in order; None where it is not clear which paths are the k best, or where
    that leads."""
    theta, value = theta.copy(), 0.0
    for s in filter(problem.tokens_of, range(problem.sentences)):
        gold, paths = problem.gold(s), problem.paths(s)
        scores = np.array([theta @ problem.counts(s, path) for path in paths])
        order = np.argsort(-scores, kind="stable")
        if len(order) > k and scores[order[k - 1]] - scores[order[k]] < 1e-6:
            return None
        best = [paths[n] for n in order[:k] if paths[n] != gold]
        if best:
            deltas = np.array([problem.counts(s, gold) - problem.counts(s, path) for path in best])
            short = np.array([wrong_labels(path, gold) for path in best]) - deltas @ theta
            value += max(0.0, short.max())
            change = least_change(deltas, short, c)
            if change is None:
                return None
            theta += change
    return theta, value


@pytest.mark.parametrize("k", [1, 2, 4])
@given(problem=problems, seed=st.integers(0, 1000), c=st.floats(0.01, 1.0))
def test_mira_changes_weights_least_such_that_k_paths_are_beaten(problem, seed, k, c):
    assume(problem.sentences <= 3)  # the reference is slow
    theta = np.random.default_rng(seed).normal(size=problem.size)
    expected = mira(problem, theta, k, c)
    assume(expected is not None)
    done = problem.online().epoch(MiraRule(7, k, c), (theta, np.zeros_like(theta)), InOrder())
    np.testing.assert_allclose(done.vectors[0], expected[0], rtol=1e-4, atol=1e-4)
    assert done.tally[0] == pytest.approx(expected[1], rel=1e-4, abs=1e-4)


def test_mira_adds_up_changes_by_step():
    problem = make_problem(5, labels=3, lengths=(3, 2, 4), arcs=True)
    theta = np.random.default_rng(0).normal(size=problem.size)
    online, late = problem.online(), np.zeros(problem.size)

    class Only(InOrder):
        def __init__(self, sentences):
            self.sentences = np.array(sentences, np.int64)

        def permutation(self, things):
            return np.arange(things) if np.ndim(things) == 0 else self.sentences

    now = theta
    for n in range(3):
        after = online.epoch(MiraRule(0, 3, 1.0), (now, late), Only([n])).vectors[0]
        late, now = late + (7 + n) * (after - now), after
    done = online.epoch(MiraRule(7, 3, 1.0), (theta, np.zeros_like(theta)), InOrder())
    np.testing.assert_allclose(done.vectors[0], now, atol=1e-9)
    np.testing.assert_allclose(done.vectors[1], late, atol=1e-9)


def test_mira_takes_its_time_where_two_paths_are_nearly_the_same():
    problem = make_problem(154, 2, [1, 4], valued=True, everything=False, arcs=False, allowed=False)
    theta = np.random.default_rng(154).normal(size=problem.size)
    expected = mira(problem, theta, 4, 1.0)
    done = problem.online().epoch(MiraRule(7, 4, 1.0), (theta, np.zeros_like(theta)), InOrder())
    np.testing.assert_allclose(done.vectors[0], expected[0], rtol=1e-6, atol=1e-6)
