"""Forward-backward on dual numbers: its derivatives are the covariances, enumerated or from kept lattices."""

from __future__ import annotations

import numpy as np
import pytest
from chain_kinds import Patched, Plain, Recipe, recipes
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import SettingError

seeds = st.integers(0, 2**32 - 1)


@given(recipe=recipes, seed=seeds)
def test_derivatives_of_the_marginals_equal_enumerated_covariances(recipe, seed):
    chain, rng = Plain(recipe), np.random.default_rng(seed)
    weights, h, (arc_h, blocks) = chain.weights(rng), rng.normal(size=chain.scores.shape), chain.arc_h(rng)
    each = np.ones(chain.sentences) if weights is None else weights
    expectation = np.zeros(chain.sentences)

    def weighted(s, one, a, b):
        values = one.values_of(h[a:b], lambda t: blocks[a + t])
        expectation[s] = one.probabilities @ values
        return each[s] * one.probabilities * (values - expectation[s])

    nodes, arcs = chain.added_up(weighted)
    node_h = chain.lay_out(h)
    answer = chain.chain().dual_marginals(node_h, arc_h, weights)
    near = {"atol": 10 * chain.tolerance, "rtol": 1e-9}
    assert np.shares_memory(answer.nodes, node_h) or not node_h.size
    np.testing.assert_allclose(chain.in_rows(answer.nodes), nodes, **near)
    np.testing.assert_allclose(answer.arcs, arcs.sum(axis=0), **near)
    np.testing.assert_allclose(answer.expectation, expectation, **near)


@pytest.mark.parametrize("labels", [1, 3, 9, 22])
@pytest.mark.parametrize("forbidden", [False, True])
def test_larger_chains_equal_the_pass_on_kept_lattices(labels, forbidden):
    """Buffers that fill up, sentences of all lengths in step, padding that is no number."""
    chain = Plain(Recipe(labels, labels, [600, 0, 1, 30, 7, 2, 8, 55, 1], scores=3.0, forbidden=forbidden))
    if forbidden:
        np.fill_diagonal(chain.transitions, 0.0)
    rng = np.random.default_rng(labels)
    h, (arc_h, _), weights = rng.normal(size=chain.scores.shape), chain.arc_h(rng), chain.weights(rng)
    kept = chain.chain().solve().covariance(chain.lay_out(h), arc_h, weights)
    answer = chain.chain().dual_marginals(chain.lay_out(h, -np.inf), arc_h, weights)
    for name in ("nodes", "arcs", "expectation"):
        np.testing.assert_allclose(getattr(answer, name), getattr(kept, name), rtol=1e-10, atol=1e-10)


def test_sentences_that_need_the_log_domain_get_it_and_leave_the_others_alone():
    chain, rng = Plain(Recipe(3, 4, [3, 4, 2, 3, 4, 3])), np.random.default_rng(0)
    h, (arc_h, _) = rng.normal(size=chain.scores.shape), chain.arc_h(rng)
    before = chain.chain().dual_marginals(chain.lay_out(h), arc_h)
    chain.scores[4] = [-800.0, 0.0, -900.0, 1.0]  # in the second sentence
    after = chain.chain().dual_marginals(chain.lay_out(h), arc_h)
    kept = chain.chain().solve()
    assert list(kept.apart) == [1]
    exact = kept.covariance(chain.lay_out(h), arc_h)
    np.testing.assert_allclose(after.nodes, exact.nodes, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(after.arcs, exact.arcs, rtol=1e-10, atol=1e-12)
    others = np.r_[0:3, 7 : chain.tokens]
    np.testing.assert_array_equal(after.nodes[others], before.nodes[others])


def test_the_chain_may_be_asked_again():
    """Nothing is used up: scores stay as they are."""
    chain, rng = Plain(Recipe(5, 3, [4, 2, 3])), np.random.default_rng(1)
    work, h, (arc_h, _) = chain.chain(), rng.normal(size=chain.scores.shape), chain.arc_h(rng)
    first, again = (work.dual_marginals(chain.lay_out(h), arc_h) for _ in range(2))
    np.testing.assert_array_equal(first.nodes, again.nodes)
    np.testing.assert_array_equal(first.arcs, again.arcs)


def test_patches_on_transitions_are_refused():
    chain = Patched(Recipe(1, 3, [3]))
    with pytest.raises(SettingError, match="attributes on transitions"):
        chain.chain().dual_marginals(chain.lay_out(chain.scores), chain.transitions)
