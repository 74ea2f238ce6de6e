"""Every question about a chain equals enumeration, in every way there is to compute it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from enumeration import EnumeratedChain
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.errors import DataError, NoLegalPathError
from trellis.lattice import Chain

WAYS = ["plain", "compiled"]
SCALES = [0.0, 1.0, 8.0, 300.0, 1e4]


@pytest.fixture(params=WAYS, autouse=True)
def way(request, monkeypatch):
    """Runs every test through the plain NumPy path and through the kernels."""
    monkeypatch.setattr("trellis.lattice.chain.worthwhile", lambda tokens: request.param == "compiled")
    return request.param


@st.composite
def chains(draw, forbid=True):
    """Up to four sentences of 0 to 5 tokens, 1 to 4 labels, with ties, forbidden arcs and extreme scores."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 5), min_size=0, max_size=4))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = int(offsets[-1])
    shape = (tokens, labels, labels) if draw(st.booleans()) else (labels, labels)
    scores = rng.normal(size=(tokens, labels)) * draw(st.sampled_from(SCALES))
    transitions = rng.normal(size=shape) * draw(st.sampled_from(SCALES))
    if draw(st.booleans()):  # ties
        scores, transitions = np.round(scores), np.round(transitions)
    if forbid and draw(st.booleans()):
        scores[rng.random(scores.shape) < 0.2] = -np.inf
    if forbid and draw(st.booleans()):
        transitions[rng.random(shape) < 0.3] = -np.inf
    return Chain(scores, transitions, offsets)


def enumerated(chain):
    """One enumeration a sentence, None where no path is legal."""
    out = []
    blocks = chain.transitions
    for a, b in pairwise(chain.offsets):
        transition = (lambda t, a=a: blocks[a + t]) if chain.positional else (lambda t: blocks)
        one = EnumeratedChain(chain.scores[a:b], transition)
        out.append((int(a), int(b), one if one.scores.max() > -np.inf else None))
    return out


def legal(chain):
    return all(one is not None for _, _, one in enumerated(chain))


def tolerance(chain):
    """A stated multiple of rounding at the magnitude of the scores."""
    finite = np.concatenate([chain.scores.ravel(), chain.transitions.ravel(), [1.0]])
    return 1e-14 * max(100.0, 20 * np.abs(finite[np.isfinite(finite)]).max())


@settings(max_examples=200, deadline=None)
@given(chain=chains())
def test_best_is_the_best_of_all_paths(chain):
    if not legal(chain):
        with pytest.raises(NoLegalPathError, match="token"):
            chain.best()
        return
    paths, totals = chain.best()
    np.testing.assert_allclose(chain.path_scores(paths), totals, atol=tolerance(chain), rtol=1e-12)
    for (_, _, one), total in zip(enumerated(chain), totals, strict=True):
        assert total == pytest.approx(one.scores.max(), abs=tolerance(chain), rel=1e-12)


