"""Segments that are much worse than others, as long ones are, cost neither time nor right answers."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.lattice.kernels.segments import segment_marginals
from trellis.lattice.segments import SegmentChain, SegmentTypes

TYPES = SegmentTypes.of([6, 4, 1], [1, 3, 0], [2, 4, -1], 5)


def chain_of(seed, worse):
    """Each token of a segment beyond its first adds about `worse` to its score."""
    rng = np.random.default_rng(seed)
    offsets = np.array([0, 9, 9, 12])
    length, _ = TYPES.of_cells
    scores = rng.normal(size=(12, TYPES.cells)) * 3.0 + worse * (length - 1)
    place = np.arange(12) - np.repeat(offsets[:-1], np.diff(offsets))
    scores[length > place[:, None] + 1] = -np.inf
    return SegmentChain(scores.ravel(), rng.normal(size=9), offsets, TYPES)


def answered(chain):
    """The kernel's own answers, and which sentences it leaves to the log domain."""
    nodes, arcs = np.empty((chain.tokens, TYPES.cells)), np.zeros((3, 3))
    log_z, redo = np.empty(chain.sentences), np.empty(chain.sentences, bool)
    rows, transitions = chain.node_scores.reshape(chain.tokens, -1), chain.arc_scores.reshape(3, 3)
    segment_marginals(rows, TYPES.first, transitions, chain.offsets, nodes, arcs, log_z, redo)
    return nodes.ravel(), arcs.ravel(), log_z, redo


@pytest.mark.parametrize("worse", [-30.0, -200.0, -3000.0])
def test_bad_long_segments_stay_in_the_probability_domain(worse):
    for seed in range(5):
        chain = chain_of(seed, worse)
        nodes, arcs, log_z, redo = answered(chain)
        assert not redo.any()
        solved = chain.solve()  # by the graph, in the log domain
        np.testing.assert_allclose(log_z, solved.log_z, rtol=1e-12)
        for found, wanted in zip((nodes, arcs), solved.expected(), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_where_only_the_worst_segment_is_left_the_log_domain_decides():
    """The best segment of a type begins on no path, so that one 900 worse is all there is."""
    chain = chain_of(0, -300.0)
    transitions = chain.arc_scores.reshape(3, 3).copy()
    transitions[:, 0] = -np.inf  # type 0 begins sentences only
    chain = SegmentChain(chain.node_scores, transitions.ravel(), chain.offsets, TYPES)
    rows = chain.node_scores.reshape(12, -1)
    rows[3, TYPES.of_cells[1] != 0] = -np.inf  # at the fourth token only type 0 ends
    rows[3, (TYPES.of_cells[1] == 0) & (TYPES.of_cells[0] == 1)] = 50.0
    answer, solved = chain.marginals(), chain.solve()
    np.testing.assert_allclose(answer.log_z, solved.log_z, rtol=1e-12)
    np.testing.assert_allclose(answer.nodes, solved.expected()[0], atol=1e-12)
