"""Known and unknown words, and which labels are taken for which."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.metrics import Confused, WordScore, by_knowledge, confusion, evaluate, known_words, segments

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=30)


def arrays(rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = np.array([[g, p, k] for g, p, k in rows], np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(bool)


def test_words_are_known_that_occur():
    words = Column.of("a b a C".split())
    assert known_words(words, ["a", "c", "d"]).tolist() == [True, False, True, False]
    assert known_words(words, Column.of("C b".split()).strings).tolist() == [False, True, False, True]
    assert known_words(Column.of([]), []).tolist() == []


@given(ROWS)
def test_scores_equal_those_of_the_tokens_and_segments_alone(rows):
    gold, guess, known = arrays(rows)
    offsets = [0, len(rows) // 2, len(rows)]
    found = by_knowledge(gold, guess, known, LABELS, offsets)
    there, predicted = (
        set(zip(*map(np.ndarray.tolist, segments(c, LABELS, offsets)), strict=True)) for c in (gold, guess)
    )
    for one, which, mine in (
        (found.known, known, {s for s in there if known[s[0] : s[1]].all()}),
        (found.unknown, ~known, {s for s in there if not known[s[0] : s[1]].all()}),
    ):
        accuracy = np.mean((gold == guess)[which]) if which.any() else 0.0
        recall = len(mine & predicted) / len(mine) if mine else 0.0
        assert one == WordScore(int(which.sum()), pytest.approx(accuracy), len(mine), pytest.approx(recall))


@given(ROWS)
def test_the_two_make_up_the_whole(rows):
    gold, guess, known = arrays(rows)
    found, report = (
        by_knowledge(gold, guess, known, LABELS, [0, len(rows)]),
        evaluate(gold, guess, LABELS, [0, len(rows)]),
    )
    parts = (found.known, found.unknown)
    assert sum(one.tokens for one in parts) == report.tokens
    assert sum(one.tokens * one.accuracy for one in parts) == pytest.approx(report.correct_tokens)
    assert sum(one.segments for one in parts) == sum(one.gold for one in report.by_type.values())
    assert sum(one.segments * one.recall for one in parts) == pytest.approx(
        sum(one.correct for one in report.by_type.values())
    )


def test_the_strict_scheme_counts_other_segments():
    gold, guess, known = [1, 2, 0, 1], [1, 2, 0, 2], [True, True, True, False]
    assert by_knowledge(gold, guess, known, LABELS, [0, 4]).unknown.recall == 1.0
    assert by_knowledge(gold, guess, known, LABELS, [0, 4], "strict").unknown.recall == 0.0


def test_the_lines_for_people():
    found = by_knowledge([1, 2, 0, 1], [1, 2, 0, 0], [True, True, True, False], LABELS, [0, 4])
    assert found.as_text().split("\n") == [
        "  known words: 3 tokens,  75.00%; accuracy: 100.00%; recall: 100.00% of 1 phrases of known words alone",
        "unknown words: 1 tokens,  25.00%; accuracy:   0.00%; recall:   0.00% of 1 phrases with an unknown word",
    ]
    tags = by_knowledge([0, 1], [0, 0], [True, True], ["DT", "NN"], [0, 2])
    assert tags.as_json() == {
        "known": {"tokens": 2, "accuracy": 0.5, "segments": None, "recall": None},
        "unknown": {"tokens": 0, "accuracy": 0.0, "segments": None, "recall": None},
    }
    assert tags.as_text().startswith("  known words: 2 tokens, 100.00%; accuracy:  50.00%\n")


@pytest.mark.parametrize("known", [[True], [0, 1], [[True, False]]])
def test_marks_that_do_not_fit_are_refused(known):
    with pytest.raises(DataError, match="expected a boolean for each of 2 tokens"):
        by_knowledge([0, 0], [0, 0], known, LABELS, [0, 2])


@given(ROWS)
def test_the_matrix_counts_every_token_once(rows):
    gold, guess, _ = arrays(rows)
    found = confusion(gold, guess, LABELS)
    expected = np.zeros((5, 5), np.int64)
    np.add.at(expected, (gold, guess), 1)
    assert (found.matrix == expected).all()
    assert (found.tokens, found.errors) == (len(rows), int((gold != guess).sum()))
    most = found.most(None)
    assert sum(one.count for one in most) == found.errors
    assert [one.count for one in most] == sorted((one.count for one in most), reverse=True)
    assert all(expected[LABELS.index(one.gold), LABELS.index(one.predicted)] == one.count for one in most)
    assert found.most(2) == most[:2]


def test_the_table_of_confusions():
    labels = ["DT", "JJ", "NN", "VB"]
    found = confusion([1, 1, 1, 2, 2, 3, 0, 0], [2, 2, 1, 1, 2, 2, 0, 3], labels)
    assert found.most() == [
        Confused("JJ", "NN", 2), Confused("DT", "VB", 1), Confused("NN", "JJ", 1), Confused("VB", "NN", 1),
    ]  # fmt: skip
    assert found.as_text(1).split("\n") == [
        "confusions: 5 of 8 tokens have another label than the gold one",
        "   tokens  of errors  gold  predicted",
        "        2     40.00%  JJ    NN",
        "gold \\ predicted  JJ  NN  others",
        "              JJ   1   2       0",
        "              NN   1   1       0",
        "          others   0   1       2",
    ]
    assert "others" not in found.as_text()
    record = found.as_json(1)
    assert json.loads(json.dumps(record)) == {"errors": 5, "most": [{"gold": "JJ", "predicted": "NN", "count": 2}]}


def test_no_confusion_is_said_in_one_line():
    assert confusion([0, 1], [0, 1], LABELS).as_text() == (
        "confusions: 0 of 2 tokens have another label than the gold one"
    )
    assert confusion([], [], []).most() == []


def test_a_matrix_for_people_stays_narrow():
    """Each of 60 labels is taken for the next one."""
    ids = np.arange(60)
    text = confusion(ids, (ids + 1) % 60, [f"label{k}" for k in ids]).as_text(60)
    assert len(text.split("\n")[62:]) == 14
    assert "others" in text


def test_many_labels_need_no_matrix():
    ids = np.arange(200_000)
    assert confusion(ids, ids[::-1], [str(k) for k in ids]).most(1)[0].count == 1


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="predicted has 1 tokens"):
        confusion([0, 1], [0], LABELS)
    with pytest.raises(DataError, match="5 labels"):
        confusion([0], [7], LABELS)
