"""Chains that are normalised label by label: every answer equals enumeration, in plain Python and compiled."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.errors import NoLegalPathError, SettingError
from trellis.lattice.history import HistoryChain, Pieces


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request, monkeypatch):
    for module in ("chain", "history"):
        monkeypatch.setattr(f"trellis.lattice.{module}.worthwhile", lambda tokens: request.param == "compiled")
    return request.param


@st.composite
def histories(draw, orders=(1, 2, 3), forbid=True):
    """Up to three sentences of 0 to 4 tokens, 1 to 3 labels, with forbidden labels and transitions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels, order = draw(st.integers(1, 3)), draw(st.sampled_from(orders))
    offsets = np.cumsum([0, *draw(st.lists(st.integers(0, 4), max_size=3))]).astype(np.int64)
    tokens, scale = int(offsets[-1]), draw(st.sampled_from([0.0, 1.0, 30.0, 1000.0]))
    shape = (tokens, labels, labels) if order == 1 and draw(st.booleans()) else (labels, labels)
    scores, transitions = scale * rng.normal(size=(tokens, labels)), scale * rng.normal(size=shape)
    if forbid and draw(st.booleans()):
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        transitions[rng.random(shape) < 0.3] = -np.inf
    keys = [np.flatnonzero(rng.random(labels**m) < 0.7) for m in range(2, order + 1)]
    cut = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    counts = rng.integers(0, labels + 1, int(cut[-1]))
    label = [np.sort(rng.choice(labels, n, replace=False)) for n in counts]
    pieces = Pieces(
        np.concatenate([np.zeros(0, np.int64), *keys]),
        cut,
        np.cumsum([0, *counts]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *label]).astype(np.int32),
        scale * rng.normal(size=int(counts.sum())),
    )
    return HistoryChain.of(scores, transitions, pieces, order, offsets)


def log_choice(chain, first, t, labels):
    """log P of the last of these labels, at token t of the sentence that begins at `first`, given those before."""
    row = chain.scores[first + t].copy()
    before = labels[:-1]
    if before:
        row += (chain.transitions[first + t] if chain.transitions.ndim == 3 else chain.transitions)[before[-1]]
    pieces = chain.pieces
    for m in range(min(len(before), chain.order) - 1):
        key = sum(label * chain.labels**n for n, label in enumerate(reversed(before[-m - 2 :])))
        for k in range(pieces.cut[m], pieces.cut[m + 1]):
            if pieces.keys[k] == key:
                own = slice(pieces.start[k], pieces.start[k + 1])
                row[pieces.label[own]] += pieces.weight[own]
    with np.errstate(divide="ignore", invalid="ignore"):
        high = row.max()
        return row[labels[-1]] - high - np.log(np.exp(row - high).sum()) if high > -np.inf else -np.inf


def enumerated(chain):
    """Of each sentence all labellings and their log-probabilities."""
    for a, b in pairwise(chain.offsets.tolist()):
        paths = list(product(range(chain.labels), repeat=b - a))
        yield a, b, paths, [sum(log_choice(chain, a, t, p[: t + 1]) for t in range(len(p))) for p in paths]


def legal(chain):
    return all(max(scores) > -np.inf for _, _, _, scores in enumerated(chain))


