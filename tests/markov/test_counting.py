"""A hidden Markov model's probabilities are counts, normalised: checked by hand, and by what they must sum to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markov_problems import counted_in, problems, vocabulary_of

from trellis.markov import Prior, Tables, UnknownWords

# a: word 0, b: word 1; X: label 0, Y: label 1.   a/X b/Y   |   b/Y a/X b/Y   |   b/X
WORDS, GOLD, OFFSETS = [0, 1, 1, 0, 1, 1], [0, 1, 1, 0, 1, 0], [0, 2, 5, 6]


def counts(order=1):
    return counted_in(WORDS, GOLD, OFFSETS, 2, order)


def test_events_are_counted():
    events = counts()
    assert events.first.tolist() == [2, 1]
    assert events.last.tolist() == [1, 2]
    assert events.follow.tolist() == [[0, 2], [1, 0]]
    assert vocabulary_of(WORDS, GOLD, 2).label.tolist() == [0, 0, 1]  # a: X; b: X, Y
    assert events.emit.tolist() == [2, 1, 3]


def test_triples_are_counted_with_the_beginning_of_the_sentence_in_the_last_row():
    follow = counts(order=2).follow
    assert follow.shape == (3, 2, 2)
    assert {tuple(map(int, at)): follow[tuple(at)] for at in np.argwhere(follow)} == {
        (2, 0, 1): 1,  # X Y begins a sentence
        (2, 1, 0): 1,
        (1, 0, 1): 1,  # Y X Y
    }


def test_without_smoothing_probabilities_are_shares():
    tables = Tables.of(counts(), Prior.of(0.0, counts()), vocabulary_of(WORDS, GOLD, 2))
    assert tables.first.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert tables.stop.tolist() == pytest.approx([1 / 3, 2 / 3])  # X ends 1 of 3 times, Y 2 of 3
    assert tables.follow.ravel().tolist() == pytest.approx([0, 2 / 3, 1 / 3, 0])
    assert tables.emit.tolist() == pytest.approx([2 / 3, 1 / 3, 1])  # per label, not per word


def test_the_likelihood_is_the_product_of_what_happened():
    tables = Tables.of(counts(), Prior.of(0.0, counts()), vocabulary_of(WORDS, GOLD, 2))
    first = (2 / 3) * (2 / 3) * (2 / 3) * 1 * (2 / 3)  # X emits a, Y follows, emits b, stops
    second = (1 / 3) * 1 * (1 / 3) * (2 / 3) * (2 / 3) * 1 * (2 / 3)
    third = (2 / 3) * (1 / 3) * (1 / 3)
    assert tables.log_likelihood(counts()) == pytest.approx(np.log(first * second * third))


def test_smoothing_adds_observations_that_are_spread_as_labels_are_frequent():
    prior = Prior.of(3.0, counts())
    assert prior.mean.tolist() == pytest.approx([3 / 9, 3 / 9, 3 / 9])  # X, Y, the end
    tables = Tables.of(counts(), prior, vocabulary_of(WORDS, GOLD, 2))
    assert tables.follow[0].tolist() == pytest.approx([(0 + 1) / 6, (2 + 1) / 6])
    assert tables.stop[0] == pytest.approx((1 + 1) / 6)
    assert tables.first.tolist() == pytest.approx([(2 + 1.5) / 6, (1 + 1.5) / 6])


def test_triples_fall_back_to_pairs():
    prior = Prior.of(1.0, counts(order=2))
    pairs = np.array([[0 + 0.5, 2 + 0.5], [1 + 0.5, 0 + 0.5]]) / [[3], [2]]
    np.testing.assert_allclose(prior.pairs, pairs)
    tables = Tables.of(counts(order=2), prior, vocabulary_of(WORDS, GOLD, 2))
    np.testing.assert_allclose(tables.third[0], prior.pairs)  # after X, anything is new
    np.testing.assert_allclose(tables.third[1, 0], (np.array([0, 1]) + prior.pairs[0]) / 2)  # after Y X came Y


@settings(max_examples=60, deadline=None)
@given(problem=problems(), strength=st.sampled_from([0.0, 0.5, 10.0]))
def test_probabilities_sum_to_one_wherever_something_was_seen(problem, strength):
    prior = Prior.of(strength, problem.events)
    tables = Tables.of(problem.events, prior, problem.vocabulary)
    sums = [tables.first.sum(), *np.bincount(problem.vocabulary.label, tables.emit, problem.labels)]
    sums += list((tables.follow.sum(axis=-1) + tables.stop).ravel())
    for total in sums:
        assert total == pytest.approx(1.0) or (total == 0.0) or (strength == 0.0)


def test_unknown_words_are_told_by_the_smallest_class_that_was_seen():
    # classes: 0 = all of a shape, 1 and 2 = two endings in it; three rare words, labels X, X, Y
    classes = np.array([[0, 1], [0, 1], [0, 2]], np.int32)
    unknown = UnknownWords.learn(classes, np.array([0, 0, 1]), np.ones(3, bool), 3, np.ones(3), 2)
    top = np.array([2, 1]) / 3
    shape = (np.array([2, 1]) + top) / 4
    first = (np.array([2, 0]) + shape) / 3
    second = (np.array([0, 1]) + shape) / 2
    asked = np.array([[0, 1], [0, 2], [0, -1], [-1, -1]], np.int32)
    np.testing.assert_allclose(unknown.probabilities(asked), [first, second, shape, top])
    np.testing.assert_allclose(unknown.scores(asked), np.log([first, second, shape, top]) - np.log(top))


def test_a_label_that_no_rare_word_has_is_not_possible_for_unknown_words():
    classes = np.array([[0], [0], [0]], np.int32)
    unknown = UnknownWords.learn(classes, np.array([0, 0, 1]), np.array([1, 1, 0], bool), 1, np.ones(3), 2)
    assert unknown.scores(np.array([[0]], np.int32))[0, 1] == -np.inf