@settings(max_examples=200, deadline=None)
@given(chain=chains(), each_arc=st.booleans())
def test_partition_and_marginals(chain, each_arc):
    if not legal(chain):
        with pytest.raises(NoLegalPathError, match="token"):
            chain.marginals()
        return
    answer = chain.marginals(arcs=True, each_arc=each_arc)
    per_token = answer.arcs.ndim == 3
    assert per_token == (chain.positional or each_arc)
    expected = np.zeros_like(answer.arcs)
    near = {"atol": tolerance(chain), "rtol": 0}
    for s, (a, b, one) in enumerate(enumerated(chain)):
        assert answer.log_z[s] == pytest.approx(one.log_z, abs=tolerance(chain), rel=1e-12)
        np.testing.assert_allclose(answer.nodes[a:b], one.nodes(), **near)
        if per_token:
            expected[a:b] += one.arcs()
        else:
            expected += one.arcs().sum(axis=0)
    np.testing.assert_allclose(answer.arcs, expected, **near)
    np.testing.assert_allclose(answer.nodes.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(chain.marginals().nodes, chain.marginals(arcs=True).nodes)


@settings(max_examples=200, deadline=None)
@given(chain=chains(), seed=st.integers(0, 1000), arc_h_kind=st.sampled_from(["none", "one", "each"]))
def test_covariance_of_a_path_sum_with_every_arc(chain, seed, arc_h_kind):
    rng = np.random.default_rng(seed)
    tokens, labels = chain.scores.shape
    node_h = rng.normal(size=(tokens, labels))
    arc_h = {"none": None, "one": rng.normal(size=(labels, labels))}.get(
        arc_h_kind, rng.normal(size=(tokens, labels, labels))
    )
    if not legal(chain):
        with pytest.raises(NoLegalPathError):
            chain.covariance(node_h, arc_h)
        return
    answer = chain.covariance(node_h, arc_h)
    expected = np.zeros_like(answer.arcs)
    near = {"atol": 10 * tolerance(chain), "rtol": 1e-9}
    for s, (a, b, one) in enumerate(enumerated(chain)):

        def h_at(t, a=a):
            if arc_h is None:
                return np.zeros((labels, labels))
            return arc_h if arc_h.ndim == 2 else arc_h[a + t]

        values, p = one.values_of(node_h[a:b], h_at), one.probabilities
        mean = (p * values).sum()
        assert answer.expectation[s] == pytest.approx(mean, abs=10 * tolerance(chain))
        np.testing.assert_allclose(answer.nodes[a:b], one.nodes(p * (values - mean)), **near)
        arcs = one.arcs(p * (values - mean))
        if chain.positional:
            expected[a:b] += arcs
        else:
            expected += arcs.sum(axis=0)
    np.testing.assert_allclose(answer.arcs, expected, **near)


@settings(max_examples=100, deadline=None)
@given(chain=chains())
def test_entropy(chain):
    if not legal(chain):
        with pytest.raises(NoLegalPathError):
            chain.entropy()
        return
    for (_, _, one), found in zip(enumerated(chain), chain.entropy(), strict=True):
        assert found == pytest.approx(one.entropy, abs=10 * tolerance(chain))


@settings(max_examples=50, deadline=None)
@given(chain=chains(), seed=st.integers(0, 100))
def test_samples_are_legal_and_repeatable(chain, seed):
    if not legal(chain):
        return
    paths = chain.sample(3, np.random.default_rng(seed))
    assert paths.shape == (3, len(chain.scores))
    np.testing.assert_array_equal(paths, chain.sample(3, np.random.default_rng(seed)))
    for path in paths:
        assert np.all(chain.path_scores(path) > -np.inf)


def test_samples_follow_the_distribution():
    rng = np.random.default_rng(3)
    chain = Chain(rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.array([0, 3]))
    paths = chain.sample(20_000, rng)
    shares = np.stack([(paths == j).mean(axis=0) for j in range(3)], axis=1)
    np.testing.assert_allclose(shares, chain.marginals().nodes, atol=0.02)


@settings(max_examples=50, deadline=None)
@given(chain=chains(forbid=False), shift=st.sampled_from([-1e6, -3.0, 7.0, 1e6]))
def test_a_constant_added_to_every_score_changes_nothing_but_log_z(chain, shift):
    moved = Chain(chain.scores + shift, chain.transitions, chain.offsets)
    before, after = chain.marginals(), moved.marginals()
    near = tolerance(chain) + 1e-13 * abs(shift)
    np.testing.assert_allclose(after.nodes, before.nodes, atol=near)
    lengths = np.diff(chain.offsets)
    np.testing.assert_allclose(after.log_z, before.log_z + shift * lengths, rtol=1e-12, atol=near)


@pytest.mark.parametrize("shape", [(4, 4), (40, 4, 4)])
@pytest.mark.parametrize("size", [1e4, 1e100, 1e300])
def test_extreme_scores_stay_finite(size, shape):
    rng = np.random.default_rng(0)
    chain = Chain(rng.normal(size=(40, 4)) * size, rng.normal(size=shape), np.array([0, 15, 40]))
    answer = chain.marginals(arcs=True)
    assert np.isfinite(answer.nodes).all()
    assert np.isfinite(answer.log_z).all()
    np.testing.assert_allclose(answer.nodes.sum(axis=1), 1.0)
    np.testing.assert_allclose(answer.arcs.sum(), 38.0)


@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("size", [1e8, 1e20, 1e50, 1e300])
def test_scores_and_transitions_that_are_both_extreme(size, positional):
    """Rounding of a sum of such numbers is larger than any score that exp can take."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        tokens, labels = rng.integers(1, 6), rng.integers(2, 5)
        shape = (tokens, labels, labels) if positional else (labels, labels)
        scores, transitions = rng.normal(size=(tokens, labels)) * size, rng.normal(size=shape) * size
        chain = Chain(scores, transitions, np.array([0, tokens]))
        answer = chain.marginals(arcs=True)
        np.testing.assert_allclose(answer.nodes.sum(axis=1), 1.0)
        np.testing.assert_allclose(answer.arcs.sum(), tokens - 1)
        best, total = chain.best()
        assert answer.log_z[0] == pytest.approx(total[0])
        assert answer.nodes[np.arange(tokens), best].min() > 0.0
        covariance = chain.covariance(rng.normal(size=scores.shape))
        assert np.isfinite(covariance.nodes).all()


@pytest.mark.parametrize("positional", [False, True])
def test_two_strands_that_never_meet_and_take_turns_in_underflowing(positional):
    """Each strand looks hopeless for a while from either end; the middle decides."""
    length = 60
    scores = np.zeros((length, 2))
    scores[:8, 0] = scores[-8:, 0] = -100.0
    scores[8:-8, 1] = -50.0
    transitions = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    transitions = np.tile(transitions, (length, 1, 1)) if positional else transitions
    answer = Chain(scores, transitions, np.array([0, length])).marginals()
    assert answer.log_z[0] == pytest.approx(-1600.0)
    np.testing.assert_allclose(answer.nodes[:, 0], 1.0)


@pytest.mark.parametrize(("length", "labels"), [(240, 22), (1238, 9), (2000, 22)])
def test_scores_of_zero_have_as_many_paths_as_there_are(length, labels):
    answer = Chain(np.zeros((length, labels)), np.zeros((labels, labels)), np.array([0, length])).marginals(arcs=True)
    assert answer.log_z[0] == pytest.approx(length * np.log(labels), rel=1e-12)
    np.testing.assert_allclose(answer.nodes, 1 / labels)


OFF = -np.inf
DEAD_ENDS = {
    "a label that is never reached grows without bound": (
        [[0, -200, OFF, OFF], [0, -200, 0, OFF], [OFF, 0, 0, OFF], [OFF, -200, 0, 0], [OFF, -200, 0, 0]],
        [[0, OFF, OFF, OFF], [OFF, 0, OFF, OFF], [OFF, OFF, OFF, 0], [OFF, OFF, OFF, 0]],
    ),
    "scales beyond exp(600)": (
        [[0, 0, OFF], [-69, -69, 0], [0, -224, OFF], [0, -224, OFF], [OFF, -229, 0]],
        [[0, OFF, OFF], [OFF, 0, OFF], [OFF, OFF, 0]],
    ),
    "far apart but all finite, with masks": (
        [[0, -50, OFF], [OFF, -50, 0], [0, OFF, -50], [-50, 0, OFF], [0, OFF, 0]],
        [[0, -500, -500], [-500, 0, -500], [-500, -500, -250]],
    ),
}


def summed_marginals(scores, transitions, kind):
    """log Z, nodes and summed arcs of one sentence, asked for in one of the ways there are."""
    blocks = np.tile(transitions, (len(scores), 1, 1)) if kind == "positional" else transitions
    answer = Chain(scores, blocks, np.array([0, len(scores)])).marginals(arcs=True, each_arc=kind == "each arc")
    return answer if answer.arcs.ndim == 2 else replace(answer, arcs=answer.arcs.sum(axis=0))


KINDS = ["sum", "each arc", "positional"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", DEAD_ENDS)
def test_dead_ends_do_not_spoil_the_living(case, kind):
    scores, transitions = (np.array(values, float) for values in DEAD_ENDS[case])
    answer = summed_marginals(scores, transitions, kind)
    one = EnumeratedChain(scores, lambda t: transitions)
    assert answer.log_z[0] == pytest.approx(one.log_z)
    np.testing.assert_allclose(answer.nodes, one.nodes(), atol=1e-12)
    np.testing.assert_allclose(answer.arcs, one.arcs().sum(axis=0), atol=1e-12)


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([30.0, 100.0, 230.0]), kind=st.sampled_from(KINDS))
def test_masks_and_wide_spreads(seed, spread, kind):
    rng = np.random.default_rng(seed)
    scores, transitions = rng.uniform(-spread, 0, (5, 4)), rng.uniform(-spread, 0, (4, 4))
    scores[rng.random(scores.shape) < 0.3] = -np.inf
    transitions[rng.random(transitions.shape) < 0.4] = -np.inf
    one = EnumeratedChain(scores, lambda t: transitions)
    if one.scores.max() == -np.inf:
        return
    answer = summed_marginals(scores, transitions, kind)
    assert answer.log_z[0] == pytest.approx(one.log_z)
    np.testing.assert_allclose(answer.nodes, one.nodes(), atol=1e-11)
    np.testing.assert_allclose(answer.arcs, one.arcs().sum(axis=0), atol=1e-11)


@pytest.mark.parametrize("ask", ["best", "marginals"])
def test_scores_too_large_to_add_up_are_an_error(ask):
    chain = Chain(np.full((3, 2), -1e308), np.zeros((2, 2)), np.array([0, 3]))
    with pytest.raises(DataError, match="more than a number can hold"):
        getattr(chain, ask)()


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="offsets"):
        Chain(np.zeros((3, 2)), np.zeros((2, 2)), np.array([0, 3_000_000]))
    chain = Chain(np.zeros((3, 2)), np.zeros((2, 2)), np.array([0, 3]))
    with pytest.raises(DataError, match="paths"):
        chain.path_scores(np.array([0, 1, 2], np.int32))
    with pytest.raises(DataError, match="does not fit"):
        chain.covariance(np.zeros((2, 2)))


def test_mixed_lengths_are_answered_each_as_if_alone(way):
    rng = np.random.default_rng(5)
    lengths = [7, 0, 1, 30, 2, 7, 13, 1, 4]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores, transitions = rng.normal(size=(offsets[-1], 5)), rng.normal(size=(5, 5))
    together = Chain(scores, transitions, offsets).marginals(arcs=True)
    arcs = np.zeros((5, 5))
    for s, (a, b) in enumerate(pairwise(offsets)):
        alone = Chain(scores[a:b], transitions, np.array([0, b - a])).marginals(arcs=True)
        np.testing.assert_array_equal(alone.nodes, together.nodes[a:b])
        assert alone.log_z[0] == together.log_z[s]
        arcs += alone.arcs
    np.testing.assert_allclose(arcs, together.arcs, rtol=1e-12)


def test_no_sentence_at_all():
    chain = Chain(np.zeros((0, 3)), np.zeros((3, 3)), np.zeros(1, np.int64))
    assert chain.best()[0].shape == (0,)
    assert chain.marginals(arcs=True).arcs.sum() == 0.0
    assert chain.entropy().shape == (0,)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_are_refused(bad):
    with pytest.raises(DataError, match="NaN"):
        Chain(np.array([[0.0, bad]]), np.zeros((2, 2)), np.array([0, 1]))
    with pytest.raises(DataError, match="NaN"):
        Chain(np.zeros((1, 2)), np.full((2, 2), bad), np.array([0, 1]))


def test_one_very_long_sentence(way):
    length = 200_000 if way == "compiled" and jit_is_on() else 2_000
    rng = np.random.default_rng(1)
    chain = Chain(rng.normal(size=(length, 3)), rng.normal(size=(3, 3)), np.array([0, length]))
    answer = chain.marginals()
    np.testing.assert_allclose(answer.nodes.sum(axis=1), 1.0, atol=1e-9)
    assert np.isfinite(answer.log_z[0])
    assert chain.best()[1][0] <= answer.log_z[0]


def jit_is_on():
    import numba

    return not numba.config.DISABLE_JIT
