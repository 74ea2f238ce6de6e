"""Patterns of votes, and voters: compiled, plain, and as they are defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trellis.weak.patterns import Patterns, unique_rows
from trellis.weak.voters import Voters, counted, scored

VALUES = arrays(np.int32, st.tuples(st.integers(0, 12), st.integers(1, 4)), elements=st.integers(-1, 2))


@given(VALUES)
def test_patterns_are_the_different_rows_in_order(values):
    patterns = Patterns.of_votes(values)
    assert [tuple(row) for row in patterns.rows.tolist()] == sorted({tuple(row) for row in values.tolist()})
    assert (patterns.rows[patterns.of] == values).all()
    assert patterns.counts.sum() == len(values)


@pytest.mark.parametrize("way", ["plain", "compiled"])
@given(values=VALUES, seed=st.integers(0, 1000))
def test_rows_of_tokens_are_added_up_by_pattern(way, values, seed, computing):
    nodes = np.random.default_rng(seed).random((len(values), 2))
    with computing(way):
        patterns = Patterns.of_votes(values)
        sums = patterns.sums(nodes)
    expected = np.zeros((len(patterns.rows), 2))
    np.add.at(expected, patterns.of, nodes)
    assert np.allclose(sums, expected)


def test_many_columns_do_not_fit_into_one_number():
    rng = np.random.default_rng(0)
    values = rng.integers(-1, 50, (200, 40)).astype(np.int32)
    rows, of = unique_rows(np.concatenate([values, values]))
    assert len(rows) == 200
    assert (rows[of] == np.concatenate([values, values])).all()


@pytest.mark.parametrize("way", ["plain", "compiled"])
@given(values=VALUES, seed=st.integers(0, 1000), grouped=st.booleans())
def test_counts_and_scores_are_sums_over_voters(way, values, seed, grouped, computing):
    functions = values.shape[1]
    groups = (
        [[0, 1], *([j] for j in range(2, functions))] if grouped and functions > 1 else [[j] for j in range(functions)]
    )
    voters = Voters.of(groups, values, 3)
    rng = np.random.default_rng(seed)
    weights, logs = rng.random((len(values), 2)), rng.normal(size=(voters.outcomes, 2))
    with computing(way):
        cast = voters.cast(values)
        counts, scores = counted(cast, weights, voters.outcomes), scored(cast, logs)
    expected, added = np.zeros((voters.outcomes, 2)), np.zeros((len(values), 2))
    for p, row in enumerate(values):
        for v, group in enumerate(groups):
            outcome = next(r for r, own in enumerate(voters.joint[v].tolist()) if own == row[group].tolist())
            expected[voters.first[v] + outcome] += weights[p]
            added[p] += logs[voters.first[v] + outcome]
    assert np.allclose(counts, expected)
    assert np.allclose(scores, added)


@pytest.mark.parametrize("way", ["plain", "compiled"])
def test_what_was_never_seen_adds_nothing(way, computing):
    voters = Voters.of([[0, 1]], np.array([[0, 0], [1, 1]], np.int32), 2)
    with computing(way):
        cast = voters.cast(np.array([[0, 1], [1, 1]], np.int32))
        assert cast.tolist() == [[-1], [1]]
        assert scored(cast, np.array([[1.0], [2.0]])).tolist() == [[0.0], [2.0]]


def test_shares_sum_to_one_for_each_voter():
    voters = Voters.of([[0], [1]], np.array([[0, 0]], np.int32), 2)
    shares = voters.shares(np.arange(1.0, 13.0).reshape(6, 2))
    assert np.allclose(np.add.reduceat(shares, voters.first[:-1], axis=0), 1.0)
