"""What is kept for Hessian-vector products, in single precision, tells what double precision does to five digits."""

from __future__ import annotations

import numpy as np
import pytest
from chain_kinds import KINDS, recipes
from hypothesis import given
from hypothesis import strategies as st

from trellis.lattice import WorkChain
from trellis.rows import padded

seeds = st.integers(0, 2**32 - 1)


def parts(answer):
    return answer.nodes, answer.arcs, answer.expectation


@pytest.mark.parametrize("kind", KINDS)
@given(recipe=recipes, seed=seeds, on_arcs=st.booleans())
def test_covariances(kind, recipe, seed, on_arcs):
    chain, rng = kind(recipe), np.random.default_rng(seed)
    weights, path, h = chain.weights(rng), chain.path(rng), rng.normal(size=chain.scores.shape)
    arc_h = chain.arc_h(rng)[0] if on_arcs else None
    solved = chain.chain().solve()
    narrowed = solved.narrowed()
    exact = parts(solved.covariance(chain.lay_out(h), arc_h, weights))
    for found, expected in zip(parts(narrowed.covariance(chain.lay_out(h), arc_h, weights)), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * max(1.0, np.abs(expected).max(initial=0.0)))
    on = [one.covariance_on(chain.lay_out(h), arc_h, path) for one in (narrowed, solved)]
    np.testing.assert_allclose(*on, rtol=0, atol=1e-5)


def a_chain(labels, lengths, spread=1.0):
    rng, offsets = np.random.default_rng(1), np.concatenate([[0], np.cumsum(lengths)])
    scores = np.full((int(offsets[-1]), padded(labels)), -np.inf)
    scores[:, :labels] = rng.normal(size=(len(scores), labels))
    return WorkChain(scores, spread * rng.normal(size=(labels, labels)), offsets, scores.copy), rng


def h_of_one_sign(chain, rng):
    """On nodes and arcs: sums that grow with the length of a sentence."""
    return rng.normal(size=chain.scores.shape) + 3.0, rng.normal(size=chain.transitions.shape) + 3.0


@pytest.mark.parametrize(("length", "near"), [(25, 2e-6), (1300, 1e-4)])
def test_sums_that_grow_with_the_sentence_cancel_before_they_are_added_up(length, near):
    chain, rng = a_chain(22, [length, 7])
    solved, (h, g) = chain.solve(), h_of_one_sign(chain, rng)
    exact = parts(solved.covariance(h.copy(), g))
    for found, expected in zip(parts(solved.narrowed().covariance(h.astype(np.float32), g)), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=near * np.abs(expected).max())


@pytest.mark.parametrize(("spread", "kind"), [(1.0, np.float32), (40.0, np.float64)])
def test_numbers_that_singles_do_not_hold_stay_double_and_all_are_copies(spread, kind):
    chain, rng = a_chain(9, [5, 12, 3, 8, 1], spread)
    solved, (h, g) = chain.solve(), h_of_one_sign(chain, rng)
    exact, narrowed = parts(solved.covariance(h.copy(), g)), solved.narrowed()
    assert narrowed.alpha.dtype == kind
    for kept in chain.space:
        kept[:] = np.nan
    for found, expected in zip(parts(narrowed.covariance(h.copy(), g)), exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_h_may_be_of_either_precision():
    chain, rng = a_chain(5, [4, 6])
    narrowed, (h, g) = chain.solve().narrowed(), h_of_one_sign(chain, rng)
    double, single = narrowed.covariance(h.copy(), g), narrowed.covariance(h.astype(np.float32), g)
    assert (double.nodes.dtype, single.nodes.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single.nodes, double.nodes, atol=1e-5)
