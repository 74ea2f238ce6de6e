"""Lists of probable arcs, h on listed arcs, and third cumulants equal enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.lattice import WorkChain
from trellis.lattice.entries import ArcEntries, EntriesH, NodeEntries
from trellis.lattice.kernels.entries import list_nodes
from trellis.lattice.local import LocalChain
from trellis.lattice.parts import PartLattice
from trellis.lattice.segments import SegmentChain, SegmentTypes
from trellis.rows import PAD
from trellis.scoring.wires import patched, unpatched

LABELS = 3
OFFSETS = np.array([0, 4, 4, 5, 8])


class Problem:
    """A chain, numbers for its nodes and arcs, and all its paths."""

    def __init__(self, seed, spread=1.0, local=False):
        rng = np.random.default_rng(seed)
        tokens = int(OFFSETS[-1])
        self.scores = np.full((tokens, PAD), -np.inf)
        self.scores[:, :LABELS] = rng.normal(size=(tokens, LABELS)) * spread
        self.transitions = np.zeros((LABELS, LABELS)) if local else rng.normal(size=(LABELS, LABELS))
        if spread > 100:
            self.scores[2, 1] = -5000.0  # which has to be done in the log domain
        self.h, self.k = (self._drawn(rng, local) for _ in range(2))

    def _drawn(self, rng, local):
        """On nodes, F64[tokens, width], and on some arcs."""
        nodes = np.zeros((len(self.scores), PAD))
        nodes[:, :LABELS] = rng.normal(size=(len(self.scores), LABELS))
        there = rng.random((len(self.scores), LABELS, LABELS)) < (0.0 if local else 0.4)
        there[OFFSETS[:-1][np.diff(OFFSETS) > 0]] = False
        token, before, here = np.nonzero(there)
        start = np.searchsorted(token, np.arange(len(self.scores) + 1)).astype(np.int64)
        value = rng.normal(size=len(token))
        matrix = np.zeros((LABELS, LABELS)) if local else rng.normal(size=(LABELS, LABELS))
        return nodes, EntriesH(matrix, ArcEntries(start, before.astype(np.int32), here.astype(np.int32), value))

    def work(self):
        return WorkChain(self.scores.copy(), self.transitions, OFFSETS, self.scores.copy)

    def patched(self):
        return patched(self.work(), unpatched(len(self.scores)))

    def paths(self, a, b):
        """Each path with its probability, and what it adds up of h and of k."""
        rows, weights = list(product(range(LABELS), repeat=b - a)), []
        sums = np.zeros((2, len(rows)))
        for n, row in enumerate(rows):
            score = sum(self.scores[a + t, j] for t, j in enumerate(row))
            score += sum(self.transitions[i, j] for i, j in pairwise(row))
            weights.append(score)
            for m, (nodes, arcs) in enumerate((self.h, self.k)):
                sums[m, n] = sum(nodes[a + t, j] for t, j in enumerate(row))
                for t, (i, j) in enumerate(pairwise(row), a + 1):
                    sums[m, n] += self.at(arcs, t, i, j)
        p = np.exp(np.array(weights) - max(weights, default=0.0))
        return rows, p / p.sum(), sums

    @staticmethod
    def at(arcs, t, i, j):
        own = slice(arcs.entries.start[t], arcs.entries.start[t + 1])
        there = (arcs.entries.before[own] == i) & (arcs.entries.here[own] == j)
        return arcs.matrix[i, j] + arcs.entries.value[own][there].sum()

    def expected(self, of):
        """of(p, h, k, on) for every node and arc: F64[tokens, labels] and F64[tokens, labels, labels]."""
        nodes, arcs = np.zeros((len(self.scores), LABELS)), np.zeros((len(self.scores), LABELS, LABELS))
        for a, b in pairwise(OFFSETS.tolist()):
            rows, p, (h, k) = self.paths(a, b)
            for t in range(a, b):
                for j in range(LABELS):
                    nodes[t, j] = of(p, h, k, np.array([row[t - a] == j for row in rows], float))
                    for i in range(LABELS if t > a else 0):
                        on = np.array([row[t - a - 1] == i and row[t - a] == j for row in rows], float)
                        arcs[t, i, j] = of(p, h, k, on)
        return nodes, arcs


def mean(p, h, k, on):
    return p @ on


def covariance(p, h, k, on):
    return p @ (h * on) - (p @ h) * (p @ on)


def third(p, h, k, on):
    return p @ ((h - p @ h) * (k - p @ k) * (on - p @ on))


SPREADS = pytest.mark.parametrize("spread", [1.0, 300.0])


@SPREADS
@pytest.mark.parametrize("way", ["work", "patched"])
@given(seed=st.integers(0, 10**6))
def test_probable_arcs_are_listed(way, spread, seed):
    problem = Problem(seed, spread)
    _, arcs = problem.expected(mean)
    solved = getattr(problem, way)().solve()
    for least in (0.0, 0.05):
        nodes = NodeEntries(*list_nodes(solved.node_marginals(), LABELS, least))
        found = solved.list_arcs(nodes, least)
        token = np.repeat(np.arange(len(arcs)), np.diff(found.start))
        dense = np.zeros_like(arcs)
        dense[token, found.before, found.here] = found.value
        np.testing.assert_allclose(dense, np.where(arcs > least, arcs, 0.0), atol=1e-9)
        keys = (token * LABELS + found.before) * LABELS + found.here
        assert np.all(np.diff(keys) > 0)


@SPREADS
@pytest.mark.parametrize("way", ["work", "patched"])
@given(seed=st.integers(0, 10**6))
def test_covariances_with_h_on_listed_arcs(way, spread, seed):
    problem = Problem(seed, spread)
    nodes, arcs = problem.expected(covariance)
    node_h, arc_h = problem.h
    found = getattr(problem, way)().solve().covariance(node_h.copy(), arc_h)
    np.testing.assert_allclose(found.nodes[:, :LABELS], nodes, atol=1e-9)
    np.testing.assert_allclose(found.arcs, arcs.sum(axis=0), atol=1e-9)


@SPREADS
@given(seed=st.integers(0, 10**6))
def test_third_cumulants_and_changes_of_listed_arcs(spread, seed):
    problem = Problem(seed, spread)
    nodes, arcs = problem.expected(third)
    solved = problem.patched().solve()
    found = solved.third(*problem.h, *problem.k)
    np.testing.assert_allclose(found.nodes[:, :LABELS], nodes, atol=1e-8)
    np.testing.assert_allclose(found.arcs, arcs.sum(axis=0), atol=1e-8)
    _, moved = problem.expected(covariance)
    listed = solved.list_arcs(NodeEntries(*list_nodes(solved.node_marginals(), LABELS, 0.0)), 0.0)
    token = np.repeat(np.arange(len(moved)), np.diff(listed.start))
    changes = solved.listed_changes(*problem.h, listed)
    np.testing.assert_allclose(changes, moved[token, listed.before, listed.here], atol=1e-9)


@given(seed=st.integers(0, 10**6))
def test_third_cumulants_without_transitions(seed):
    problem = Problem(seed, local=True)
    nodes, _ = problem.expected(third)
    solved = LocalChain(problem.scores.copy(), LABELS, OFFSETS).solve()
    found = solved.third(problem.h[0], None, problem.k[0], None)
    np.testing.assert_allclose(found.nodes[:, :LABELS], nodes, atol=1e-9)


@given(seed=st.integers(0, 10**6))
def test_third_cumulants_of_graphs_equal_finite_differences_of_covariances(seed):
    rng = np.random.default_rng(seed)
    types = SegmentTypes.of([2, 1], [1, 0], [2, -1], 3)
    offsets = np.array([0, 3, 3, 4])
    lattice = SegmentChain(np.zeros(0), rng.normal(size=4), offsets, types)
    lattice.node_scores = lattice.on_nodes(rng.normal(size=(4, 4)))
    closed = lattice.node_scores == -np.inf

    def drawn():
        return np.where(closed, 0.0, rng.normal(size=len(closed))), rng.normal(size=4)

    (node_h, arc_h), (node_k, arc_k) = drawn(), drawn()
    found = lattice.solve().third(node_h, arc_h, node_k, arc_k)

    def moved(step):
        other: PartLattice = SegmentChain(
            lattice.node_scores + step * node_k, lattice.arc_scores + step * arc_k, offsets, types
        )
        return other.solve().covariance(node_h.copy(), arc_h)

    up, down = moved(1e-5), moved(-1e-5)
    np.testing.assert_allclose(found.nodes, (up.nodes - down.nodes) / 2e-5, atol=1e-7)
    np.testing.assert_allclose(found.arcs, (up.arcs - down.arcs) / 2e-5, atol=1e-7)
