"""Attributes that come together are added up once, which changes no score and no gradient."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.rows import zero_rows
from trellis.scoring import observed_layout
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.sharing import find_shared


def tags_and_words(seed, tokens=400, tags=5, words=60):
    """Windows of tags and their triples, which determine them, and words, which determine an ending each: packed."""
    rng = np.random.default_rng(seed)
    tag, word = rng.integers(tags, size=tokens + 2), rng.integers(words, size=tokens)
    a, b, c = tag[:-2], tag[1:-1], tag[2:]
    columns = [a, b, c, (a * tags + b) * tags + c, word, word // 7]
    sizes = np.cumsum([0, tags, tags, tags, tags**3, words])
    ids = np.stack([column + first for column, first in zip(columns, sizes, strict=True)], axis=1).astype(np.int32)
    attributes = int(sizes[-1]) + words // 7 + 1
    return np.arange(tokens + 1, dtype=np.int64) * ids.shape[1], ids.ravel(), attributes


def in_full(indptr, ids, shared, attributes):
    """The attributes of each token, those of its groups among them."""
    found = []
    for t in range(len(indptr) - 1):
        own = []
        for number in shared.ids[shared.indptr[t] : shared.indptr[t + 1]].tolist():
            group = number - attributes
            there = slice(shared.group_indptr[group], shared.group_indptr[group + 1]) if group >= 0 else None
            own += [number] if there is None else shared.group_ids[there].tolist()
        found.append(sorted(own))
    return found


@given(seed=st.integers(0, 10**6), tags=st.integers(2, 6))
def test_tokens_have_what_they_had(seed, tags):
    indptr, ids, attributes = tags_and_words(seed, tags=tags)
    shared = find_shared(indptr, ids, attributes)
    assert shared is not None
    assert len(shared.ids) < len(ids)
    expected = [sorted(ids[a:b].tolist()) for a, b in pairwise(indptr)]
    assert in_full(indptr, ids, shared, attributes) == expected


def test_nothing_is_shared_where_templates_cannot_be_told_apart_or_nothing_repeats():
    indptr, ids, attributes = tags_and_words(0)
    ragged = indptr.copy()
    ragged[1] -= 1
    assert find_shared(ragged, ids, attributes) is None
    assert find_shared(np.zeros(1, np.int64), ids[:0], attributes) is None
    once = np.arange(60, dtype=np.int32)
    assert find_shared(np.arange(0, 61, 6, dtype=np.int64), once, 60) is None


@pytest.mark.parametrize("labels", [3, 9, 22])
@given(seed=st.integers(0, 10**6))
def test_scores_and_gradients_do_not_change(labels, seed):
    indptr, ids, attributes = tags_and_words(seed)
    tokens, rng = len(indptr) - 1, np.random.default_rng(seed)
    gold = rng.integers(labels, size=tokens).astype(np.int32)
    layout = observed_layout(indptr, ids, gold, np.array([0, tokens]), attributes, labels)
    scoring = HybridScoring(layout, np.bincount(ids, minlength=attributes))
    theta, delta = rng.normal(size=layout.size), rng.normal(size=(tokens, scoring.width))
    found = []
    for share in (False, True):
        at = scoring.bind(indptr, ids, None, share)
        rows, scores = scoring.rows_of(theta, None, at), np.empty((tokens, scoring.width))
        scoring.scores(rows, theta, at, 0, tokens, scores)
        row_gradient, gradient = zero_rows(scoring.rows_with(at), scoring.width), np.zeros(layout.size)
        scoring.add_gradient(delta, at, 0, tokens, row_gradient, gradient)
        scoring.collect(row_gradient, gradient, at)
        found.append((at, scores[:, :labels], gradient))
    (plain, scores, gradient), (shared, shared_scores, shared_gradient) = found
    assert plain.groups is None
    assert shared.groups is not None
    np.testing.assert_allclose(shared_scores, scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(shared_gradient, gradient, rtol=1e-11, atol=1e-11)
    plain, flat = plain.by_token(), shared.by_token()
    kinds = (flat.dense, flat.row, plain.dense, plain.row), (flat.sparse, flat.pair, plain.sparse, plain.pair)
    for a, b, wanted_a, wanted_b in kinds:
        np.testing.assert_array_equal(a, wanted_a)
        for t in range(tokens):
            assert sorted(b[a[t] : a[t + 1]].tolist()) == sorted(wanted_b[a[t] : a[t + 1]].tolist())
