"""Losses on lattices that are given arc by arc: values equal enumeration, gradients and products equal differences."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from trellis.engine import ThreadedObjective
from trellis.lattice.explicit import ExplicitLattice
from trellis.lattice.shape import Shape
from trellis.losses import Target, find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.scoring import observed_layout
from trellis.scoring.explicit import ArcAttributes, ExplicitLayout, LatticeData

LOSSES = [("log", "gold"), ("exp", "gold"), ("hinge", "gold"), ("softmax-margin", "gold"), ("perceptron", "gold"),
          ("pointwise-log", "gold"), ("pointwise-exp", "gold"), ("log", "part"), ("log", "soft")]  # fmt: skip
SMOOTH = [case for case in LOSSES if case[0] in ("log", "exp", "softmax-margin")]


class Problem:
    """Word lattices over texts of some letters: nodes are words from one letter to another, with a label."""

    def __init__(self, seed, kind, lengths=(3, 0, 4, 2), valued=True):
        rng = self.rng = np.random.default_rng(seed)
        spans, offsets, arcs, first, last = [], [0], [], [], []
        for length in lengths:
            base = len(spans)
            own = [(a, b) for b in range(1, length + 1) for a in range(b) if b - a == 1 or rng.random() < 0.5]
            own = sorted(own * 2 if length else [])  # two labels each
            spans += own
            arcs += [(base + u, base + v) for v, (a, _) in enumerate(own) for u, (_, b) in enumerate(own[:v]) if a == b]
            first += [a == 0 for a, _ in own]
            last += [b == length for _, b in own]
            offsets.append(len(spans))
        self.shape, _ = Shape.of_arcs(np.array(arcs).reshape(-1, 2), np.array(offsets), np.array(first), np.array(last))
        nodes = len(spans)
        labels = rng.integers(0, 3, nodes).astype(np.int32)
        indptr, ids = self._packed(nodes, 5)
        arc_indptr, arc_ids = self._packed(len(arcs), 4)
        self.values = rng.normal(size=len(ids)) if valued else None
        arc_values = rng.normal(size=len(arc_ids)) if valued else None
        pairs = observed_layout(indptr, ids, labels, np.array([0, nodes]), 5, 3, True, True)
        self.layout = ExplicitLayout(pairs, 4)
        self.labels, self.indptr, self.ids = labels, indptr, ids
        self.arc_indptr, self.arc_ids, self.arc_values = arc_indptr, arc_ids, arc_values
        self.paths = [self._listed(s) for s in range(len(lengths))]
        path = np.zeros(nodes, np.int32)
        for paths in self.paths:
            chosen = paths[rng.integers(len(paths))]
            path[list(chosen)] = 1
        known = np.ones((nodes, 2), bool)
        known[:, 1] = (rng.random(nodes) < 0.7) | (path == 1)
        soft = rng.random((nodes, 2)) + 0.05
        soft /= soft.sum(axis=1, keepdims=True)
        self.target = Target(path, rng.random(len(lengths)) * 2, None, known if kind == "part" else None,
                             soft if kind == "soft" else None)  # fmt: skip
        data = LatticeData(self.shape, labels, ArcAttributes(arc_indptr, arc_ids, arc_values))
        self.examples = Examples(indptr, ids, self.values, path, self.shape.offsets, more=self.target, lattices=data)

    def _packed(self, count, attributes):
        indptr = np.concatenate([[0], np.cumsum(self.rng.integers(0, 3, count))]).astype(np.int64)
        return indptr, self.rng.integers(0, attributes, indptr[-1]).astype(np.int32)

    def _listed(self, s):
        shape, found = self.shape, []
        a, b = shape.offsets[s : s + 2].tolist()

        def extend(path):
            if shape.first[path[0]]:
                found.append(path)
            for e in range(shape.start[path[0]], shape.start[path[0] + 1]):
                extend((int(shape.source[e]), *path))

        for v in range(a, b):
            if shape.last[v]:
                extend((v,))
        return found or [()]

    def objective(self, name, kind, l2=0.0, threads=1, **more):
        return ThreadedObjective(
            cut_into_shards(self.layout, self.examples, find_loss(name, kind)),
            self.layout.size,
            L2(l2),
            threads,
            **more,
        )

    def score(self, theta, path):
        pairs, total = self.layout.pairs, 0.0
        for v in path:
            for k in range(self.indptr[v], self.indptr[v + 1]):
                total += theta[self.ids[k] * 3 + self.labels[v]] * (1.0 if self.values is None else self.values[k])
        for u, v in pairwise(path):
            total += theta[pairs.pairs + self.labels[u] * 3 + self.labels[v]]
            e = next(e for e in range(self.shape.start[v], self.shape.start[v + 1]) if self.shape.source[e] == u)
            for k in range(self.arc_indptr[e], self.arc_indptr[e + 1]):
                value = 1.0 if self.arc_values is None else self.arc_values[k]
                total += theta[pairs.arcs_at + self.arc_ids[k]] * value
        return total

    def enumerated(self, name, theta):
        total, target = 0.0, self.target
        for s, paths in enumerate(self.paths):
            scores = np.array([self.score(theta, path) for path in paths])
            gold = scores[
                [tuple(v for v in path if target.path[v]) == path == self._gold(s) for path in paths].index(True)
            ]
            if target.known is not None:
                agree = [all(target.known[v, 1] for v in path) for path in paths]
                value = log_sum(scores) - log_sum(scores[agree])
            elif target.soft is not None:
                q = np.array([self._going_on(path, s) for path in paths])
                value = log_sum(scores) - (q / q.sum() * scores).sum()
            elif name in ("hinge", "softmax-margin"):
                costs = scores + [sum(not target.path[v] for v in path) for path in paths]
                value = (costs.max() if name == "hinge" else log_sum(costs)) - gold
            elif name == "perceptron":
                value = scores.max() - gold
            elif name.startswith("pointwise"):
                each = np.exp(scores - log_sum(scores))
                p = [sum(q for q, path in zip(each, paths, strict=True) if v in path) for v in self._gold(s)]
                value = sum(-np.log(q) if name == "pointwise-log" else 1.0 / q for q in p)
            else:
                value = log_sum(scores) - gold
                value = np.expm1(value) if name == "exp" else value
            total += target.weights[s] * value
        return total

    def _going_on(self, path, s):
        """The product of the probabilities of each node among all that could be in its place."""
        shape, p = self.shape, self.target.soft[:, 1]
        a, b = shape.offsets[s : s + 2].tolist()
        total = 1.0
        for u, v in pairwise((None, *path)):
            others = [w for w in range(a, b) if (shape.first[w] if u is None else self._arc(u, w))]
            total *= p[v] / sum(p[w] for w in others)
        return total

    def _arc(self, u, w):
        return u in self.shape.source[self.shape.start[w] : self.shape.start[w + 1]]

    def _gold(self, s):
        a, b = self.shape.offsets[s : s + 2].tolist()
        return tuple(v for v in range(a, b) if self.target.path[v])


def log_sum(values):
    return values.max() + np.log(np.exp(values - values.max()).sum())


@pytest.mark.parametrize(("name", "kind"), LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_values_equal_enumeration(name, kind, seed):
    problem = Problem(seed, kind, valued=seed % 2 == 0)
    theta = problem.rng.normal(size=problem.layout.size)
    with problem.objective(name, kind) as objective:
        assert objective.value_and_gradient(theta)[0] == pytest.approx(problem.enumerated(name, theta), rel=1e-9)


@pytest.mark.parametrize(("name", "kind"), LOSSES)
def test_gradients_and_products_equal_differences(name, kind):
    problem = Problem(7, kind)
    theta, r = problem.rng.normal(size=(2, problem.layout.size))
    with problem.objective(name, kind, l2=0.3, cache=2) as objective:
        gradient = objective.value_and_gradient(theta)[1]
        ends = [objective.value_and_gradient(theta + d * r) for d in (1e-5, -1e-5)]
        assert gradient @ r == pytest.approx((ends[0][0] - ends[1][0]) / 2e-5, rel=1e-5, abs=1e-6)
        if (name, kind) in SMOOTH:
            objective.value_and_gradient(theta)
            product = objective.hessian_vector(theta, r)
            np.testing.assert_allclose(product, (ends[0][1] - ends[1][1]) / 2e-5, rtol=1e-4, atol=1e-5)
            assert np.isfinite(objective.hessian_diagonal(theta)).all()


def test_shards_add_up_to_one(monkeypatch):
    problem = Problem(3, "gold", lengths=(3, 2, 4, 3, 0, 2, 4, 1) * 2)
    theta = problem.rng.normal(size=problem.layout.size)
    with problem.objective("log", "gold") as objective:
        whole = objective.value_and_gradient(theta)
    monkeypatch.setattr("trellis.objective.cutting.SHARD", 20)
    monkeypatch.setattr("trellis.objective.explicit._ARCS", 10)
    answers = set()
    for threads in (1, 2):
        with problem.objective("log", "gold", threads=threads) as objective:
            assert len(objective.shards) > 1
            assert max(len(shard.blocks) for shard in objective.shards) > 1
            value, gradient = objective.value_and_gradient(theta)
            answers.add((value, gradient.tobytes()))
    assert len(answers) == 1
    assert value == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(gradient, whole[1], rtol=1e-10, atol=1e-12)


def test_probabilities_of_nodes_are_learnt_as_they_are():
    """Where they are those of a distribution over paths, nothing is nearer to them than that."""
    problem = Problem(11, "gold")
    scores = problem.rng.normal(size=len(problem.labels)) * 2
    lattice = ExplicitLattice(scores, np.zeros(len(problem.shape.source)), problem.shape.offsets, problem.shape)
    p = lattice.marginals().nodes
    other = replace(lattice, node_scores=problem.rng.normal(size=len(p)))
    softened = other.softened(np.stack([1.0 - p, p], axis=1))
    np.testing.assert_allclose(softened.marginals().nodes, p, atol=1e-12)
    np.testing.assert_allclose(softened.marginals().log_z, 0.0, atol=1e-12)
