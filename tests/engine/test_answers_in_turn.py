"""Whether shards keep memory of their own for what they answer changes no bit."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import sample_corpus
from trellis.engine import ThreadedObjective
from trellis.models import CRF
from trellis.models.chain_ready import ready_chain
from trellis.objective import L2, cut_into_shards, cutting


@pytest.mark.parametrize("cache", [0, "all"])
def test_answers_in_turn_are_answers_all_at_once(monkeypatch, cache):
    monkeypatch.setattr(cutting, "SHARD", 300)
    ready = ready_chain(CRF("chunk"), sample_corpus().slice(0, 80), None, None, None, None, None, 1)
    size = ready.model.layout.size
    theta, direction = np.random.default_rng(0).normal(size=(2, size))
    found = []
    for few in (cutting._FEW, 0):
        monkeypatch.setattr(cutting, "_FEW", few)
        for threads in (1, 3):
            shards = cut_into_shards(ready.model.layout, ready.examples, ready.loss)
            assert len(shards) > 2
            assert all(shard.answers_stay == bool(few) for shard in shards)
            with ThreadedObjective(shards, size, L2(0.3), threads, cache=cache) as objective:
                value, gradient = objective.value_and_gradient(theta)
                product = objective.hessian_vector(theta, direction)
                found.append((value, gradient, product, objective.hessian_diagonal(theta)))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
