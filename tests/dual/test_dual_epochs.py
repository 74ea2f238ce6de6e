"""Epochs in the dual do what the perceptron does when it is written down plainly."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from dual_reference import (
    ATTRIBUTES,
    Problem,
    dense,
    kernels,
    learn_in_the_dual,
    learn_in_the_primal,
    mean,
    problems,
)
from hypothesis import given
from hypothesis import strategies as st

from trellis.dual import Coefficients, Events, Polynomial
from trellis.errors import DataError
from trellis.optim import DualPerceptron

EPOCHS = 4


def trained(problem, kernel, epochs, averaged):
    """The state after so many epochs, also where there was nothing left to learn."""
    examples = problem.examples(kernel)
    optimizer = DualPerceptron(averaged, problem.seed)
    state = optimizer.start(examples, np.zeros(problem.labels**2))
    for _ in range(epochs):
        state = optimizer.step(examples, state)
    return state


def unpacked(state, problem):
    """Coefficients [tokens, labels] and transitions."""
    found = Coefficients.of_vector(state.theta, problem.labels, len(problem.tokens))
    rows = np.zeros(len(problem.tokens) * problem.labels)
    rows[found.codes] = found.values
    return rows.reshape(-1, problem.labels), found.transitions


@given(problems(), kernels, st.integers(1, EPOCHS))
def test_the_coefficients_are_those_of_the_plain_algorithm(problem, kernel, epochs):
    rows, transitions = unpacked(trained(problem, kernel, epochs, averaged=False), problem)
    expected, moves = learn_in_the_dual(problem, kernel, epochs)[-1]
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(transitions, moves)


@given(problems(), kernels, st.integers(1, EPOCHS))
def test_averaged_they_are_the_mean_over_all_visits(problem, kernel, epochs):
    rows, transitions = unpacked(trained(problem, kernel, epochs, averaged=True), problem)
    expected, moves = mean(learn_in_the_dual(problem, kernel, epochs))
    np.testing.assert_allclose(rows, expected, atol=1e-12)
    np.testing.assert_allclose(transitions, moves, atol=1e-12)


@pytest.mark.parametrize("averaged", [False, True])
@given(problem=problems(), epochs=st.integers(1, EPOCHS))
def test_a_linear_kernel_is_the_perceptron_with_weights(averaged, problem, epochs):
    rows, transitions = unpacked(trained(problem, Polynomial(1, 0.0, 1.0), epochs, averaged), problem)
    history = learn_in_the_primal(problem, epochs)
    weights, moves = mean(history) if averaged else history[-1]
    vectors = np.array([dense(token) for token in problem.tokens]).reshape(-1, ATTRIBUTES)
    np.testing.assert_allclose(vectors.T @ rows, weights, atol=1e-12)
    np.testing.assert_allclose(transitions, moves, atol=1e-12)


@given(problems(), kernels)
def test_what_is_reported_of_an_epoch(problem, kernel):
    history = [(0, 0), *learn_in_the_dual(problem, kernel, 2)]
    one, two = (trained(problem, kernel, epochs, averaged=False) for epochs in (1, 2))
    changes = [np.abs(np.asarray(b[0]) - a[0]).sum() / 2 for a, b in pairwise(history)]
    half = len(problem.sentences)
    assert (one.gradient_norm, two.gradient_norm) == (sum(changes[:half]), sum(changes[half:]))
    assert two.converged == (two.gradient_norm == 0)
    assert two.value >= 0.0
    assert (two.iteration, two.evaluations, two.products, two.stuck) == (2, 2, 0, False)
    rows, transitions = unpacked(two, problem)
    assert two.active == np.count_nonzero(rows) + np.count_nonzero(transitions)


@given(problems(), kernels)
def test_a_step_leaves_its_state_as_it_was(problem, kernel):
    examples, optimizer = problem.examples(kernel), DualPerceptron()
    state = optimizer.step(examples, optimizer.start(examples, np.zeros(problem.labels**2)))
    before = [array.copy() for array in arrays_of(state)]
    first = optimizer.step(examples, state)
    for array, copy in zip(arrays_of(state), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    for a, b in zip(arrays_of(first), arrays_of(optimizer.step(examples, state)), strict=True):
        np.testing.assert_array_equal(a, b)


def arrays_of(state):
    now = state.progression
    return state.theta, now.events.tokens, now.events.labels, now.events.visits, now.kept, now.transitions, now.sums


SMALL = Problem([[([(0, 1.0)], 0), ([(1, 1.0)], 1)], [([(1, 1.0)], 1)]], 2, 0)


def test_scores_that_no_number_can_hold_are_an_error():
    huge = Problem([[([(0, 1e200)], 1)], [([(0, 1e200)], 1)]], 2, 0)
    with pytest.raises(DataError, match=r"sentence \d: its scores are more than a number can hold"):
        trained(huge, Polynomial(2), 2, averaged=False)


class TestWhatACheckpointMayHold:
    def progression(self):
        return trained(SMALL, Polynomial(), 2, averaged=True).progression

    def test_that_of_a_training(self):
        SMALL.examples(Polynomial()).check(self.progression())

    @pytest.mark.parametrize(
        "change",
        [
            {"kept": np.zeros((3, 3))},
            {"transitions": np.zeros((3, 2))},
            {"sums": np.zeros((2, 2, 1))},
            {"epochs": -1},
            {"epochs": 0},
            {"events": Events(np.array([3], np.int32), np.array([0], np.uint16), np.array([1]))},
            {"events": Events(np.array([-1], np.int32), np.array([0], np.uint16), np.array([1]))},
            {"events": Events(np.array([1], np.int32), np.array([2], np.uint16), np.array([1]))},
            {"events": Events(np.array([1], np.int32), np.array([1], np.uint16), np.array([1]))},
            {"events": Events(np.array([1], np.int32), np.array([0], np.uint16), np.array([0]))},
            {"events": Events(np.array([1], np.int32), np.array([0], np.uint16), np.array([5]))},
            {"events": Events(np.array([1, 2], np.int32), np.array([0, 0], np.uint16), np.array([2, 1]))},
            {"events": Events(np.array([1, 2], np.int32), np.array([0], np.uint16), np.array([1]))},
            {"events": Events(np.array([[1]], np.int32), np.array([[0]], np.uint16), np.array([[1]]))},
        ],
    )
    def test_nothing_else(self, change):
        with pytest.raises(ValueError, match=r"shape|sizes|number|events"):
            SMALL.examples(Polynomial()).check(replace(self.progression(), **change))


class TestCoefficientsAsAVector:
    def test_and_back(self):
        found = Coefficients(np.array([1, 4]), np.array([0.5, -0.5]), np.array([[0.0, 1.0], [2.0, 3.0]]))
        again = Coefficients.of_vector(found.vector, 2, 3)
        np.testing.assert_array_equal(again.codes, found.codes)
        np.testing.assert_array_equal(again.values, found.values)
        np.testing.assert_array_equal(again.transitions, found.transitions)
        assert Coefficients.active(found.vector, 2) == 5

    @pytest.mark.parametrize(
        "vector",
        [
            [0.0] * 3,
            [0.0] * 5,
            [0.0] * 4 + [6.0, 1.0],
            [0.0] * 4 + [-1.0, 1.0],
            [0.0] * 4 + [0.5, 1.0],
            [0.0] * 4 + [2.0, 1.0, 1.0, 1.0],
            [0.0] * 4 + [1.0, 1.0, 1.0, 1.0],
            [0.0] * 4 + [1.0, np.inf],
            [np.nan] * 4,
        ],
    )
    def test_of_something_else(self, vector):
        with pytest.raises(ValueError, match="coefficients"):
            Coefficients.of_vector(np.array(vector), 2, 3)