@settings(max_examples=150, deadline=None)
@given(chain=histories())
def test_exact_search_finds_the_most_probable_labels(chain):
    if not legal(chain):
        with pytest.raises(NoLegalPathError):
            chain.best()
        return
    paths, totals = chain.best()
    for (a, b, every, scores), total in zip(enumerated(chain), totals, strict=True):
        assert total == pytest.approx(max(scores), abs=1e-9)
        assert scores[every.index(tuple(paths[a:b].tolist()))] == pytest.approx(total, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(chain=histories(), beam=st.integers(1, 30))
def test_a_beam_is_exact_once_it_has_room_for_all_histories_and_never_better(chain, beam):
    if not legal(chain):
        return
    exact, (paths, totals) = chain.best()[1], chain.best(beam)
    np.testing.assert_allclose(chain.log_probabilities(paths), totals, atol=1e-9)
    assert np.all(totals <= exact + 1e-9)
    if beam >= chain.states:
        np.testing.assert_allclose(totals, exact, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(chain=histories())
def test_the_searches_of_higher_orders_are_exact_for_all(chain):
    """Not by way of the exact search, which takes the place of so wide a beam."""
    if not legal(chain) or not len(chain.scores):
        return
    from trellis.lattice.kernels.history import beam_histories, exact_histories

    paths, totals = np.zeros(len(chain.scores), np.int32), np.zeros(len(chain.offsets) - 1)
    beam_histories(*chain._for_loops, chain.states, paths, totals)
    np.testing.assert_allclose(totals, chain.best()[1], atol=1e-9)
    exact_histories(*chain._for_loops, paths, totals)
    np.testing.assert_allclose(totals, chain.best()[1], atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(chain=histories())
def test_a_beam_of_one_is_greedy(chain):
    if not legal(chain):
        return
    paths, _ = chain.best(1)
    for a, b in pairwise(chain.offsets.tolist()):
        labels = ()
        for t in range(b - a):
            choices = [log_choice(chain, a, t, (*labels, j)) for j in range(chain.labels)]
            labels = (*labels, int(np.argmax(choices)))
        assert tuple(paths[a:b].tolist()) == labels


@settings(max_examples=150, deadline=None)
@given(chain=histories())
def test_marginals_are_sums_over_all_labellings(chain):
    if not legal(chain):
        with pytest.raises(NoLegalPathError):
            chain.marginals()
        return
    nodes = chain.marginals()
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-12)
    for a, b, every, scores in enumerated(chain):
        expected = np.zeros((b - a, chain.labels))
        for path, score in zip(every, scores, strict=True):
            expected[np.arange(b - a), list(path)] += np.exp(score)
        np.testing.assert_allclose(nodes[a:b], expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(chain=histories(orders=(1,)))
def test_order_one_is_a_chain_whose_labels_pay_for_what_comes_after(chain):
    if not legal(chain):
        return
    same = chain.chain()
    np.testing.assert_allclose(same.marginals().log_z, 0.0, atol=1e-9)
    np.testing.assert_allclose(same.marginals().nodes, chain.marginals(), atol=1e-9)
    np.testing.assert_allclose(same.best()[1], chain.best()[1], atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(chain=histories(orders=(2, 3)))
def test_higher_orders_are_no_chain_of_labels(chain):
    with pytest.raises(SettingError, match="order 1 alone"):
        chain.chain()


def test_labels_are_drawn_as_often_as_they_are_probable():
    rng = np.random.default_rng(3)
    sentences, scores = 4000, np.tile(rng.normal(size=(3, 2)), (4000, 1))
    pieces = Pieces(np.array([1]), np.array([0, 1]), np.array([0, 1]), np.array([0], np.int32), np.array([2.0]))
    chain = HistoryChain.of(scores, rng.normal(size=(2, 2)), pieces, 2, np.arange(0, 3 * sentences + 1, 3))
    drawn = chain.sample(np.random.default_rng(0)).reshape(-1, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), chain.marginals()[:3, 1], atol=0.03)


def test_plain_and_compiled_draw_the_same_labels(monkeypatch):
    rng = np.random.default_rng(5)
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(rng.normal(size=(60, 4)), rng.normal(size=(4, 4)), none, 1, np.arange(0, 61, 6))
    drawn = []
    for compiled in (False, True):
        monkeypatch.setattr("trellis.lattice.history.worthwhile", lambda tokens, compiled=compiled: compiled)
        drawn.append(chain.sample(np.random.default_rng(1)).tolist())
    assert drawn[0] == drawn[1]


def test_too_many_histories_are_refused_with_a_way_out():
    labels = 50
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(4, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(np.zeros((3, labels)), np.zeros((labels, labels)), none, 4, np.array([0, 3]))
    with pytest.raises(SettingError, match="6,250,000 histories, which is too many; give a `beam`"):
        chain.best()
    assert chain.best(5)[0].tolist() == [0, 0, 0]


def test_many_histories_are_no_small_job(monkeypatch):
    """Plain Python is for little work, not for few tokens."""
    asked = []
    monkeypatch.setattr("trellis.lattice.history.worthwhile", lambda work: bool(asked.append(work)) or True)
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(2, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(np.zeros((10, 40)), np.zeros((40, 40)), none, 2, np.array([0, 10]))
    chain.best()
    chain.marginals()
    chain.best(5)
    assert asked == [16_000, 16_000, 50]


def test_a_long_sentence_is_done():
    rng, tokens = np.random.default_rng(0), 20_000
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(2, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(rng.normal(size=(tokens, 3)), np.zeros((3, 3)), none, 2, np.array([0, tokens]))
    assert chain.best(4)[0].tolist() == chain.scores.argmax(axis=1).tolist()


@pytest.mark.parametrize("size", [1e4, 1e15, 1e300])
@pytest.mark.parametrize("order", [1, 2])
def test_marginals_sum_to_one_however_large_scores_are(size, order):
    rng = np.random.default_rng(2)
    scores, transitions = size * rng.normal(size=(12, 3)), size * rng.normal(size=(3, 3))
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(order, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(scores, transitions, none, order, np.array([0, 5, 12]))
    np.testing.assert_allclose(chain.marginals().sum(axis=1), 1.0, atol=1e-9)
    assert np.all(chain.best()[1] <= 0.0)


def test_a_beam_that_no_memory_holds_is_refused():
    none = Pieces(
        np.zeros(0, np.int64), np.zeros(4, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    )
    chain = HistoryChain.of(np.zeros((1000, 50)), np.zeros((50, 50)), none, 4, np.array([0, 1000]))
    with pytest.raises(SettingError, match="a beam of 6,000,000 is too wide for a sentence of 1,000 tokens"):
        chain.best(6_000_000)
