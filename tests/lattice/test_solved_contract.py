"""Every question of `TrainingChain` and `Solved` equals enumeration, for every kind of chain."""

from __future__ import annotations

import numpy as np
import pytest
from chain_kinds import KINDS, Recipe, recipes
from hypothesis import given
from hypothesis import strategies as st

from trellis.lattice import Chain

every_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 2**32 - 1)


def assert_same(chain, found, expected, factor=1.0):
    """Nodes and summed arcs, and what has been added for the patches since the last time."""
    near = {"atol": factor * chain.tolerance, "rtol": 1e-9}
    np.testing.assert_allclose(chain.in_rows(found[0]), expected[0], **near)
    np.testing.assert_allclose(found[1], expected[1].sum(axis=0), **near)
    np.testing.assert_allclose(
        chain.gradient, chain.by_patch(expected[1]), atol=10 * factor * chain.tolerance, rtol=1e-9
    )
    chain.gradient[:] = 0.0


def assert_log_z(chain, log_z, scores=None):
    expected = np.full(chain.sentences, -np.inf)
    for s, _, _, one in chain.enumerated(scores):
        expected[s] = one.log_z
    np.testing.assert_allclose(log_z, expected, atol=chain.tolerance, rtol=1e-12)


def highest(chain, scores=None):
    found = {s: one.scores.max() for s, _, _, one in chain.enumerated(scores)}
    return np.array([found.get(s, -np.inf) for s in range(chain.sentences)])


def drawn(kind, recipe, seed):
    """A chain of some kind, random numbers for questions about it, sentence weights, and these written out."""
    chain, rng = kind(recipe), np.random.default_rng(seed)
    weights = chain.weights(rng)
    return chain, rng, weights, np.ones(chain.sentences) if weights is None else weights


@every_kind
@given(recipe=recipes, seed=seeds)
def test_scores_of_paths_and_the_best_one(kind, recipe, seed):
    chain, rng, *_ = drawn(kind, recipe, seed)
    work, path = chain.chain(), chain.path(rng)
    paths, totals = work.best()
    near = {"atol": chain.tolerance, "rtol": 1e-12}
    high = highest(chain)
    np.testing.assert_allclose(totals, high, **near)
    np.testing.assert_allclose(work.path_scores(paths)[high > -np.inf], high[high > -np.inf], **near)
    scores = work.path_scores(path)
    for s, a, b, one in chain.enumerated():
        expected = one.scores[one.paths.index(tuple(path[a:b].tolist()))]
        assert scores[s] == pytest.approx(expected, abs=chain.tolerance, rel=1e-12)


@every_kind
@given(recipe=recipes, seed=seeds)
def test_costs_are_part_of_the_scores(kind, recipe, seed):
    chain, rng, *_ = drawn(kind, recipe, seed)
    gold, costs = chain.path(rng), rng.normal(size=(chain.labels, chain.labels))
    scores = chain.scores + costs[gold]
    solved, work = chain.chain(), chain.chain()
    for one in (solved, work):
        one.add_costs(gold, costs)
    probabilities = chain.added_up(lambda s, one, a, b: one.probabilities, scores)
    assert_log_z(chain, solved.solve().log_z, scores)
    np.testing.assert_allclose(work.best()[1], highest(chain, scores), atol=chain.tolerance, rtol=1e-12)
    answer = work.marginals()
    assert_log_z(chain, answer.log_z, scores)
    if np.isfinite(answer.log_z).all():
        assert_same(chain, (answer.nodes, answer.arcs), probabilities)


@every_kind
@given(recipe=recipes, seed=seeds)
def test_a_constrained_chain_has_the_paths_that_are_known(kind, recipe, seed):
    chain, rng, weights, each = drawn(kind, recipe, seed)
    known = (rng.random(chain.scores.shape) < 0.6) | (np.arange(chain.labels) == chain.path(rng)[:, None])
    scores = np.where(known, chain.scores, -np.inf)
    free = chain.chain()
    bound = free.constrained(known)
    before = chain.added_up(lambda s, one, a, b: each[s] * one.probabilities)
    after = chain.added_up(lambda s, one, a, b: -each[s] * one.probabilities, scores)
    solved = bound.solve()
    assert_log_z(chain, solved.log_z, scores)
    assert_same(chain, solved.expected(-each), after)
    assert_log_z(chain, bound.marginals().log_z, scores)
    chain.gradient[:] = 0.0
    assert_same(chain, free.solve().expected(weights), before)  # which the constrained one has not touched
    free.solve().expected(each)
    solved.expected(-each)  # together, the gradient of the loss for partial labels
    np.testing.assert_allclose(
        chain.gradient, chain.by_patch(before[1] + after[1]), atol=20 * chain.tolerance, rtol=1e-9
    )


