"""Differences between two labellings of the same sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.metrics import evaluate
from trellis.metrics.significance import counts_by_sentence, mcnemar, paired_bootstrap, score_of

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def columns(seed, sentences=30, wrong=0.2):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 8, sentences))]).astype(np.int64)
    gold = rng.integers(0, 5, offsets[-1]).astype(np.int32)
    other = np.where(rng.random(len(gold)) < wrong, rng.integers(0, 5, len(gold)), gold).astype(np.int32)
    return Column(gold, LABELS), Column(other, LABELS), offsets


@given(st.integers(0, 1000))
def test_counts_of_sentences_add_up_to_the_scores_of_all(seed):
    gold, other, offsets = columns(seed)
    report = evaluate(gold.ids, other.ids, LABELS, offsets)
    assert score_of(counts_by_sentence(gold, other, offsets, True).sum(axis=0)) == pytest.approx(report.f1)
    assert score_of(counts_by_sentence(gold, other, offsets, False).sum(axis=0)) == pytest.approx(report.accuracy)


def test_a_clear_difference_is_significant_and_none_is_not():
    gold, bad, offsets = columns(1, 200, 0.4)
    _, good, _ = columns(1, 200, 0.05)
    first, second = (counts_by_sentence(gold, c, offsets, True) for c in (bad, good))
    found = paired_bootstrap(first, second, 2000)
    assert found.difference > 0.1
    assert found.p < 0.05
    assert found.low < found.difference < found.high
    same = paired_bootstrap(first, first, 2000)
    assert same.difference == 0.0
    assert same.p == 1.0
    back = paired_bootstrap(second, first, 2000)
    assert back.difference == -found.difference
    assert back.p == found.p


def test_the_bootstrap_agrees_with_the_normal_distribution():
    rng = np.random.default_rng(0)
    first = np.stack([rng.random(400) < 0.7, np.ones(400), np.ones(400)], axis=1).astype(np.int64)
    second = np.stack([rng.random(400) < 0.75, np.ones(400), np.ones(400)], axis=1).astype(np.int64)
    found = paired_bootstrap(first, second, 20_000)
    each = second[:, 0] - first[:, 0]
    error = each.std() / math.sqrt(400)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.05)


def test_mcnemar_counts_what_just_one_has_right():
    gold = Column.of("aaaaaaaaaa")
    found = mcnemar(gold, Column.of("aaaaaaabbb"), Column.of("baaaaaaaaa"))
    assert (found.first, found.second) == (1, 3)
    assert found.p == pytest.approx(2 * (1 + 4) / 16)


def test_many_tokens_by_the_normal_distribution():
    gold = Column(np.zeros(4000, np.int32), ["a", "b"])
    first, second = np.zeros(4000, np.int32), np.zeros(4000, np.int32)
    first[:600] = 1
    second[600:1100] = 1
    found = mcnemar(gold, Column(first, ["a", "b"]), Column(second, ["a", "b"]))
    assert (found.first, found.second) == (500, 600)
    assert found.p == pytest.approx(0.0028, abs=3e-4)


def test_as_many_of_each_is_no_difference():
    gold = Column(np.zeros(1002, np.int32), ["a", "b"])
    first, second = np.zeros(1002, np.int32), np.zeros(1002, np.int32)
    first[:501] = 1
    second[501:] = 1
    found = mcnemar(gold, Column(first, ["a", "b"]), Column(second, ["a", "b"]))
    assert (found.first, found.second, found.p) == (501, 501, 1.0)


def test_no_sentences_are_refused():
    with pytest.raises(DataError, match="no sentences"):
        paired_bootstrap(np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64))


def test_labellings_of_other_sentences_are_refused():
    with pytest.raises(DataError, match="same"):
        paired_bootstrap(np.zeros((3, 3), np.int64), np.zeros((4, 3), np.int64))
