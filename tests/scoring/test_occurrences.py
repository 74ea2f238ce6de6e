"""Occurrences as the loops read them, whatever numbers they need, and wherever they are cut."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest

from trellis.rows import zero_rows
from trellis.scoring import hybrid, observed_layout, plain_scores
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.occurrences import RUN


def make(labels, tokens=150, attributes=40, each=5, seed=0):
    rng = np.random.default_rng(seed)
    indptr = np.arange(tokens + 1, dtype=np.int64) * each
    ids = rng.integers(attributes, size=tokens * each).astype(np.int32)
    gold = rng.integers(labels, size=tokens).astype(np.int32)
    layout = observed_layout(indptr, ids, gold, np.array([0, tokens]), attributes, labels)
    return HybridScoring(layout, np.bincount(ids, minlength=attributes)), layout, indptr, ids


def answers(scoring, at, theta, delta, cuts):
    """Scores and gradient, from piece to piece."""
    rows, pieces = scoring.rows_of(theta, None, at), []
    row_gradient, gradient = zero_rows(scoring.rows_with(at), scoring.width), np.zeros(scoring.layout.size)
    for a, b in itertools.pairwise(cuts):
        pieces.append(np.empty((b - a, scoring.width)))
        scoring.scores(rows, theta, at, a, b, pieces[-1])
        scoring.add_gradient(delta[a:b].copy(), at, a, b, row_gradient, gradient)
    scoring.collect(row_gradient, gradient, at)
    return np.concatenate(pieces)[:, : scoring.layout.labels], gradient


@pytest.mark.parametrize("labels", [5, 22, 300, 1100])
def test_scores_and_gradient_for_any_number_of_labels_and_any_cuts(labels):
    scoring, layout, indptr, ids = make(labels)
    rng = np.random.default_rng(1)
    theta, delta = rng.normal(size=layout.size), rng.normal(size=(len(indptr) - 1, scoring.width))
    at = scoring.bind(indptr, ids, None)
    assert at.cell.dtype == (np.uint16 if scoring.width <= 1024 else np.int32)
    scores, gradient = answers(scoring, at, theta, delta, [0, len(delta)])
    np.testing.assert_allclose(scores, plain_scores(layout, theta, indptr, ids, None), atol=1e-12)
    for cuts in ([0, 3, 7, 64, 65, 127, 130, 150], [0, 1, 63, 150], list(range(0, 151, 10))):
        found, sums = answers(scoring, at, theta, delta, cuts)
        np.testing.assert_array_equal(found, scores)
        np.testing.assert_allclose(sums, gradient, atol=1e-12)


@pytest.mark.parametrize("labels", [5, 300, 1100])
def test_by_token_each_single_weight_is_where_it_was(labels):
    scoring, layout, indptr, ids = make(labels)
    at = scoring.bind(indptr, ids, None)
    flat = at.by_token()
    token = np.repeat(np.arange(at.tokens), np.diff(flat.sparse))
    np.testing.assert_array_equal(layout.pair_label[flat.pair], flat.label)
    np.testing.assert_array_equal((token % RUN) * scoring.width + flat.label, at.cell)
    assert len(at.run) == -(-at.tokens // RUN) + 1


def test_numbers_of_many_rows_take_four_bytes_and_say_the_same():
    scoring, layout, indptr, ids = make(5)
    few = scoring.bind(indptr, ids, None)
    with mock.patch.object(hybrid, "_MANY", 1):
        many = scoring.bind(indptr, ids, None)
    assert (few.row.dtype, many.row.dtype) == (np.uint16, np.int32)
    theta, delta = np.random.default_rng(0).normal(size=layout.size), np.ones((few.tokens, scoring.width))
    for one, other in zip(
        answers(scoring, few, theta, delta, [0, few.tokens]),
        answers(scoring, many, theta, delta, [0, few.tokens]),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_no_token_at_all():
    scoring, _, _, _ = make(5)
    at = scoring.bind(np.zeros(1, np.int64), np.zeros(0, np.int32), None)
    assert (at.tokens, at.run.tolist(), at.by_token().sparse.tolist()) == (0, [0], [0])
