"""Epochs of stochastic gradient descent lead down, also with weights for what is never seen."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.engine import ThreadedObjective
from trellis.losses import find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.scoring import observed_layout


@pytest.mark.parametrize("everything", [False, True])
def test_an_epoch_lowers_the_objective(everything):
    """With `everything` there are weights for attributes with labels, and for transitions, that do not occur."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 60))]).astype(np.int64)
    gold = np.minimum(rng.integers(0, 4, offsets[-1]), 2).astype(np.int32)
    gold[offsets[:-1]] = 3  # never after another label
    ids, indptr = (gold + 4 * rng.integers(0, 3, len(gold))).astype(np.int32), np.arange(len(gold) + 1)
    layout = observed_layout(indptr, ids, gold, offsets, 12, 4, everything, everything)
    shards = cut_into_shards(layout, Examples(indptr, ids, None, gold, offsets), find_loss("log"))
    with ThreadedObjective(shards, layout.size, L2(1.0), 1) as objective:
        online, theta, values = objective.online(), np.zeros(layout.size), []
        for epoch in range(3):
            values.append(objective.value(theta))
            theta = online.epoch(theta, 0.3, 0.85, epoch, 0, rng).theta
        assert np.isfinite(theta).all()
        assert values[0] > values[1] > values[2]