@every_kind
@given(recipe=recipes, seed=seeds)
def test_the_difference_of_two_paths(kind, recipe, seed):
    chain, rng, weights, each = drawn(kind, recipe, seed)
    plus, minus = chain.path(rng), chain.path(rng)
    found = chain.chain().path_gradient(plus, minus, weights)
    expected = [p - q for p, q in zip(chain.of_path(plus, each), chain.of_path(minus, each), strict=True)]
    assert_same(chain, found, expected)


@every_kind
@given(recipe=recipes, seed=seeds)
def test_marginals_less_a_path(kind, recipe, seed):
    chain, rng, *_ = drawn(kind, recipe, seed)
    work, path = chain.chain(), chain.path(rng)
    answer = work.marginals()
    assert_log_z(chain, answer.log_z)
    if not np.isfinite(answer.log_z).all():
        return
    work.subtract_path(answer, path)
    taken = chain.of_path(path, np.ones(chain.sentences))
    there = chain.added_up(lambda s, one, a, b: one.probabilities)
    assert_same(chain, (answer.nodes, answer.arcs), [p - q for p, q in zip(there, taken, strict=True)])


@every_kind
@given(recipe=recipes, seed=seeds)
def test_expected_nodes_and_arcs_less_a_path(kind, recipe, seed):
    chain, rng, weights, each = drawn(kind, recipe, seed)
    solved, path = chain.chain().solve(), chain.path(rng)
    assert_log_z(chain, solved.log_z)
    found = solved.expected(weights)
    there = chain.added_up(lambda s, one, a, b: each[s] * one.probabilities)
    assert_same(chain, found, there)
    solved.subtract_path(*found, path, weights)
    taken = chain.of_path(path, each)
    chain.gradient += chain.by_patch(there[1])
    assert_same(chain, found, [p - q for p, q in zip(there, taken, strict=True)])


@every_kind
@given(recipe=recipes, seed=seeds)
def test_variances(kind, recipe, seed):
    chain, _, weights, each = drawn(kind, recipe, seed)
    solved = chain.chain().solve()
    nodes, arcs = solved.variances(weights)
    p, q = chain.added_up(lambda s, one, a, b: one.probabilities)
    of_token = np.repeat(each, np.diff(chain.offsets))[:, None]
    p, q = of_token * p * (1 - p), of_token[..., None] * q * (1 - q)
    near = {"atol": chain.tolerance, "rtol": 1e-9}
    np.testing.assert_allclose(chain.in_rows(nodes), p, **near)
    np.testing.assert_allclose(arcs, q.sum(axis=0), **near)
    np.testing.assert_allclose(chain.gradient, chain.by_patch(q, 2), atol=20 * chain.tolerance, rtol=1e-9)


@every_kind
@given(recipe=recipes, seed=seeds, on_arcs=st.booleans())
def test_covariance_of_a_path_sum_with_every_node_and_arc(kind, recipe, seed, on_arcs):
    chain, rng, weights, each = drawn(kind, recipe, seed)
    solved, path, h = chain.chain().solve(), chain.path(rng), rng.normal(size=chain.scores.shape)
    arc_h, blocks = chain.arc_h(rng) if on_arcs else (None, np.zeros(chain.blocks.shape))
    expectation, sums = np.zeros(chain.sentences), np.zeros(chain.sentences)

    def weighted(s, one, a, b):
        values = one.values_of(h[a:b], lambda t: blocks[a + t])
        expectation[s] = one.probabilities @ values
        sums[s] = values[one.paths.index(tuple(path[a:b].tolist()))]
        return each[s] * one.probabilities * (values - expectation[s])

    expected = chain.added_up(weighted)
    node_h = chain.lay_out(h)
    answer = solved.covariance(node_h, arc_h, weights)
    assert np.shares_memory(answer.nodes, node_h) or not node_h.size
    np.testing.assert_allclose(answer.expectation, expectation, atol=10 * chain.tolerance)
    assert_same(chain, (answer.nodes, answer.arcs), expected, 10.0)

    with_path = [s for s, *_ in chain.enumerated()]
    found = solved.path_sums(chain.lay_out(h), arc_h, path)
    np.testing.assert_allclose(found[with_path], sums[with_path], atol=1e-12)
    each = np.ones(chain.sentences)
    on = chain.added_up(weighted)[0][np.arange(chain.tokens), path]
    found = solved.covariance_on(chain.lay_out(h), arc_h, path)
    np.testing.assert_allclose(found, on, atol=10 * chain.tolerance, rtol=1e-9)
    assert not chain.gradient.any()


