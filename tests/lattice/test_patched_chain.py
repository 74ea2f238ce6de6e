"""Chains with patches on their transitions equal enumeration, and chains with the same transitions written out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from enumeration import EnumeratedChain
from hypothesis import given, settings
from hypothesis import strategies as st
from patching import gathered, kinds_of, random_patches, written_out

from trellis.lattice import Chain
from trellis.lattice.kernels.patches import Patches
from trellis.lattice.patched import PatchedChain, patched_best
from trellis.rows import padded


@dataclass
class Problem:
    """Scores F64[tokens, labels] and the patches; some tokens have `ready` factors."""

    scores: np.ndarray
    transitions: np.ndarray
    offsets: np.ndarray
    patches: Patches
    ready: bool
    gradient: np.ndarray = field(init=False)

    def __post_init__(self):
        self.gradient = np.zeros(len(self.patches.weights))

    @property
    def blocks(self):
        """The transitions into every token, written out."""
        return written_out(self.transitions, self.patches)

    def padded(self):
        tokens, labels = self.scores.shape
        out = np.full((tokens, padded(labels)), -np.inf)
        out[:, :labels] = self.scores
        return out

    def chain(self):
        scores = self.padded()
        return PatchedChain(
            scores, self.transitions, self.offsets, lambda: self.padded(), self.patches,
            kinds_of(self.patches, self.transitions, self.ready), self.gradient,
        )  # fmt: skip

    def enumerated(self):
        blocks = self.blocks
        return [EnumeratedChain(self.scores[a:b], lambda t, a=a: blocks[a + t]) for a, b in pairwise(self.offsets)]

    @property
    def tolerance(self):
        finite = np.concatenate([self.scores.ravel(), self.blocks.ravel(), [1.0]])
        return 1e-14 * max(100.0, 20 * np.abs(finite[np.isfinite(finite)]).max())


def make_problem(seed, labels, lengths, scales=(1.0, 1.0, 1.0), valued=False, ready=False, masks=False):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = int(offsets[-1])
    patches = random_patches(rng, tokens, labels, scales[2], valued)
    scores = rng.normal(size=(tokens, labels)) * scales[0]
    if masks:  # never all labels of a token
        scores[(rng.random(scores.shape) < 0.3) & (np.arange(labels) != rng.integers(0, labels, (tokens, 1)))] = -np.inf
    return Problem(scores, rng.normal(size=(labels, labels)) * scales[1], offsets, patches, ready)


scale = st.sampled_from([0.0, 1.0, 8.0, 100.0, 1e4])
problems = st.builds(
    make_problem,
    st.integers(0, 2**32 - 1),
    labels=st.integers(1, 5),
    lengths=st.lists(st.integers(0, 4), max_size=4),
    scales=st.tuples(scale, scale, scale),
    valued=st.booleans(),
    ready=st.booleans(),
    masks=st.booleans(),
)


@settings(max_examples=200)
@given(problem=problems)
def test_partition_and_marginals_equal_enumeration(problem):
    chain = problem.chain()
    answer = chain.marginals()
    labels = len(problem.transitions)
    near = {"atol": problem.tolerance, "rtol": 0}
    arcs = np.zeros((len(problem.scores), labels, labels))
    for s, (one, (a, b)) in enumerate(zip(problem.enumerated(), pairwise(problem.offsets), strict=True)):
        assert answer.log_z[s] == pytest.approx(one.log_z, abs=problem.tolerance, rel=1e-12)
        np.testing.assert_allclose(answer.nodes[a:b, :labels], one.nodes(), **near)
        arcs[a:b] = one.arcs()
    assert not answer.nodes[:, labels:].any()
    np.testing.assert_allclose(answer.arcs, arcs.sum(axis=0), **near)
    expected = gathered(problem.patches, arcs)
    np.testing.assert_allclose(problem.gradient, expected, atol=10 * problem.tolerance)


@given(problem=problems)
def test_asking_nothing_about_arcs_leaves_the_rest_as_it_is(problem):
    asked, silent = problem.chain(), problem.chain()
    silent.gradient = None
    expected, found = asked.marginals(), silent.marginals()
    assert found.nodes.tobytes() == expected.nodes.tobytes()
    assert found.log_z.tobytes() == expected.log_z.tobytes()


@given(problem=problems, seed=st.integers(0, 100))
def test_a_solved_chain_answers_about_nodes_and_transitions_also_when_nothing_is_asked_about_patches(problem, seed):
    rng = np.random.default_rng(seed)
    weights, h = rng.normal(size=len(problem.offsets) - 1), rng.normal(size=problem.padded().shape)
    path = rng.integers(0, len(problem.transitions), len(h)).astype(np.int32)
    answers = []
    for gradient in (problem.gradient, None):
        chain = problem.chain()
        chain.gradient = gradient
        solved = chain.solve()
        expected, covariance = solved.expected(weights), solved.covariance(h.copy(), None, weights)
        solved.subtract_path(*expected, path)
        parts = [*chain.path_gradient(path, path[::-1].copy(), weights), *expected, covariance.nodes, covariance.arcs]
        answers.append([part.tobytes() for part in parts])
    assert answers[0] == answers[1]


@given(problem=problems)
def test_best_paths_are_those_of_the_transitions_written_out(problem):
    written = Chain(problem.scores, problem.blocks, problem.offsets)
    paths = patched_best(problem.padded(), problem.transitions, problem.offsets, problem.patches)
    np.testing.assert_allclose(written.path_scores(paths), written.best()[1], atol=problem.tolerance, rtol=1e-12)


@given(problem=problems, seed=st.integers(0, 100))
def test_the_score_and_the_arcs_of_a_path(problem, seed):
    rng = np.random.default_rng(seed)
    labels = len(problem.transitions)
    path = rng.integers(0, labels, len(problem.scores)).astype(np.int32)
    written = Chain(problem.scores, problem.blocks, problem.offsets)
    chain = problem.chain()
    near = {"atol": problem.tolerance, "rtol": 1e-12}
    np.testing.assert_allclose(chain.path_scores(path), written.path_scores(path), **near)
    answer = chain.marginals()
    before = problem.gradient.copy()
    nodes, arcs = answer.nodes.copy(), answer.arcs.copy()
    chain.subtract_path(answer, path)
    np.testing.assert_array_equal(np.flatnonzero(nodes - answer.nodes), np.arange(len(path)) * nodes.shape[1] + path)
    assert (arcs - answer.arcs).sum() == pytest.approx(np.maximum(np.diff(problem.offsets) - 1, 0).sum())
    # the path's score is linear in the weights, and this is its slope
    slope = before - problem.gradient
    p = problem.patches
    bare = Chain(problem.scores, problem.transitions, problem.offsets).path_scores(path)
    if np.isfinite(bare).all():
        assert slope @ p.weights == pytest.approx(
            (written.path_scores(path) - bare).sum(), abs=100 * problem.tolerance, rel=1e-9
        )


@pytest.mark.parametrize("size", [340.0, 1e4, 1e300])
@pytest.mark.parametrize("valued", [False, True])
def test_sentences_with_extreme_patches_are_redone_and_the_others_are_not_touched(size, valued):
    problem = make_problem(3, 3, [4, 4, 4], valued=valued, ready=True)
    p = problem.patches
    marked = int(np.flatnonzero(np.diff(p.start))[0])
    ids = np.where(p.ids == marked, (marked + 1) % (len(p.start) - 1), p.ids).astype(np.int32)
    here = np.flatnonzero(np.diff(p.indptr) > 0)
    ids[p.indptr[here[(here > 4) & (here < 8)][0]]] = marked  # in the second sentence only
    weights = p.weights.copy()
    weights[p.start[marked]] = -size
    quiet, loud = (
        Problem(
            problem.scores, problem.transitions, problem.offsets,
            p._replace(ids=ids, weights=w, powers=np.exp(w), reach=r), True,
        )
        for w, r in ((p.weights, p.reach), (weights, p.reach + size * (np.arange(len(p.reach)) == marked)))
    )  # fmt: skip
    before, after = quiet.chain().marginals(), loud.chain().marginals()
    for a, b in ((0, 4), (8, 12)):
        assert before.nodes[a:b].tobytes() == after.nodes[a:b].tobytes()
    assert np.isfinite(after.nodes).all()
    one = loud.enumerated()[1]
    assert after.log_z[1] == pytest.approx(one.log_z, rel=1e-12)
    np.testing.assert_allclose(after.nodes[4:8, :3], one.nodes(), atol=loud.tolerance)


def test_no_legal_path_is_a_partition_of_minus_infinity():
    problem = make_problem(0, 3, [2, 3])
    problem.scores[3] = -np.inf
    log_z = problem.chain().marginals().log_z
    assert np.isfinite(log_z[0])
    assert log_z[1] == -np.inf


@pytest.mark.parametrize("valued", [False, True])
def test_a_long_sentence(valued):
    """Thousands of rescalings, and every expected transition accounted for."""
    length = 3000
    answer = make_problem(1, 9, [length], valued=valued, ready=True).chain().marginals()
    np.testing.assert_allclose(answer.nodes.sum(axis=1), 1.0)
    assert answer.arcs.sum() == pytest.approx(length - 1)
    assert np.isfinite(answer.log_z).all()
