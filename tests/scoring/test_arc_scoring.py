"""Arc attributes: what they add to transitions, and which tokens have them in common."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.lattice import Chain, WorkChain
from trellis.rows import PAD, padded
from trellis.scoring import WeightLayout, plain_transitions, with_observed_arcs
from trellis.scoring import arcs as scoring_arcs
from trellis.scoring.arcs import ArcChains, ArcOccurrences, patches_of


@dataclass
class Problem:
    """Tokens with arc attributes (-1: unknown), some of whose label pairs have a weight."""

    layout: WeightLayout
    weights: np.ndarray
    offsets: np.ndarray
    indptr: np.ndarray
    ids: np.ndarray
    values: np.ndarray | None

    @property
    def packed(self):
        return self.indptr, self.ids, self.values

    @property
    def tokens(self):
        return len(self.indptr) - 1

    def blocks(self):
        """By a dictionary: (attribute, i, j) -> weight."""
        layout = self.layout
        base = layout.transition_matrix(self.weights[layout.pairs : layout.arcs_at])
        values = np.ones(len(self.ids)) if self.values is None else self.values
        out = np.tile(base, (self.tokens, 1, 1))
        for t in range(self.tokens):
            for k in range(self.indptr[t], self.indptr[t + 1]):
                a = self.ids[k]
                for p in range(layout.arc_start[a], layout.arc_start[a + 1]) if a >= 0 else ():
                    i, j = divmod(int(layout.arc_pair[p]), layout.labels)
                    out[t, i, j] += values[k] * self.weights[layout.arcs_at + p]
        return out

    def chains(self):
        return ArcChains(self.layout.labels, ArcOccurrences.effective(*self.packed, self.offsets))


def make_problem(seed, labels, lengths, valued):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    attributes = int(rng.integers(1, 5))
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, offsets[-1]))]).astype(np.int64)
    ids = rng.integers(-1, attributes, indptr[-1]).astype(np.int32)
    gold = rng.integers(0, labels, offsets[-1]).astype(np.int32)
    source, target = (side.astype(np.int32) for side in np.nonzero(rng.random((labels, labels)) < 0.5))
    layout = WeightLayout(labels, np.zeros(1, np.int64), np.zeros(0, np.int32), source, target)
    layout = with_observed_arcs(layout, indptr, ids, gold, offsets, attributes)
    values = rng.normal(size=len(ids)) if valued else None
    return Problem(layout, rng.normal(size=layout.size), offsets, indptr, ids, values)


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 9),
    lengths=st.lists(st.integers(0, 5), max_size=5),
    valued=st.booleans(),
)


@pytest.fixture(params=[1, 3], autouse=True)
def often(request, monkeypatch):
    monkeypatch.setattr("trellis.scoring.arcs._OFTEN", request.param)


@given(problem=problems, data=st.data())
def test_plain_transitions_equal_the_dictionary(problem, data):
    first = data.draw(st.integers(0, problem.tokens))
    last = data.draw(st.integers(first, problem.tokens))
    found = plain_transitions(problem.layout, problem.weights, *problem.packed, first, last)
    assert found.shape == (last - first, problem.layout.labels, problem.layout.labels)
    np.testing.assert_allclose(found, problem.blocks()[first:last], rtol=1e-12, atol=1e-12)


@given(problem=problems, data=st.data())
def test_a_run_of_tokens_has_the_marginals_of_the_transitions_written_out(problem, data):
    """And the gradient is the transpose of writing them out."""
    layout, labels = problem.layout, problem.layout.labels
    first = data.draw(st.integers(0, len(problem.offsets) - 1))
    last = data.draw(st.integers(first, len(problem.offsets) - 1))
    a, b = int(problem.offsets[first]), int(problem.offsets[last])
    offsets = problem.offsets[first : last + 1] - a
    scores = np.full((b - a, padded(labels)), -np.inf)
    scores[:, :labels] = np.random.default_rng(0).normal(size=(b - a, labels))
    written = Chain(scores[:, :labels].copy(), problem.blocks()[a:b], offsets).marginals(arcs=True)
    transitions = layout.transition_matrix(problem.weights[layout.pairs : layout.arcs_at])
    gradient = np.zeros(len(layout.arc_pair))
    patches = patches_of(layout, problem.weights[layout.arcs_at :])
    patch = problem.chains().patching(patches, transitions, gradient)
    answer = patch(WorkChain(scores, transitions, offsets, scores.copy), a, b).marginals()
    near = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(answer.nodes[:, :labels], written.nodes, **near)
    np.testing.assert_allclose(answer.log_z, written.log_z, **near)
    np.testing.assert_allclose(answer.arcs, written.arcs.sum(axis=0), **near)
    expected = np.zeros_like(gradient)
    for t in range(a, b):
        for k in range(problem.indptr[t], problem.indptr[t + 1]):
            here = slice(*layout.arc_start[problem.ids[k] : problem.ids[k] + 2]) if problem.ids[k] >= 0 else slice(0)
            value = 1.0 if problem.values is None else problem.values[k]
            expected[here] += value * written.arcs[t - a].ravel()[layout.arc_pair[here]]
    np.testing.assert_allclose(gradient, expected, **near)


@given(problem=problems, data=st.data())
def test_h_along_a_direction_is_what_the_direction_adds_to_the_transitions(problem, data):
    """The covariance pass, asked of sentences first..last, against the transitions written out along the direction."""
    layout, labels = problem.layout, problem.layout.labels
    first = data.draw(st.integers(0, len(problem.offsets) - 1))
    last = data.draw(st.integers(first, len(problem.offsets) - 1))
    a, b = int(problem.offsets[first]), int(problem.offsets[last])
    offsets, rng = problem.offsets[first : last + 1] - a, np.random.default_rng(1)
    scores = np.full((b - a, padded(labels)), -np.inf)
    scores[:, :labels] = rng.normal(size=(b - a, labels))
    along = replace(problem, weights=rng.normal(size=layout.size))
    node_h = rng.normal(size=(b - a, labels))
    written = Chain(scores[:, :labels].copy(), problem.blocks()[a:b], offsets).covariance(node_h, along.blocks()[a:b])

    chains, transitions = problem.chains(), layout.transition_matrix(problem.weights[layout.pairs : layout.arcs_at])
    weights = problem.weights[layout.arcs_at :].copy()
    patch = chains.patching(patches_of(layout, weights), transitions, None)
    solved = patch(WorkChain(scores, transitions, offsets, scores.copy), a, b).solve()
    weights[:] = np.nan  # theta has moved on
    matrix = layout.transition_matrix(along.weights[layout.pairs : layout.arcs_at])
    h = chains.arc_h(layout, matrix, along.weights[layout.arcs_at :])(a, b)
    answer = solved.covariance(np.pad(node_h, ((0, 0), (0, scores.shape[1] - labels))), h)
    near = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(answer.nodes[:, :labels], written.nodes, **near)
    np.testing.assert_allclose(answer.arcs, written.arcs.sum(axis=0), **near)
    np.testing.assert_allclose(answer.expectation, written.expectation, **near)


@given(problem=problems)
def test_tokens_of_one_kind_have_the_same_arc_attributes(problem):
    often = scoring_arcs._OFTEN
    chains, at = problem.chains(), problem.chains().at
    lists = [tuple(at.ids[at.indptr[t] : at.indptr[t + 1]].tolist()) for t in range(problem.tokens)]
    by_kind = {}
    for kind, found in zip(chains.kind.tolist(), lists, strict=True):
        by_kind.setdefault(kind, []).append(found)
    by_hand = by_kind.pop(-1, [])
    for kind, found in by_kind.items():
        assert len(set(found)) == 1
        assert (kind == 0) == (found[0] == ())
        assert kind == 0 or len(found) >= often
    if problem.values is None:
        assert all(by_hand.count(found) < often for found in by_hand)
    assert len({found[0] for found in by_kind.values()}) == len(by_kind)


def test_the_room_for_kinds_is_bounded_and_goes_to_the_most_frequent(monkeypatch):
    monkeypatch.setattr("trellis.scoring.arcs._READY", 2 * PAD * PAD)
    ids = np.array([0, 2, 1, 3, 2, 1, 2, 1, 3, 3, 2, 3, 3], np.int32)
    at = ArcOccurrences(np.arange(len(ids) + 1), ids, np.zeros(0))
    kind = ArcChains(3, at).kind
    assert [kind[np.flatnonzero(ids == a)[0]] for a in range(4)] == [-1, -1, 2, 1]


def test_very_many_arc_attributes_at_a_token():
    ids = np.tile(np.arange(40, dtype=np.int32), 6)
    at = ArcOccurrences(np.arange(0, 241, 40), ids, np.zeros(0))
    assert ArcChains(3, at).kind.tolist() == [-1] * 6
