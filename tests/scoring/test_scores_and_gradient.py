"""Scores of (token, label) and their transpose equal sums over a dictionary of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.rows import PAD
from trellis.scoring import WeightLayout, plain_scores
from trellis.scoring.hybrid import HybridScoring


@dataclass
class Problem:
    """Tokens with attributes (-1: unknown), some of whose pairs with labels have a weight."""

    layout: WeightLayout
    weights: np.ndarray
    indptr: np.ndarray
    ids: np.ndarray
    values: np.ndarray | None

    @property
    def tokens(self):
        return len(self.indptr) - 1

    def occurrences(self):
        """(token, attribute, value) of what is known."""
        values = np.ones(len(self.ids)) if self.values is None else self.values
        token = np.repeat(np.arange(self.tokens), np.diff(self.indptr))
        return [(t, a, v) for t, a, v in zip(token, self.ids, values, strict=True) if a >= 0]

    def scores(self):
        """By a dictionary: (attribute, label) -> weight."""
        start, label = self.layout.pair_start, self.layout.pair_label
        table = {
            (a, int(label[p])): self.weights[p]
            for a in range(self.layout.attributes)
            for p in range(start[a], start[a + 1])
        }
        out = np.zeros((self.tokens, self.layout.labels))
        for t, a, value in self.occurrences():
            for j in range(self.layout.labels):
                out[t, j] += value * table.get((a, j), 0.0)
        return out


def make_problem(seed, labels, valued, density):
    rng = np.random.default_rng(seed)
    attributes = int(rng.integers(1, 12))
    has = rng.random((attributes, labels)) < density * rng.random((attributes, 1))
    start = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int64)
    source, target = np.nonzero(rng.random((labels, labels)) < 0.5)
    layout = WeightLayout(
        labels, start, np.nonzero(has)[1].astype(np.int32), source.astype(np.int32), target.astype(np.int32)
    )
    counts = rng.integers(0, 9, size=int(rng.integers(0, 8)))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    ids = rng.integers(-1, attributes, indptr[-1]).astype(np.int32)
    values = rng.normal(size=len(ids)) * 3 if valued else None
    return Problem(layout, rng.normal(size=layout.size), indptr, ids, values)


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 70),
    valued=st.booleans(),
    density=st.sampled_from([0.05, 1.0]),
)
near = {"rtol": 1e-12, "atol": 1e-12}


def hybrid_scores(problem, first=0, last=None):
    scoring = HybridScoring(problem.layout)
    last = problem.tokens if last is None else last
    at = scoring.bind(problem.indptr, problem.ids, problem.values)
    out = np.full((last - first, scoring.width), np.nan)
    scoring.scores(scoring.rows_of(problem.weights), problem.weights, at, first, last, out)
    return out


@given(problem=problems)
@example(problem=make_problem(0, labels=2, valued=True, density=1.0))
def test_all_ways_to_score_equal_the_dictionary(problem):
    expected = problem.scores()
    plain = plain_scores(problem.layout, problem.weights, problem.indptr, problem.ids, problem.values)
    np.testing.assert_allclose(plain, expected, **near)
    assert plain.shape == expected.shape
    np.testing.assert_allclose(hybrid_scores(problem)[:, : problem.layout.labels], expected, **near)
    scoring = HybridScoring(problem.layout)
    rows = scoring.rows_of(problem.weights)
    at_once = scoring.scores_of_packed(rows, problem.weights, problem.indptr, problem.ids, problem.values)
    np.testing.assert_allclose(at_once[:, : problem.layout.labels], expected, **near)
    assert np.all(at_once[:, problem.layout.labels :] == 0.0)


def test_values_count_where_no_attribute_has_a_row():
    """Two labels: every attribute's weights are kept singly."""
    layout = WeightLayout(2, np.array([0, 2]), np.array([0, 1], np.int32), *np.zeros((2, 0), np.int32))
    problem = Problem(layout, np.array([1.0, -2.0]), np.array([0, 1]), np.zeros(1, np.int32), np.array([5.0]))
    assert hybrid_scores(problem)[:, :2].tolist() == [[5.0, -10.0]]


@given(problem=problems)
def test_rows_are_padded_to_whole_vectors_with_forbidden_labels(problem):
    padding = hybrid_scores(problem)[:, problem.layout.labels :]
    assert padding.shape[1] == -problem.layout.labels % PAD
    assert np.all(padding == -np.inf)


@given(problem=problems, data=st.data())
def test_a_run_of_tokens_has_the_scores_it_has_in_the_whole(problem, data):
    first = data.draw(st.integers(0, problem.tokens))
    last = data.draw(st.integers(first, problem.tokens))
    np.testing.assert_array_equal(hybrid_scores(problem, first, last), hybrid_scores(problem)[first:last])


@given(problem=problems, seed=st.integers(0, 1000), data=st.data())
@example(problem=make_problem(0, labels=2, valued=True, density=1.0), seed=0, data=None)
def test_the_gradient_is_the_transpose(problem, seed, data):
    """<S(w), D> = <w, S'(D)> for every D, whatever stands in the padding."""
    rng = np.random.default_rng(seed)
    scoring, labels = HybridScoring(problem.layout), problem.layout.labels
    cut = problem.tokens // 2 if data is None else data.draw(st.integers(0, problem.tokens))
    delta = rng.normal(size=(problem.tokens, scoring.width))
    at = scoring.bind(problem.indptr, problem.ids, problem.values)
    rows, gradient = np.zeros((scoring.rows, scoring.width)), np.zeros(problem.layout.size)
    scoring.add_gradient(delta[:cut], at, 0, cut, rows, gradient)
    scoring.add_gradient(delta[cut:], at, cut, problem.tokens, rows, gradient)
    scoring.collect(rows, gradient)
    assert np.vdot(problem.weights, gradient) == pytest.approx(
        np.vdot(problem.scores(), delta[:, :labels]), rel=1e-10, abs=1e-10
    )
    expected = np.zeros(problem.layout.size)
    for t, a, value in problem.occurrences():
        for p in range(problem.layout.pair_start[a], problem.layout.pair_start[a + 1]):
            expected[p] += value * delta[t, problem.layout.pair_label[p]]
    np.testing.assert_allclose(gradient, expected, **near)


@given(problem=problems, seed=st.integers(0, 1000))
def test_rows_can_be_filled_again_for_other_weights(problem, seed):
    scoring = HybridScoring(problem.layout)
    used = scoring.rows_of(np.random.default_rng(seed).normal(size=problem.layout.size))
    np.testing.assert_array_equal(scoring.rows_of(problem.weights, used), scoring.rows_of(problem.weights))
