"""Every question about every kind of lattice equals the answer of listing all paths."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lattices import KINDS, Recipe, recipes

from trellis.errors import NoLegalPathError

every_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 2**32 - 1)


def is_refused(lattice, ask):
    """Whether there is no path, which has to be said."""
    if lattice.is_legal:
        return False
    with pytest.raises(NoLegalPathError, match=r"no legal path"):
        ask()
    return True


def near(lattice, factor=1.0):
    return {"atol": factor * lattice.tolerance, "rtol": 1e-9}


def score_of(lattice, s, key):
    return {path[0]: path[3] for path in lattice.all_paths(s)}[key]


@every_kind
@given(recipe=recipes)
def test_the_best_path(kind, recipe):
    lattice = kind(recipe)
    if is_refused(lattice, lattice.best):
        return
    keys, totals = lattice.best()
    for s, (key, total) in enumerate(zip(keys, totals, strict=True)):
        _, scores, _, _ = lattice.enumerated(s)
        assert total == pytest.approx(scores.max(), abs=lattice.tolerance, rel=1e-12)
        assert score_of(lattice, s, key) == pytest.approx(total, abs=lattice.tolerance, rel=1e-12)


@every_kind
@given(recipe=recipes, k=st.integers(1, 40))
def test_the_k_best_paths_are_distinct_and_in_order(kind, recipe, k):
    lattice = kind(recipe)
    if is_refused(lattice, lambda: lattice.kbest(k)):
        return
    for s, found in enumerate(lattice.kbest(k)):
        paths, scores, _, _ = lattice.enumerated(s)
        assert len(found) == min(k, len(paths))
        assert len({key for key, _ in found}) == len(found)
        np.testing.assert_allclose([score for _, score in found], np.sort(scores)[::-1][:k], **near(lattice))
        for key, score in found:
            assert score_of(lattice, s, key) == pytest.approx(score, abs=lattice.tolerance, rel=1e-12)


@every_kind
@given(recipe=recipes)
def test_partition_and_marginals(kind, recipe):
    lattice = kind(recipe)
    if is_refused(lattice, lattice.marginals):
        return
    log_z, nodes, arcs = lattice.marginals()
    for s in range(lattice.sentences):
        assert log_z[s] == pytest.approx(lattice.enumerated(s)[3], abs=lattice.tolerance, rel=1e-12)
    expected = lattice.added_up(lambda s, paths, p: p)
    np.testing.assert_allclose(nodes, expected[0], **near(lattice))
    np.testing.assert_allclose(arcs, expected[1], **near(lattice))


@every_kind
@given(recipe=recipes, seed=seeds)
def test_covariance_and_expectation(kind, recipe, seed):
    lattice, rng = kind(recipe), np.random.default_rng(seed)
    node_h, arc_h = rng.normal(size=len(lattice.node_scores)), rng.normal(size=len(lattice.arc_scores))
    if is_refused(lattice, lambda: lattice.covariance(node_h, arc_h)):
        return
    nodes, arcs, mean = lattice.covariance(node_h, arc_h)
    np.testing.assert_allclose(lattice.expectation(node_h, arc_h), mean, **near(lattice, 10))

    def weigh(s, paths, p):
        values = lattice.values(paths, node_h, arc_h)
        assert mean[s] == pytest.approx((p * values).sum(), abs=10 * lattice.tolerance)
        return p * (values - (p * values).sum())

    expected = lattice.added_up(weigh)
    np.testing.assert_allclose(nodes, expected[0], **near(lattice, 10))
    np.testing.assert_allclose(arcs, expected[1], **near(lattice, 10))


@every_kind
@given(recipe=recipes)
def test_entropy(kind, recipe):
    lattice = kind(recipe)
    if is_refused(lattice, lattice.entropy):
        return
    for s, found in enumerate(lattice.entropy()):
        p = lattice.enumerated(s)[2]
        assert found == pytest.approx(-(p[p > 0] * np.log(p[p > 0])).sum(), abs=10 * lattice.tolerance)


@every_kind
@given(recipe=recipes, seed=seeds)
def test_samples_are_legal_and_repeatable(kind, recipe, seed):
    lattice = kind(recipe)
    if is_refused(lattice, lambda: lattice.sample(2, np.random.default_rng(seed))):
        return
    drawn = lattice.sample(3, np.random.default_rng(seed))
    assert drawn == lattice.sample(3, np.random.default_rng(seed))
    for keys in drawn:
        for s, key in enumerate(keys):
            assert score_of(lattice, s, key) > -np.inf


@every_kind
def test_samples_follow_the_distribution(kind):
    lattice = kind(Recipe(7, [3, 2]))
    drawn = lattice.sample(6000, np.random.default_rng(0))
    for s in range(lattice.sentences):
        paths, _, p, _ = lattice.enumerated(s)
        for path, probability in zip(paths, p, strict=True):
            share = np.mean([keys[s] == path[0] for keys in drawn])
            assert share == pytest.approx(probability, abs=0.03)


@every_kind
@given(recipe=recipes)
def test_posterior_decoding_finds_the_legal_path_with_the_most_probable_labels(kind, recipe):
    lattice = kind(recipe)
    if is_refused(lattice, lattice.posterior):
        return
    keys, totals = lattice.posterior()
    for s, (key, total) in enumerate(zip(keys, totals, strict=True)):
        sums = lattice.posterior_sums(s)
        assert total == pytest.approx(max(sums.values()), abs=10 * lattice.tolerance)
        assert sums[key] == pytest.approx(total, abs=10 * lattice.tolerance)


@every_kind
@given(recipe=recipes, width=st.integers(1, 5))
def test_a_beam_finds_a_legal_path_and_bounds_the_best(kind, recipe, width):
    lattice = kind(recipe)
    if is_refused(lattice, lambda: lattice.beam(width)):
        return
    try:
        keys, totals, bounds = lattice.beam(width)
    except NoLegalPathError:
        with pytest.raises(NoLegalPathError, match=r"widen it"):
            lattice.beam(width)
        return
    for s, key in enumerate(keys):
        high = lattice.enumerated(s)[1].max()
        assert score_of(lattice, s, key) == pytest.approx(totals[s], abs=lattice.tolerance, rel=1e-12)
        assert totals[s] <= high + lattice.tolerance
        assert bounds[s] >= high - lattice.tolerance
    wide = lattice.beam(10_000)
    np.testing.assert_allclose(wide[1], lattice.best()[1], **near(lattice))
    np.testing.assert_array_equal(wide[1], wide[2])


def times(x, y):
    """<p, r> * <q, s> = <p q, p s + r q>."""
    return np.array([x[0] * y[0], x[0] * y[1] + x[1] * y[0]])


def semiring_covariance(graph, node_h, arc_h):
    """Azuma's other derivation of the covariance (after Li and Eisner 2009): forward-backward over pairs <p, r>, where
    p is a weight and r the same times what a path has added up of h; sums of pairs are by element."""
    shape = graph.shape
    node, arc = (np.stack([np.exp(s), np.exp(s) * h]) for s, h in ((graph.nodes, node_h), (graph.arcs, arc_h)))
    inside, outside = np.zeros((2, 2, len(graph.nodes)))
    nodes, arcs = np.zeros(len(graph.nodes)), np.zeros(len(graph.arcs))
    for a, b in pairwise(shape.offsets.tolist()):
        for v in range(a, b):
            total = np.array([float(shape.first[v]), 0.0])
            for e in range(shape.start[v], shape.start[v + 1]):
                total += times(inside[:, shape.source[e]], arc[:, e])
            inside[:, v] = times(total, node[:, v])
        for v in range(b - 1, a - 1, -1):
            outside[0, v] += float(shape.last[v])
            for e in range(shape.start[v], shape.start[v + 1]):
                outside[:, shape.source[e]] += times(times(arc[:, e], node[:, v]), outside[:, v])
        z = sum((inside[:, v] for v in range(a, b) if shape.last[v]), start=np.zeros(2))

        def centred(through, z=z):
            return (through[1] - through[0] * z[1] / z[0]) / z[0]

        for v in range(a, b):
            nodes[v] = centred(times(inside[:, v], outside[:, v]))
            for e in range(shape.start[v], shape.start[v + 1]):
                before = times(inside[:, shape.source[e]], arc[:, e])
                arcs[e] = centred(times(before, times(node[:, v], outside[:, v])))
    return nodes, arcs


@every_kind
@given(recipe=recipes, seed=seeds)
def test_covariance_equals_that_of_the_expectation_semiring(kind, recipe, seed):
    moderate = replace(recipe, nodes=min(recipe.nodes, 8.0), arcs=min(recipe.arcs, 8.0))
    lattice, rng = kind(moderate), np.random.default_rng(seed)
    if not lattice.is_legal:
        return
    node_h, arc_h = rng.normal(size=len(lattice.node_scores)), rng.normal(size=len(lattice.arc_scores))
    expected = lattice.gathered(*semiring_covariance(lattice.graph, *lattice.spread(node_h, arc_h)))
    nodes, arcs, _ = lattice.covariance(node_h, arc_h)
    np.testing.assert_allclose(nodes, expected[0], atol=1e-10)
    np.testing.assert_allclose(arcs, expected[1], atol=1e-10)