@every_kind
@given(recipe=recipes, seed=seeds)
def test_nodes_of_a_path(kind, recipe, seed):
    chain, rng, *_ = drawn(kind, recipe, seed)
    solved, path, values = chain.chain().solve(), chain.path(rng), rng.normal(size=chain.tokens)
    nodes = solved.path_nodes(values, path)
    np.testing.assert_array_equal(solved.on_path(nodes, path), values)
    expected = np.zeros(chain.scores.shape)
    expected[np.arange(chain.tokens), path] = values
    np.testing.assert_array_equal(chain.in_rows(nodes), expected)


def questions(chain, solved, seed):
    """Name -> a function that asks, and returns all it has been told."""
    rng = np.random.default_rng(seed)
    weights, path, h = chain.weights(rng), chain.path(rng), rng.normal(size=chain.scores.shape)
    arc_h = chain.arc_h(rng)[0]

    def covariance():
        answer = solved.covariance(chain.lay_out(h), arc_h, weights)
        return answer.nodes, answer.arcs, answer.expectation

    return {
        "log_z": lambda: (solved.log_z,),
        "expected": lambda: solved.expected(weights),
        "expected without weights": lambda: solved.expected(),
        "variances": lambda: solved.variances(weights),
        "covariance": covariance,
        "covariance_on": lambda: (solved.covariance_on(chain.lay_out(h), arc_h, path),),
        "path_sums": lambda: (solved.path_sums(chain.lay_out(h), arc_h, path),),
    }


@every_kind
@given(recipe=recipes, seed=seeds, order=st.randoms(use_true_random=False))
def test_questions_may_be_asked_again_in_any_order_when_the_chain_is_gone(kind, recipe, seed, order):
    chain = kind(recipe)
    work = chain.chain()
    asked = questions(chain, work.solve(), seed)
    work.scores[:] = np.nan

    def ask(name):
        chain.gradient[:] = 0.0
        return [part.tobytes() for part in (*asked[name](), chain.gradient)]

    first = {name: ask(name) for name in asked}
    again = [*asked, *asked]
    order.shuffle(again)
    for name in again:
        assert ask(name) == first[name], name


@every_kind
def test_more_labels_and_longer_sentences_equal_transitions_written_out(kind):
    chain = kind(Recipe(1, 9, [700, 0, 1, 30, 7, 2, 8], ready=True))
    rng = np.random.default_rng(0)
    h, (arc_h, blocks) = rng.normal(size=chain.scores.shape), chain.arc_h(rng)
    weights = rng.normal(size=chain.sentences)
    of_token = np.repeat(weights, np.diff(chain.offsets))[:, None]
    written, solved = Chain(chain.scores, chain.blocks, chain.offsets), chain.chain().solve()
    expected = written.marginals(arcs=True)
    np.testing.assert_allclose(solved.log_z, expected.log_z, rtol=1e-12)
    assert_same(chain, solved.expected(weights), (of_token * expected.nodes, of_token[..., None] * expected.arcs))
    expected = written.covariance(h, blocks)
    answer = solved.covariance(chain.lay_out(h), arc_h, weights)
    np.testing.assert_allclose(answer.expectation, expected.expectation, rtol=1e-10, atol=1e-10)
    found = answer.nodes, answer.arcs
    assert_same(chain, found, (of_token * expected.nodes, of_token[..., None] * expected.arcs), 100.0)
