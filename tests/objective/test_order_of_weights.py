"""Weights in the order in which shards ask for them: the same objective, and the same model."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import sample_corpus
from trellis.engine import ThreadedObjective
from trellis.models import CRF
from trellis.models.chain_ready import ready_chain
from trellis.objective import L2, appearance, cut_into_shards, cutting, order_by_appearance
from trellis.scoring.occurring import Appearances, number_by_appearance


@pytest.fixture(autouse=True)
def several_shards(monkeypatch):
    monkeypatch.setattr(cutting, "SHARD", 300)
    monkeypatch.setattr(appearance, "LEAST", 1)


def objective(corpus):
    ready = ready_chain(CRF("chunk"), corpus, None, None, None, None, None, 1)
    shards, size = cut_into_shards(ready.model.layout, ready.examples, ready.loss), ready.model.layout.size
    return shards, size


def test_the_objective_is_the_same_and_its_gradient_in_the_same_order():
    corpus = sample_corpus().slice(0, 60)
    (plain, size), (ordered, _) = objective(corpus), objective(corpus)
    assert len(plain) > 1
    order = order_by_appearance(ordered, size)
    theta = np.random.default_rng(0).normal(size=size)
    with ThreadedObjective(plain, size, L2(0.3)) as one, ThreadedObjective(ordered, size, L2(0.3)) as other:
        value, gradient = one.value_and_gradient(theta)
        same, found = other.value_and_gradient(order.of(theta))
    assert same == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(order.restored(found), gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(order.restored(order.of(theta)), theta)


def test_each_shard_reads_ascending_weights_and_the_first_one_all_from_the_beginning():
    shards, size = objective(sample_corpus().slice(0, 60))
    order = order_by_appearance(shards, size)
    assert sorted(order.old.tolist()) == list(range(size))
    np.testing.assert_array_equal(shards[0].index, np.arange(len(shards[0].index)))
    for shard in shards:
        pairs = shard.index[: shard.scoring.layout.pairs]
        assert (np.diff(pairs) > 0).all()


def test_numbers_of_attributes_ascend_as_they_appear_in_all_that_is_shown():
    shown = Appearances(8)
    new, old = shown.show(np.array([5, 2, 5, 7], np.int32))
    assert (new.tolist(), old.tolist()) == ([0, 1, 0, 2], [5, 2, 7])
    new, old = shown.show(np.array([7, 1, 5], np.int32))
    assert (new.tolist(), old.tolist()) == ([1, 2, 0], [5, 7, 1])
    new, old = number_by_appearance(np.array([7, 1, 7], np.int32), 8)
    assert (new.tolist(), old.tolist()) == ([0, 1, 0], [7, 1])
