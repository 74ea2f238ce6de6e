"""Block-coordinate Frank-Wolfe on the dual of the hinge loss: compared with distributions over whole paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from online_reference import InOrder, make_problem, problems

from trellis.engine.online import Online
from trellis.losses import Target, find_loss
from trellis.objective import cut_into_shards
from trellis.objective.rules.frank_wolfe import FrankWolfeRule


class Dual:
    """alpha[s][path], and theta and the dual that follow."""

    def __init__(self, problem, l2, costs):
        self.problem, self.l2, self.costs = problem, l2, costs
        self.alpha = [{problem.gold(s): 1.0} for s in range(problem.sentences)]

    def cost(self, s, path):
        return sum(self.costs[g] for g, j in zip(self.problem.gold(s), path, strict=True) if g != j)

    def psi(self, s, path):
        return self.problem.counts(s, self.problem.gold(s)) - self.problem.counts(s, path)

    @property
    def theta(self):
        total = np.zeros(self.problem.size)
        for s, shares in enumerate(self.alpha):
            for path, share in shares.items():
                total += share * self.psi(s, path)
        return total / self.l2

    @property
    def value(self):
        costs = sum(share * self.cost(s, path) for s, shares in enumerate(self.alpha) for path, share in shares.items())
        return costs - self.l2 / 2 * self.theta @ self.theta

    def step(self, s):
        """Towards the path that is best with costs, to where the dual is largest; returns the gap, or None where
        rounding decides which path is the best."""
        theta, shares = self.theta, self.alpha[s]
        losses = {path: self.cost(s, path) - theta @ self.psi(s, path) for path in self.problem.paths(s)}
        equal = [path for path, loss in losses.items() if loss >= max(losses.values()) - 1e-9]
        if theta.any() and len(equal) > 1:
            return None
        best = min(equal, key=lambda path: path[::-1])  # as `best_path` decides
        psi = sum((share * self.psi(s, path) for path, share in shares.items()), np.zeros(self.problem.size))
        expected = sum(share * self.cost(s, path) for path, share in shares.items())
        d = self.psi(s, best) - psi
        gap = self.cost(s, best) - expected - theta @ d
        if gap <= 1e-9:
            return 0.0
        way = min(1.0, self.l2 * gap / (d @ d)) if d @ d > 0 else 1.0
        for path in shares:
            shares[path] *= 1.0 - way
        shares[best] = shares.get(best, 0.0) + way
        return gap


def nothing(online):
    labels, sentences = online.labels, online.length("sentences")
    return np.zeros((online.length("tokens"), labels)), np.zeros((sentences, labels**2)), np.zeros((sentences, 1))


def with_costs(problem, costs):
    examples = replace(problem.examples, more=Target(problem.examples.gold, costs=costs))
    return Online(cut_into_shards(problem.layout, examples, find_loss("hinge"), plain=True), problem.size)


@given(problem=problems.filter(lambda p: p.examples.arcs is None), l2=st.floats(0.05, 5.0), seed=st.integers(0, 99))
def test_steps_go_to_where_the_dual_is_largest(problem, l2, seed):
    costs = np.random.default_rng(seed).uniform(0.5, 2.0, problem.layout.labels)
    online, dual = with_costs(problem, costs), Dual(problem, l2, costs)
    vectors, stores, last = (np.zeros(problem.size), np.zeros(problem.size)), nothing(online), 0.0
    for epoch in range(3):
        steps = epoch * online.sentences
        done = online.epoch(FrankWolfeRule(l2, steps), vectors, InOrder(), stores)
        vectors, stores = done.vectors, done.stores
        gaps = [dual.step(s) for s in range(problem.sentences) if problem.tokens_of(s)]
        if None in gaps:
            return
        assert done.tally[0] == pytest.approx(sum(gaps), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(vectors[0], dual.theta, rtol=1e-6, atol=1e-6)
        own = stores[2].sum() - l2 / 2 * vectors[0] @ vectors[0]
        assert own == pytest.approx(dual.value, rel=1e-6, abs=1e-6)
        assert own >= last - 1e-9
        last = own


def test_stores_are_the_gold_path_minus_what_is_expected():
    problem = make_problem(2, labels=3, lengths=(3, 2, 4), valued=True, everything=True)
    online, dual = problem.online(), Dual(problem, 0.3, np.ones(3))
    vectors = np.zeros(problem.size), np.zeros(problem.size)
    nodes, arcs, expected = online.epoch(FrankWolfeRule(0.3, 0), vectors, InOrder(), nothing(online)).stores
    for s in range(3):
        assert dual.step(s) > 0.0
        wanted, pairs, cost = np.zeros((4, 3)), np.zeros((3, 3)), 0.0
        for path, share in [*dual.alpha[s].items(), (problem.gold(s), -1.0)]:
            cost += share * dual.cost(s, path)
            for t, label in enumerate(path):
                wanted[t, label] -= share
                if t:
                    pairs[path[t - 1], label] -= share
        tokens = list(problem.tokens_of(s))
        np.testing.assert_allclose(nodes[tokens], wanted[: len(tokens)], atol=1e-9)
        np.testing.assert_allclose(arcs[s].reshape(3, 3), pairs, atol=1e-9)
        assert expected[s, 0] == pytest.approx(cost)


def test_late_changes_give_the_average_in_which_step_k_counts_k_times():
    problem = make_problem(4, labels=3, lengths=(3, 2, 4, 1), valued=True, everything=True)
    online, dual, seen = problem.online(), Dual(problem, 0.5, np.ones(3)), []
    done = online.epoch(
        FrankWolfeRule(0.5, 0), (np.zeros(problem.size), np.zeros(problem.size)), InOrder(), nothing(online)
    )
    for s in range(4):
        assert dual.step(s) is not None
        seen.append((s + 1) * dual.theta)
    theta, late = done.vectors
    np.testing.assert_allclose(theta - late * 2 / (4 * 5), np.sum(seen, axis=0) / 10, atol=1e-9)
