"""Expected counts equal enumeration, and steps of EM never lower the likelihood."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markov_problems import problems

from trellis.markov import Events, Expectation, Prior, Tables, Vocabulary, counted
from trellis.markov.expected import Raw, expected
from trellis.optim import EM, EarlyEM


def positive(problem, seed=0):
    """Counts with which nothing in the vocabulary is impossible."""
    rng = np.random.default_rng(seed)
    return problem.events.of_vector(rng.uniform(0.1, 2.0, len(problem.events.vector)))


def enumerated(problem, tables):
    """Expected events in the raw sentences, and their log-likelihood, by listing all labellings."""
    vocabulary, keys = problem.vocabulary, problem.vocabulary.keys
    total, likelihood = Events.none(problem.order, problem.labels, len(keys)).vector, 0.0
    for a, b in pairwise(problem.raw.offsets.tolist()):
        if a == b:
            continue
        words, found = problem.raw.words[a:b], []
        for path in product(range(problem.labels), repeat=b - a):
            gold = np.array(path, np.int32)
            if not np.isin(words.astype(np.int64) * problem.labels + gold, keys).all():
                continue
            one = counted(words, gold, np.array([0, b - a]), problem.labels, problem.order, vocabulary)
            found.append((tables.log_likelihood(one), one.vector))
        scores = np.array([score for score, _ in found])
        log_z = scores.max() + np.log(np.exp(scores - scores.max()).sum())
        likelihood += log_z
        total = total + sum(np.exp(score - log_z) * events for score, events in found)
    return total, likelihood


@settings(max_examples=60, deadline=None)
@given(problem=problems(), strength=st.sampled_from([0.0, 2.0]))
def test_expected_counts_equal_enumeration(problem, strength):
    tables = Tables.of(positive(problem), Prior.of(strength, problem.events), problem.vocabulary)
    events, likelihood = expected(problem.raw, tables, problem.vocabulary)
    right, log_p = enumerated(problem, tables)
    np.testing.assert_allclose(events.vector, right, atol=1e-9)
    assert likelihood == pytest.approx(log_p, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    problem=problems(),
    strength=st.sampled_from([0.0, 0.3, 5.0]),
    weight=st.sampled_from([0.2, 1.0, 3.0]),
    seed=st.integers(0, 100),
)
def test_no_step_of_em_lowers_the_likelihood(problem, strength, weight, seed):
    prior = Prior.of(strength, problem.events)
    expectation = Expectation(problem.events, [problem.raw], weight, prior, problem.vocabulary, 1)
    em = EM()
    state = em.start(expectation, positive(problem, seed).vector)
    for _ in range(6):
        later = em.step(expectation, state)
        assert later.value <= state.value + 1e-9 * abs(state.value)
        state = later


@settings(max_examples=40, deadline=None)
@given(problem=problems(), seed=st.integers(0, 100))
def test_without_labels_or_prior_it_is_the_likelihood_of_the_text_that_rises(problem, seed):
    none = Events.none(problem.order, problem.labels, len(problem.vocabulary.label))
    prior = Prior.even(0.0, problem.labels, problem.order)
    expectation = Expectation(none, [problem.raw], 1.0, prior, problem.vocabulary, 1)
    vector = positive(problem, seed).vector
    value, counts = expectation(vector)
    tables = Tables.of(none.of_vector(vector), prior, problem.vocabulary)
    assert value == pytest.approx(-enumerated(problem, tables)[1], abs=1e-9)
    if problem.raw.offsets[-1]:
        assert expectation(counts)[0] <= value + 1e-9 * abs(value)


@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_where_nothing_is_hidden_counting_is_the_end(problem):
    prior = Prior.of(1.0, problem.events)
    expectation = Expectation(problem.events, [], 1.0, prior, problem.vocabulary, 1)
    state = EM().start(expectation, problem.events.vector)
    assert state.converged
    assert state.gradient_norm == 0.0


def test_threads_change_nothing_and_batches_but_rounding():
    rng = np.random.default_rng(0)
    words, labels = rng.integers(0, 5, 200).astype(np.int32), 3
    offsets = np.arange(0, 201, 10)
    vocabulary = Vocabulary.of_keys(np.arange(5 * labels, dtype=np.int64), 5, labels)
    none = Events.none(1, labels, 15)
    start = none.of_vector(rng.uniform(0.5, 1.5, len(none.vector))).vector
    prior = Prior.even(1.0, labels, 1)
    batches = [Raw(words[k : k + 50], offsets[:6]) for k in range(0, 200, 50)]
    one, two = (Expectation(none, batches, 1.0, prior, vocabulary, n)(start) for n in (1, 2))
    assert one[0] == two[0]
    assert one[1].tolist() == two[1].tolist()
    whole = Expectation(none, [Raw(words, offsets)], 1.0, prior, vocabulary, 1)(start)
    np.testing.assert_allclose(whole[1], one[1], rtol=1e-12)


def test_em_that_is_to_end_early_does():
    calls = []

    def expectation(theta):
        calls.append(1)
        return float(np.sum((theta - 1.0) ** 2)), (theta + 1.0) / 2.0

    em, theta = EarlyEM(steps=2), np.zeros(2)
    state = em.start(expectation, theta)
    state = em.step(expectation, state)
    assert not state.finished
    assert em.step(expectation, state).finished
    assert len(calls) == 3
