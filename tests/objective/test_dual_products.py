"""Hessian-vector products by algorithmic differentiation equal those from kept lattices and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.features import Packed
from trellis.lattice import Allowed
from trellis.losses import Target, find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.scoring import observed_layout, with_observed_arcs


class Problem:
    def __init__(self, seed, weighted=False, lengths=(3, 0, 1, 4, 2), labels=3, arcs=False, allowed=None):
        rng = self.rng = np.random.default_rng(seed)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = int(offsets[-1])
        indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, tokens))]).astype(np.int64)
        ids, gold = rng.integers(0, 6, indptr[-1]).astype(np.int32), rng.integers(0, labels, tokens).astype(np.int32)
        self.layout = observed_layout(indptr, ids, gold, offsets, 6, labels, True, True)
        on_arcs = None
        if arcs:
            on_arcs = Packed(np.arange(tokens + 1), np.zeros(tokens, np.int32), None)
            self.layout = with_observed_arcs(self.layout, on_arcs.indptr, on_arcs.ids, gold, offsets, 1, False)
        more = Target(gold, rng.random(len(lengths)) * 2) if weighted else None
        values = rng.normal(size=len(ids))
        self.examples = Examples(indptr, ids, values, gold, offsets, on_arcs, allowed and allowed(tokens), more)

    def objective(self, loss="log", threads=1, **more):
        shards = cut_into_shards(self.layout, self.examples, find_loss(loss))
        return ThreadedObjective(shards, self.layout.size, L2(0.7), threads, **more)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("large", [0.0, 900.0])
def test_products_equal_those_from_solved_lattices_and_differences_of_gradients(weighted, large, monkeypatch):
    """A weight of 900 sends sentences through the log domain."""
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 8)
    monkeypatch.setattr("trellis.objective.shard.BLOCK", 5)
    problem = Problem(5, weighted, lengths=(3, 0, 1, 4, 2) * 3)
    theta, step = problem.rng.normal(size=problem.layout.size), 1e-5
    theta[0] += large
    with (
        problem.objective(hvp="ad", threads=2) as dual,
        problem.objective() as again,
        problem.objective(cache="all") as kept,
    ):
        assert len(dual.shards) > 2
        for _ in range(3):
            r = problem.rng.normal(size=len(theta))
            ends = [dual.gradient(theta + d * r) for d in (step, -step)]
            product = dual.hessian_vector(theta, r)
            np.testing.assert_allclose(product, again.hessian_vector(theta, r), rtol=1e-9, atol=1e-9)
            near = 1e-5 * np.abs(product).max()  # kept in single precision
            np.testing.assert_allclose(product, kept.hessian_vector(theta, r), rtol=0, atol=near)
            np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(dual.hessian_vector(theta, r), product)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    problem = Problem(8, lengths=[4, 2, 7, 1] * 12)
    theta, r = problem.rng.normal(size=(2, problem.layout.size))
    answers = set()
    for threads in (1, 2, 8):
        with problem.objective(threads=threads, hvp="ad") as objective:
            answers.add(objective.hessian_vector(theta, r).tobytes())
    assert len(answers) == 1


def test_what_it_is_not_for_is_refused_before_training():
    for wrong, loss in ((Problem(1), "exp"), (Problem(1), "softmax-margin"), (Problem(1, arcs=True), "log")):
        with pytest.raises(SettingError, match="hvp='ad' is for the loss 'log' without a tag dictionary"):
            wrong.objective(loss, hvp="ad")

    def any_label(tokens):
        return Allowed(np.zeros(tokens, np.int32), np.array([0, 3]), np.arange(3, dtype=np.int32))

    with pytest.raises(SettingError, match="use hvp='kept'"):
        Problem(1, allowed=any_label).objective(hvp="ad")
    with pytest.raises(SettingError, match="keeps no lattices, but cache is 'all'"):
        Problem(1).objective(hvp="ad", cache="all")
    with pytest.raises(SettingError, match="hvp is 'finite'; expected 'kept' or 'ad'"):
        Problem(1).objective(hvp="finite")
