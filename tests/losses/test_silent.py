"""A stage without a loss: it says nothing of itself, and what others read of it is all there."""

from __future__ import annotations

import numpy as np

from trellis.lattice import WorkChain
from trellis.losses import Target
from trellis.losses.silent import SilentLoss


def test_it_is_zero_and_so_is_all_that_follows_from_it():
    rng = np.random.default_rng(0)
    scores, transitions, offsets = rng.normal(size=(7, 4)), rng.normal(size=(4, 4)), np.array([0, 4, 4, 7])
    chain = WorkChain(scores.copy(), transitions, offsets, scores.copy)
    loss, target = SilentLoss(), Target(np.zeros(7, np.int32))
    kept = loss.keep(chain, target)
    answer = loss.answer(kept, target)
    np.testing.assert_array_equal(answer.values, np.zeros(3))
    for found in (
        (answer.nodes, answer.arcs),
        loss.curvature(kept, target, rng.normal(size=(7, 4)), rng.normal(size=(4, 4))),
        loss.diagonal(kept, target),
    ):
        assert not any(np.any(part) for part in found)
    np.testing.assert_allclose(loss.solved_in(kept).node_marginals().sum(axis=1), 1.0)
