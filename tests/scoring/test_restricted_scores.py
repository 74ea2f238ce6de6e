"""Scores of allowed labels are the scores of all labels, where allowed; tokens without a choice have none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.lattice import Allowed
from trellis.scoring import WeightLayout, observed_layout, plain_scores
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.restricted import RestrictedScoring, allowed_scores_of_packed


@dataclass
class Problem:
    layout: WeightLayout
    weights: np.ndarray
    indptr: np.ndarray
    ids: np.ndarray
    values: np.ndarray | None
    gold: np.ndarray
    allowed: Allowed

    @property
    def packed(self):
        return self.indptr, self.ids, self.values

    def expected(self):
        """F64[places] by way of the scores of all labels."""
        scores = plain_scores(self.layout, self.weights, *self.packed)
        return (scores * self.allowed.open[:, None])[self.allowed.mask()]


def make_problem(seed, labels, valued=False, unknown=False):
    rng = np.random.default_rng(seed)
    attributes, tokens = int(rng.integers(1, 12)), int(rng.integers(0, 9))
    lists = [np.arange(labels), rng.integers(labels, size=1)]
    lists += [np.flatnonzero(rng.random(labels) < share) for share in (0.1, 0.5)]
    lists = [each for each in lists if len(each)]
    which = rng.integers(0, len(lists), tokens).astype(np.int32)
    allowed = Allowed(which, np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(np.int32))
    gold = np.array([rng.choice(lists[k]) for k in which], np.int32)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, tokens))]).astype(np.int64)
    ids = rng.integers(-1 if unknown else 0, attributes, indptr[-1]).astype(np.int32)
    has = rng.random((attributes, labels)) < rng.random((attributes, 1))
    start = np.concatenate([[0], np.cumsum(has.sum(axis=1))]).astype(np.int64)
    layout = WeightLayout(labels, start, np.nonzero(has)[1].astype(np.int32), *np.zeros((2, 0), np.int32))
    values = rng.normal(size=len(ids)) if valued else None
    return Problem(layout, rng.normal(size=layout.size), indptr, ids, values, gold, allowed)


kinds = {"seed": st.integers(0, 2**32 - 1), "labels": st.sampled_from([1, 2, 5, 33, 70]), "valued": st.booleans()}
near = {"rtol": 1e-12, "atol": 1e-12}


@given(problem=st.builds(make_problem, **kinds), data=st.data())
def test_scores_of_a_run_of_tokens(problem, data):
    scoring = RestrictedScoring(problem.layout, problem.allowed, *problem.packed)
    first = data.draw(st.integers(0, len(problem.gold)))
    last = data.draw(st.integers(first, len(problem.gold)))
    begin, end = problem.allowed.places[[first, last]]
    out, weights = np.full(end - begin, np.nan), problem.weights[scoring.index]
    scoring.scores(weights, scoring.rows_of(weights), first, last, out)
    np.testing.assert_allclose(out, problem.expected()[begin:end], **near)


@given(problem=st.builds(make_problem, **kinds), seed=st.integers(0, 1000), data=st.data())
def test_the_gradient_is_the_transpose(problem, seed, data):
    """<S(w), D> = <w, S'(D)> for every D, also when memory is used again."""
    scoring = RestrictedScoring(problem.layout, problem.allowed, *problem.packed)
    weights, rng = problem.weights[scoring.index], np.random.default_rng(seed)
    tokens = len(problem.gold)
    cut = data.draw(st.integers(0, tokens))
    middle = problem.allowed.places[cut]
    for _ in range(2):
        delta, gradient = rng.normal(size=len(problem.expected())), np.zeros(len(scoring.index))
        scoring.begin()
        scoring.add_gradient(delta[:middle], 0, cut, gradient)
        scoring.add_gradient(delta[middle:], cut, tokens, gradient)
        scoring.collect(gradient)
        assert np.vdot(weights, gradient) == pytest.approx(np.vdot(problem.expected(), delta), rel=1e-10, abs=1e-10)


@given(problem=st.builds(make_problem, **kinds, unknown=st.booleans()))
def test_scores_straight_from_packed_attributes(problem):
    scoring = HybridScoring(problem.layout)
    rows = scoring.rows_of(problem.weights)
    found = allowed_scores_of_packed(scoring, rows, problem.weights, *problem.packed, problem.allowed)
    np.testing.assert_allclose(found, problem.expected(), **near)


@given(problem=st.builds(make_problem, **kinds))
def test_pairs_are_those_seen_where_there_is_a_choice(problem):
    offsets = np.array([0, len(problem.gold)])
    sizes = problem.layout.attributes, problem.layout.labels
    data = (problem.indptr, problem.ids, problem.gold, offsets, *sizes)
    layout = observed_layout(*data, allowed=problem.allowed)
    attribute = np.repeat(np.arange(layout.attributes), np.diff(layout.pair_start))
    expected = {
        (int(a), int(problem.gold[t]))
        for t in np.flatnonzero(problem.allowed.open)
        for a in problem.ids[problem.indptr[t] : problem.indptr[t + 1]]
    }
    assert list(zip(attribute.tolist(), layout.pair_label.tolist(), strict=True)) == sorted(expected)
    whole = observed_layout(*data)
    np.testing.assert_array_equal((layout.source, layout.target), (whole.source, whole.target))
    np.testing.assert_array_equal(
        observed_layout(*data, all_pairs=True, allowed=problem.allowed).pair_label,
        observed_layout(*data, all_pairs=True).pair_label,
    )
