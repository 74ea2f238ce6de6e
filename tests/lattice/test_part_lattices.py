"""What training asks of lattices by way of their parts equals the answer of listing all paths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lattices import BY_PARTS, recipes

every_kind = pytest.mark.parametrize("kind", BY_PARTS)
seeds = st.integers(0, 2**32 - 1)


class Case:
    """A lattice where every sentence has a path, random numbers, sentence weights, and a path."""

    def __init__(self, kind, recipe, seed):
        self.kind, self.rng = kind(recipe), np.random.default_rng(seed)
        self.lattice = self.kind.lattice
        self.weights = self.rng.choice([0.0, -1.5, 1.0, 0.3, 2.0], self.kind.sentences)
        self.near = {"atol": 20 * self.kind.tolerance, "rtol": 1e-9}

    @property
    def is_legal(self):
        return self.kind.is_legal

    def path(self):
        """One legal path a sentence: its entry in the list, and labels I32[tokens]."""
        chosen = [
            paths[self.rng.integers(len(paths))] for paths in map(self.kind.all_paths, range(self.kind.sentences))
        ]
        return chosen, np.array([label for path in chosen for label in path[0]], np.int32)

    def of_paths(self, chosen, weights):
        nodes, arcs = np.zeros(len(self.kind.node_scores)), np.zeros(len(self.kind.arc_scores))
        for path, weight in zip(chosen, weights, strict=True):
            np.add.at(nodes, list(path[1]), weight)
            np.add.at(arcs, list(path[2]), weight)
        return nodes, arcs

    def h(self):
        return self.rng.normal(size=len(self.kind.node_scores)), self.rng.normal(size=len(self.kind.arc_scores))

    def label_rows(self, weigh):
        """Numbers on labels of tokens: every path times `weigh(s, paths, p)`."""
        rows = np.zeros((int(self.lattice.offsets[-1]), self.lattice.labels))
        for s in range(self.kind.sentences):
            paths, _, p, _ = self.kind.enumerated(s)
            first = int(self.lattice.offsets[s])
            for path, weight in zip(paths, weigh(s, paths, p), strict=True):
                for t, label in enumerate(path[0]):
                    rows[first + t, label] += weight
        return rows

    def same(self, found, expected):
        np.testing.assert_allclose(found[0], expected[0], **self.near)
        np.testing.assert_allclose(found[1], expected[1], **self.near)


cases = {"recipe": recipes, "seed": seeds}


@every_kind
@given(**cases)
def test_paths(kind, recipe, seed):
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    chosen, path = case.path()
    np.testing.assert_allclose(case.lattice.path_scores(path), [one[3] for one in chosen], **case.near)
    other, elsewhere = case.path()
    found = case.lattice.path_gradient(path, elsewhere, case.weights)
    plus, minus = case.of_paths(chosen, case.weights), case.of_paths(other, case.weights)
    case.same(found, (plus[0] - minus[0], plus[1] - minus[1]))
    solved, (node_h, arc_h) = case.lattice.solve(), case.h()
    sums = [case.kind.values([one], node_h, arc_h)[0] for one in chosen]
    np.testing.assert_allclose(solved.path_sums(node_h, arc_h, path), sums, **case.near)
    nodes, arcs = solved.expected(case.weights)
    solved.subtract_path(nodes, arcs, path, case.weights)
    expected = case.kind.added_up(lambda s, paths, p: case.weights[s] * p)
    case.same((nodes, arcs), (expected[0] - plus[0], expected[1] - plus[1]))


@every_kind
@given(**cases)
def test_numbers_on_labels(kind, recipe, seed):
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    solved, tokens = case.lattice.solve(), int(case.lattice.offsets[-1])
    p = case.label_rows(lambda s, paths, p: p)
    np.testing.assert_allclose(solved.label_marginals(), p, **case.near)
    _, path = case.path()
    np.testing.assert_allclose(solved.marginals_on(path), p[np.arange(tokens), path], **case.near)
    values = case.rng.normal(size=tokens)
    rows = np.zeros(p.shape)
    rows[np.arange(tokens), path] = values
    node_h = solved.path_nodes(values, path)
    for s in range(case.kind.sentences):
        first = int(case.lattice.offsets[s])
        for labels, nodes, _, _ in case.kind.all_paths(s):
            along = sum(rows[first + t, j] for t, j in enumerate(labels))
            assert node_h[list(nodes)].sum() == pytest.approx(along, abs=1e-9)
    sums = [values[a:b].sum() for a, b in pairwise(case.lattice.offsets.tolist())]
    np.testing.assert_allclose(solved.sums(values, path), sums, atol=1e-12)


@every_kind
@given(**cases)
def test_covariances(kind, recipe, seed):
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    solved, (node_h, arc_h) = case.lattice.solve(), case.h()

    def weigh(s, paths, p):
        values = case.kind.values(paths, node_h, arc_h)
        return p * (values - (p * values).sum())

    found = solved.covariance(node_h.copy(), arc_h, case.weights)
    expected = case.kind.added_up(lambda s, paths, p: case.weights[s] * weigh(s, paths, p))
    case.same((found.nodes, found.arcs), expected)
    _, path = case.path()
    rows = case.label_rows(weigh)
    on = solved.covariance_on(node_h.copy(), arc_h, path)
    np.testing.assert_allclose(on, rows[np.arange(len(rows)), path], **case.near)


@every_kind
@given(**cases)
def test_variances(kind, recipe, seed):
    """Of node parts; those of arc parts are added up over the tokens where they are."""
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    nodes, _ = case.lattice.solve().variances(case.weights)
    p = case.kind.added_up(lambda s, paths, p: p)[0]
    np.testing.assert_allclose(nodes, case.weights[case.lattice.owners] * p * (1 - p), **case.near)


@every_kind
@given(**cases)
def test_costs_and_what_is_known(kind, recipe, seed):
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    _, path = case.path()
    tokens, labels = int(case.lattice.offsets[-1]), case.lattice.labels
    costs = case.rng.normal(size=(labels, labels))
    known = case.rng.random((tokens, labels)) < 0.6
    known[np.arange(tokens), path] = True
    with_costs = case.kind.lattice
    with_costs.add_costs(path, costs)
    for lattice, added in (
        (with_costs, costs[path]),
        (case.lattice.constrained(known), np.where(known, 0.0, -np.inf)),
    ):
        log_z = lattice.marginals().log_z
        for s in range(case.kind.sentences):
            first = int(case.lattice.offsets[s])
            scores = np.array(
                [one[3] + sum(added[first + t, j] for t, j in enumerate(one[0])) for one in case.kind.all_paths(s)]
            )
            expected = scores.max() + np.log(np.exp(scores - scores.max()).sum())
            assert log_z[s] == pytest.approx(expected, abs=10 * case.kind.tolerance, rel=1e-12)


@every_kind
@given(**cases)
def test_soft_labels_are_a_distribution_over_legal_paths(kind, recipe, seed):
    case = Case(kind, recipe, seed)
    if not case.is_legal:
        return
    tokens, labels = int(case.lattice.offsets[-1]), case.lattice.labels
    soft = case.rng.random((tokens, labels)) + 0.05
    soft /= soft.sum(axis=1, keepdims=True)

    def weigh(s, paths, p):
        first = int(case.lattice.offsets[s])
        q = np.array([np.prod([soft[first + t, j] for t, j in enumerate(path[0])]) for path in paths])
        return case.weights[s] * q / q.sum()

    nodes, arcs = np.zeros(len(case.kind.node_scores)), np.zeros(len(case.kind.arc_scores))
    case.lattice.solve().subtract_soft(nodes, arcs, soft, case.weights)
    expected = case.kind.added_up(weigh)
    case.same((-nodes, -arcs), expected)
    case.weights[:] = 1.0
    means = [
        (weigh(s, case.kind.all_paths(s), None) * [one[3] for one in case.kind.all_paths(s)]).sum()
        for s in range(case.kind.sentences)
    ]
    np.testing.assert_allclose(case.lattice.mean_scores(soft), means, **case.near)
