"""Chains over allowed labels answer as the full lattice does with -inf for what is not allowed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from enumeration import EnumeratedChain
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.lattice import Allowed, Chain, RestrictedWorkChain

SCALES = [0.0, 1.0, 8.0, 300.0, 1e4]


@dataclass
class Problem:
    scores: np.ndarray  # of all labels
    transitions: np.ndarray
    offsets: np.ndarray
    allowed: Allowed

    @property
    def chain(self):
        return RestrictedWorkChain(self.scores[self.allowed.mask()], self.allowed, self.transitions, self.offsets)

    @property
    def masked(self):
        return np.where(self.allowed.mask(), self.scores, -np.inf)

    @property
    def tolerance(self):
        finite = np.concatenate([self.scores.ravel(), self.transitions[np.isfinite(self.transitions)], [1.0]])
        return 1e-14 * max(100.0, 20 * np.abs(finite[np.isfinite(finite)]).max())

    def sentences(self):
        masked = self.masked
        for s, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            yield s, a, b, EnumeratedChain(masked[a:b], lambda t: self.transitions)

    def spread_out(self, places):
        """F64[places] as F64[tokens, labels], 0 where nothing is allowed."""
        out = np.zeros(self.scores.shape)
        out[self.allowed.mask()] = places
        return out


def random_sets(rng, tokens, labels, share):
    """Some tokens with one label, some with a few, some with all."""
    lists = [np.arange(labels)]
    lists += [np.flatnonzero(rng.random(labels) < share) for _ in range(4)]
    lists += [rng.integers(labels, size=1)]
    lists = [labels for labels in lists if len(labels)]
    start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    which = rng.integers(0, len(lists), tokens).astype(np.int32)
    return Allowed(which, start, np.concatenate(lists).astype(np.int32))


def make_problem(seed, labels, lengths, score_scale=1.0, transition_scale=1.0, ties=False, forbid=False, share=0.5):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    scores = rng.normal(size=(offsets[-1], labels)) * score_scale
    transitions = rng.normal(size=(labels, labels)) * transition_scale
    if ties:
        scores, transitions = np.round(scores), np.round(transitions)
    if forbid:
        transitions[rng.random(transitions.shape) < 0.3] = -np.inf
    return Problem(scores, transitions, offsets, random_sets(rng, int(offsets[-1]), labels, share))


problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 5), max_size=4),
    score_scale=st.sampled_from(SCALES),
    transition_scale=st.sampled_from(SCALES),
    ties=st.booleans(),
    forbid=st.booleans(),
)


@settings(max_examples=300)
@given(problem=problems)
def test_partition_and_marginals(problem):
    answer = problem.chain.marginals()
    nodes, near = problem.spread_out(answer.nodes), {"atol": problem.tolerance, "rtol": 0}
    arcs = np.zeros_like(problem.transitions)
    for s, a, b, one in problem.sentences():
        if one.scores.max() == -np.inf:
            assert answer.log_z[s] == -np.inf
            continue
        assert answer.log_z[s] == pytest.approx(one.log_z, abs=problem.tolerance, rel=1e-12)
        np.testing.assert_allclose(nodes[a:b], one.nodes(), **near)
        arcs += one.arcs().sum(axis=0)
    np.testing.assert_allclose(answer.arcs, arcs, **near)


@settings(max_examples=300)
@given(problem=problems)
def test_the_best_path_is_the_one_of_the_full_lattice_also_among_equals(problem):
    paths, totals = problem.chain.best()
    legal = [one.scores.max() > -np.inf for *_, one in problem.sentences()]
    for (_, _, _, one), total in zip(problem.sentences(), totals, strict=True):
        assert total == pytest.approx(one.scores.max(), abs=problem.tolerance, rel=1e-12)
    if all(legal):
        np.testing.assert_array_equal(paths, Chain(problem.masked, problem.transitions, problem.offsets).best()[0])
        assert problem.allowed.first_outside(paths) is None


@given(problem=problems, data=st.data())
def test_scores_of_paths_and_what_is_left_of_the_marginals(problem, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    path = np.array([rng.choice(np.flatnonzero(row)) for row in problem.allowed.mask()], np.int32)
    expected = Chain(problem.scores, problem.transitions, problem.offsets).path_scores(path)
    chain = problem.chain
    np.testing.assert_allclose(chain.path_scores(path), expected, rtol=1e-12, atol=problem.tolerance)
    before, answer = problem.chain.marginals(), chain.marginals()
    chain.subtract_path(answer, path)
    taken = problem.spread_out(before.nodes - answer.nodes)
    np.testing.assert_allclose(taken, np.eye(problem.scores.shape[1])[path].reshape(taken.shape), atol=1e-12)
    arcs = np.zeros_like(answer.arcs)
    for a, b in pairwise(problem.offsets):
        np.add.at(arcs, (path[a : b - 1], path[a + 1 : b]) if b > a else ([], []), 1.0)
    np.testing.assert_allclose(before.arcs - answer.arcs, arcs, atol=1e-12)


def test_a_path_that_is_not_allowed_scores_minus_infinity():
    allowed = Allowed(np.array([0, 1], np.int32), np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    chain = RestrictedWorkChain(np.array([1.0, 2.0, 4.0]), allowed, np.zeros((2, 2)), np.array([0, 2]))
    assert chain.path_scores(np.array([0, 1], np.int32)).tolist() == [5.0]
    assert chain.path_scores(np.array([0, 0], np.int32)).tolist() == [-np.inf]


def test_a_label_that_is_not_allowed_has_no_probability_and_no_place():
    allowed = Allowed(np.array([0, 1], np.int32), np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    solved = RestrictedWorkChain(np.zeros(3), allowed, np.zeros((2, 2)), np.array([0, 2])).solve()
    outside = np.array([0, 0], np.int32)
    assert solved.on_path(solved.expected()[0], outside).tolist() == [0.5, 0.0]
    assert solved.path_nodes(np.array([3.0, 4.0]), outside).tolist() == [3.0, 0.0, 0.0]
    assert solved.covariance_on(np.array([1.0, 0.0, 0.0]), None, outside).tolist() == [0.25, 0.0]


@given(problem=problems)
def test_the_score_of_a_token_without_a_choice_changes_only_log_z(problem):
    chain, fixed = problem.chain, np.repeat(~problem.allowed.open, problem.allowed.counts)
    before = chain.marginals()
    sums = np.add.reduceat(np.append(chain.scores * fixed, 0.0), problem.allowed.places[problem.offsets[:-1]])
    sums *= np.diff(problem.offsets) > 0
    chain.scores[fixed] = 0.0
    after = chain.marginals()
    if not np.isfinite(before.log_z).all():
        return
    np.testing.assert_allclose(after.log_z, before.log_z - sums, rtol=1e-11, atol=10 * problem.tolerance)
    np.testing.assert_allclose(after.nodes, before.nodes, atol=problem.tolerance)
    np.testing.assert_allclose(after.arcs, before.arcs, atol=problem.tolerance)


@pytest.mark.parametrize("labels", [5, 9, 49])
@pytest.mark.parametrize("forbid", [False, True])
def test_more_labels_and_longer_sentences_equal_the_full_lattice(labels, forbid):
    problem = make_problem(labels, labels, [30, 0, 1, 7, 120], 3.0, 1.0, share=0.2)
    if forbid:  # but not on one path of each sentence, so that there is one
        rng = np.random.default_rng(0)
        path = np.array([rng.choice(np.flatnonzero(row)) for row in problem.allowed.mask()])
        off = rng.random((labels, labels)) < 0.2
        off[path[:-1], path[1:]] = False
        problem.transitions[off] = -np.inf
    full = Chain(problem.masked, problem.transitions, problem.offsets)
    answer, expected = problem.chain.marginals(), full.marginals(arcs=True)
    np.testing.assert_allclose(answer.log_z, expected.log_z, rtol=1e-12)
    np.testing.assert_allclose(problem.spread_out(answer.nodes), expected.nodes, atol=1e-12)
    np.testing.assert_allclose(answer.arcs, expected.arcs, atol=1e-11)
    np.testing.assert_array_equal(problem.chain.best()[0], full.best()[0])


@pytest.mark.parametrize("size", [1e4, -800.0, 1e100, 1e300])
@pytest.mark.parametrize("where", ["score", "transition"])
def test_extreme_scores_stay_finite_and_exact(size, where):
    """One sentence goes through the log domain, its neighbours do not."""
    for seed in range(5):
        problem = make_problem(seed, 4, [5, 3, 5])
        if where == "score":
            problem.scores[6] = [size, 0.0, 1.0, 2.0]
        else:
            problem.transitions[1, 2] = size
        answer = problem.chain.marginals()
        for s, a, b, one in problem.sentences():
            assert answer.log_z[s] == pytest.approx(one.log_z, rel=1e-12, abs=1e-10)
            np.testing.assert_allclose(problem.spread_out(answer.nodes)[a:b], one.nodes(), atol=problem.tolerance)


def test_two_strands_that_never_meet_and_take_turns_in_underflowing():
    length = 60
    scores = np.zeros((length, 3))
    scores[:8, 0] = scores[-8:, 0] = -100.0
    scores[8:-8, 1] = -50.0
    transitions = np.array([[0.0, -np.inf, 0.0], [-np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]])
    allowed = Allowed(np.ones(length, np.int32), np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1], np.int32))
    answer = Problem(scores, transitions, np.array([0, length]), allowed).chain.marginals()
    assert answer.log_z[0] == pytest.approx(-1600.0)
    np.testing.assert_allclose(answer.nodes.reshape(-1, 2)[:, 0], 1.0)


def test_no_sentence_at_all():
    chain = make_problem(0, 3, []).chain
    assert chain.best()[0].shape == (0,)
    assert chain.marginals().arcs.sum() == 0.0
    assert chain.path_scores(np.zeros(0, np.int32)).shape == (0,)
