"""The report: numbers, JSON and table."""

from __future__ import annotations

import dataclasses
import json

import conlleval_reference as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError
from trellis.metrics import Report, TypeScore, evaluate

LABELS = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]
GOLD = [1, 2, 3, 0, 1, 2, 2, 3]
GUESS = [1, 2, 3, 4, 1, 2, 0, 3]
OFFSETS = [0, 4, 8]


def test_hand_counted_scores():
    report = evaluate(GOLD, GUESS, LABELS, OFFSETS)
    assert report.accuracy == 6 / 8
    assert (report.precision, report.recall, report.f1) == (2 / 4, 2 / 4, 0.5)
    assert report.by_type == {
        "NP": TypeScore(0.5, 0.5, 0.5, gold=2, predicted=2, correct=1),
        "VP": TypeScore(0.5, 0.5, 0.5, gold=2, predicted=2, correct=1),
    }
    assert (report.tokens, report.sentences, report.scheme) == (8, 2, "conlleval")


def test_the_table_looks_like_conllevals():
    gold = [1, 2, 3, 0, 1, 3]
    guess = [1, 2, 0, 0, 1, 1]
    assert evaluate(gold, guess, LABELS, [0, 6]).as_text().split("\n") == [
        "processed 6 tokens with 4 phrases; found: 3 phrases; correct: 2.",
        "accuracy:  66.67%; precision:  66.67%; recall:  50.00%; FB1:  57.14",
        "               NP: precision:  66.67%; recall: 100.00%; FB1:  80.00  3",
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
        "counting scheme: conlleval",
    ]


def test_json_is_plain_and_has_the_promised_keys():
    record = evaluate(np.array(GOLD), np.array(GUESS, dtype=np.int32), LABELS, np.array(OFFSETS)).as_json()
    keys = ["accuracy", "precision", "recall", "f1", "by_type", "tokens", "sentences", "scheme", "encoding", "macro"]
    assert list(record) == keys
    assert json.loads(json.dumps(record)) == record
    assert record["by_type"]["NP"] == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "gold": 2, "predicted": 2, "correct": 1,
    }  # fmt: skip


def test_part_of_speech_tags_have_an_accuracy_only():
    report = evaluate([0, 1, 1], [0, 1, 0], ["NN", "O"], [0, 3])
    assert (report.precision, report.recall, report.f1, report.by_type) == (None, None, None, {})
    assert report.as_json()["f1"] is None
    assert report.as_text().split("\n") == [
        "processed 3 tokens in 1 sentences.",
        "accuracy:  66.67%",
        "the labels are no segment encoding: no precision, recall and FB1",
    ]


@pytest.mark.parametrize("labels", [LABELS, ["NN"], []])
@pytest.mark.parametrize("offsets", [[0], [0, 0]])
def test_no_tokens_give_zeros(labels, offsets):
    report = evaluate([], [], labels, offsets)
    assert (report.accuracy, report.tokens, report.sentences) == (0.0, 0, len(offsets) - 1)
    assert report.f1 == (0.0 if labels == LABELS else None)
    assert report.as_text().startswith("processed 0 tokens")


def test_no_segment_anywhere_gives_zeros():
    report = evaluate([0, 0], [0, 0], ["O"], [0, 2])
    assert (report.accuracy, report.precision, report.recall, report.f1) == (1.0, 0.0, 0.0, 0.0)


def test_zero_denominators_give_zero():
    nothing_found = evaluate([1, 2], [0, 0], LABELS, [0, 2])
    nothing_there = evaluate([0, 0], [1, 2], LABELS, [0, 2])
    for report in (nothing_found, nothing_there):
        assert (report.precision, report.recall, report.f1) == (0.0, 0.0, 0.0)


def test_halves_round_as_conllevals_do():
    """23 of 160 are 14.375 %, a tie that rounds up; 100 * (23 / 160) falls just short of it."""
    guess = np.repeat([0, 1], [23, 137])
    assert "accuracy:  14.38%" in evaluate(np.zeros_like(guess), guess, ["O", "B-X"], [0, 160]).as_text()


def test_a_report_cannot_be_changed():
    report = evaluate(GOLD, GUESS, LABELS, OFFSETS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.f1 = 1.0


def test_columns_of_different_length_are_refused():
    with pytest.raises(DataError, match="predicted has 2 tokens but offsets end at 3"):
        evaluate([0, 0, 0], [0, 0], LABELS, [0, 3])


SENTENCES = st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6), max_size=4)


@given(SENTENCES)
def test_scores_equal_those_of_the_reference(sentences):
    gold, guess = ([[LABELS[row[i]] for row in s] for s in sentences] for i in range(2))
    tokens, right, *by_type = reference.count(gold, guess)
    in_gold, in_guess, in_both = (c.total() for c in by_type)
    flat = np.array([row for s in sentences for row in s], dtype=np.int64).reshape(-1, 2)
    report: Report = evaluate(flat[:, 0], flat[:, 1], LABELS, np.cumsum([0, *map(len, sentences)]))
    assert report.tokens == tokens
    assert report.accuracy == (right / tokens if tokens else 0.0)
    assert report.precision == (in_both / in_guess if in_guess else 0.0)
    assert report.recall == (in_both / in_gold if in_gold else 0.0)
    assert report.f1 == pytest.approx(2 * in_both / max(in_gold + in_guess, 1), abs=1e-15)
