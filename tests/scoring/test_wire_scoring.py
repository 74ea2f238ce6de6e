"""What is read on transitions: sums of weights times values for the pairs of each token, and the way back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.scoring import WeightLayout
from trellis.scoring.occurring import Occurring
from trellis.scoring.wires import ArcWireScoring

drawn = {
    "seed": st.integers(0, 2**32 - 1),
    "labels": st.integers(1, 4),
    "tokens": st.integers(0, 6),
    "has_all": st.booleans(),
}


class Problem:
    """Tokens with attributes, each of which has weights for all pairs of labels or for some."""

    def __init__(self, seed, labels, tokens, has_all):
        self.rng = np.random.default_rng(seed)
        attributes, cells = 3, labels * labels
        pairs = [np.flatnonzero(has_all | (self.rng.random(cells) < 0.5)) for _ in range(attributes)]
        none = np.zeros(0, np.int32)
        self.layout = WeightLayout(
            labels, np.zeros(1, np.int64), none, none, none,
            np.cumsum([0, *map(len, pairs)]).astype(np.int64), np.concatenate(pairs).astype(np.int32),
        )  # fmt: skip
        start = np.concatenate([[0], np.cumsum(self.rng.integers(0, 4, tokens))]).astype(np.int64)
        ids = self.rng.integers(0, attributes, start[-1]).astype(np.int32)
        self.occurring = Occurring(start, ids, self.rng.normal(size=len(ids)))
        self.scoring = ArcWireScoring(self.layout)
        self.weights = self.rng.normal(size=self.scoring.size)

    def dense(self, weights, values):
        """By a loop: F64[tokens, labels, labels]."""
        at, layout = self.occurring, self.layout
        out = np.zeros((len(at.start) - 1, layout.labels, layout.labels))
        for t in range(len(out)):
            for k in range(at.start[t], at.start[t + 1]):
                for p in range(layout.arc_start[at.ids[k]], layout.arc_start[at.ids[k] + 1]):
                    i, j = divmod(int(layout.arc_pair[p]), layout.labels)
                    out[t, i, j] += values[k] * weights[p]
        return out

    def spread(self, patches, numbers):
        """Numbers for the pairs of patches, as F64[tokens, labels, labels]."""
        out = np.zeros((len(self.occurring.start) - 1, self.layout.labels, self.layout.labels))
        for t in range(len(out)):
            for n in patches.ids[patches.indptr[t] : patches.indptr[t + 1]]:
                a, b = patches.start[n], patches.start[n + 1]
                out[t, patches.source[a:b], patches.target[a:b]] = numbers[a:b]
        return out


@given(**drawn)
def test_patches_are_sums_of_weights_times_values(**drawn):
    problem = Problem(**drawn)
    at = problem.occurring
    gathered = problem.scoring.gathered(problem.weights, at)
    found = problem.spread(gathered.patches, gathered.patches.weights)
    np.testing.assert_allclose(found, problem.dense(problem.weights, at.values), atol=1e-12)
    direction, change = problem.rng.normal(size=problem.scoring.size), problem.rng.normal(size=len(at.ids))
    along = problem.scoring.along(problem.weights, direction, change, gathered)
    expected = problem.dense(direction, at.values) + problem.dense(problem.weights, change)
    np.testing.assert_allclose(problem.spread(gathered.patches, along), expected, atol=1e-12)


@given(**drawn)
def test_the_way_back_is_the_transpose(**drawn):
    """<g, sums> for any g on pairs has the gradient that is handed back, in the weights and in the values."""
    problem = Problem(**drawn)
    at, scoring = problem.occurring, problem.scoring
    gathered = scoring.gathered(problem.weights, at)
    by_patch = problem.rng.normal(size=len(gathered.patches.weights))
    spread = problem.spread(gathered.patches, by_patch)
    scoring.begin()
    by_value = scoring.add(problem.weights, by_patch, gathered)
    for direction in problem.rng.normal(size=(3, scoring.size)):
        expected = np.sum(spread * problem.dense(direction, at.values))
        assert scoring.collected() @ direction == pytest.approx(expected, abs=1e-9)
    for change in problem.rng.normal(size=(3, len(at.ids))):
        expected = np.sum(spread * problem.dense(problem.weights, change))
        assert by_value @ change == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(scoring.by_value(problem.weights, by_patch, gathered), by_value, atol=1e-12)


@given(**{**drawn, "has_all": st.just(True)})
def test_rows_say_what_slots_say(**drawn):
    problem = Problem(**drawn)
    in_rows = problem.scoring
    in_slots = ArcWireScoring(replace(problem.layout))
    in_slots.are_rows = False
    assert in_rows.are_rows
    found = [one.gathered(problem.weights, problem.occurring) for one in (in_rows, in_slots)]
    assert found[0].slot is None
    assert found[1].slot is not None
    for name in ("indptr", "ids", "start", "source", "target"):
        np.testing.assert_array_equal(*(getattr(one.patches, name) for one in found))
    np.testing.assert_allclose(*(one.patches.weights for one in found), atol=1e-12)
