"""Four ways to match segments: hand-counted, as nervaluate counts, and what must be so."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate import Evaluator

from trellis.errors import DataError, SettingError
from trellis.metrics import MODES, Matches, match_segments, segment_counts
from trellis.metrics.matching import _overlapping, _pairs, _taken
from trellis.metrics.reading import Spans

COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
SCORES = ("possible", "actual", "precision", "recall", "f1")
THEIR_NAMES = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}


def pack(*columns: list[list[str]]):
    labels = sorted({w for column in columns for s in column for w in s})
    ids = [np.array([labels.index(w) for s in column for w in s], dtype=np.int32) for column in columns]
    return *ids, labels, np.cumsum([0, *map(len, columns[0])])


def matched(gold: str, predicted: str, **how):
    return match_segments(*pack([gold.split()], [predicted.split()]), **how)


def all_of(matches: Matches) -> tuple[float, ...]:
    return tuple(getattr(matches, name) for name in (*COUNTS, *SCORES))


TAGS = [f"{prefix}-{kind}" for prefix in "BI" for kind in "XYZ"] + ["O"]


@st.composite
def two_columns(draw: st.DrawFn, most: int = 14) -> tuple[list[list[str]], list[list[str]]]:
    """Tags with long segments, so that one overlaps several; the prediction is a damaged copy, or another one."""
    tag = st.sampled_from([*TAGS, "I-X", "I-X", "I-X", "I-Y"])
    gold = draw(st.lists(st.lists(tag, max_size=most), min_size=1, max_size=3))
    keep = st.integers(0, draw(st.integers(0, 3)))
    return gold, [[t if draw(keep) else draw(tag) for t in sentence] for sentence in gold]


@settings(max_examples=500)
@given(two_columns())
def test_all_modes_equal_nervaluates_in_total_and_by_type(columns):
    found = match_segments(*pack(*columns))
    theirs = Evaluator(*columns, tags=["X", "Y", "Z"], loader="list").evaluate()
    assert set(found.by_type) == set(theirs["entities"])
    for mode, name in THEIR_NAMES.items():
        assert all_of(found.modes[mode]) == pytest.approx(all_of(theirs["overall"][name]), abs=1e-15)
        for kind, modes in found.by_type.items():
            assert all_of(modes[mode]) == pytest.approx(all_of(theirs["entities"][kind][name]), abs=1e-15)


@given(two_columns())
def test_what_must_be_so(columns):
    gold, predicted, labels, offsets = pack(*columns)
    found = match_segments(gold, predicted, labels, offsets)
    counts = segment_counts(gold, predicted, labels, offsets)
    modes = found.modes
    assert modes["strict"].correct == sum(row.correct for row in counts.values())
    assert modes["strict"].correct <= modes["exact"].correct == modes["partial"].correct
    assert modes["strict"].correct <= modes["type"].correct
    assert modes["partial"].incorrect == 0
    assert modes["strict"].f1 <= modes["exact"].f1 <= modes["partial"].f1
    assert {one.possible for one in modes.values()} == {sum(row.gold for row in counts.values())}
    assert {one.actual for one in modes.values()} == {sum(row.predicted for row in counts.values())}
    for kind, rows in found.by_type.items():
        assert {one.possible for one in rows.values()} == {counts[kind].gold}
        assert {one.actual for one in rows.values()} == {counts[kind].predicted}
        assert rows["strict"].correct == rows["exact"].correct == counts[kind].correct


@given(two_columns())
def test_a_labelling_matches_itself(columns):
    gold, _, labels, offsets = pack(*columns)
    found = match_segments(gold, gold, labels, offsets)
    for one in found.modes.values():
        assert (one.correct, one.incorrect, one.partial, one.missed, one.spurious) == (one.possible, 0, 0, 0, 0)
        assert one.f1 == (1.0 if one.possible else 0.0)


@given(two_columns())
def test_pairs_by_bounds_do_not_depend_on_which_is_gold(columns):
    """Missed and spurious change places, all else stays."""
    gold, predicted, labels, offsets = pack(*columns)
    there = match_segments(gold, predicted, labels, offsets).modes
    back = match_segments(predicted, gold, labels, offsets).modes
    for mode in ("strict", "exact", "partial"):
        one, other = there[mode], back[mode]
        assert (one.correct, one.incorrect, one.partial) == (other.correct, other.incorrect, other.partial)
        assert (one.missed, one.spurious) == (other.spurious, other.missed)


def taken_by_a_loop(gold, predicted, strangeness) -> list[int]:
    used, out = set(), []
    for start, end in predicted:
        free = [g for g, (a, b) in enumerate(gold) if a < end and start < b and g not in used]
        out.append(min(free, key=lambda g: (strangeness[g, len(out)], g), default=-1))
        used.add(out[-1])
    return out


@st.composite
def disjoint(draw: st.DrawFn) -> list[tuple[int, int]]:
    steps = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), max_size=12))
    edges = np.cumsum([0, *(n for pair in steps for n in pair)]).tolist()
    return list(zip(edges[1::2], edges[2::2], strict=True))


@settings(max_examples=300)
@given(disjoint(), disjoint(), st.integers(0, 1000))
def test_what_each_takes_equals_a_loops(gold, predicted, seed):
    """Also with other preferences than ours, and with long chains of segments that overlap each other."""
    spans = [
        Spans(*np.array(rows, np.int64).reshape(-1, 2).T, np.zeros(len(rows), np.int64)) for rows in (gold, predicted)
    ]
    strange = np.random.default_rng(seed).integers(0, 3, (len(gold), len(predicted)))
    first, number = _overlapping(*spans)
    pair, other = _pairs(first, number)
    assert _taken(first, number, strange[other, pair]).tolist() == taken_by_a_loop(gold, predicted, strange)


def test_hand_counted():
    #                gold:  X X . Y Y . Z . . X X
    gold = "B-X I-X O B-Y I-Y O B-Z O O B-X I-X"
    guess = "B-X I-X O B-X I-X O O B-Z O B-X O"
    found = matched(gold, guess).modes
    assert found["strict"] == Matches(correct=1, incorrect=2, partial=0, missed=1, spurious=1)
    assert found["exact"] == Matches(2, 1, 0, 1, 1)
    assert found["partial"] == Matches(2, 0, 1, 1, 1)
    assert found["type"] == Matches(2, 1, 0, 1, 1)
    assert (found["partial"].possible, found["partial"].actual) == (4, 4)
    assert (found["partial"].precision, found["partial"].recall, found["partial"].f1) == (2.5 / 4, 2.5 / 4, 2.5 / 4)


def test_an_x_found_as_a_y_is_missed_among_the_x_and_spurious_among_the_y():
    found = matched("B-X I-X", "B-Y I-Y")
    assert found.modes["strict"] == Matches(0, 1, 0, 0, 0)
    assert found.by_type["X"]["strict"] == Matches(0, 0, 0, 1, 0)
    assert found.by_type["Y"]["strict"] == Matches(0, 0, 0, 0, 1)


def test_of_one_type_the_nearest_bounds_are_taken_and_else_the_first():
    assert matched("B-X B-X I-X I-X", "B-X I-X I-X I-X").modes["type"] == Matches(1, 0, 0, 1, 0)
    assert matched("B-Y B-X I-X I-X", "B-X I-X I-X I-X").modes["type"] == Matches(1, 0, 0, 1, 0)
    assert matched("B-X I-X", "B-Y B-X").modes["type"] == Matches(0, 1, 0, 0, 1)  # from left to right, as it says


def test_one_token_of_a_long_segment_is_an_overlap():
    """nervaluate has a limit of 1 %."""
    found = matched("B-X " + "I-X " * 199, "B-X " + "O " * 199)
    assert found.modes["partial"] == Matches(0, 0, 1, 0, 0)


def test_the_strict_reading_leaves_ill_formed_segments_out():
    gold, guess = "B-X I-X O B-X", "B-X I-X O I-X"
    assert matched(gold, guess).modes["strict"] == Matches(2, 0, 0, 0, 0)
    found = matched(gold, guess, scheme="strict")
    assert found.modes["strict"] == Matches(1, 0, 0, 1, 0)
    assert (found.scheme, found.encoding) == ("strict", "iob2")


def test_json_and_table():
    found = matched("B-X I-X O B-Y", "B-X O O B-Y")
    record = found.as_json()
    assert json.loads(json.dumps(record)) == record
    assert tuple(record) == MODES
    assert list(record["partial"]) == [*COUNTS, *SCORES, "by_type"]
    assert record["partial"]["by_type"]["X"]["f1"] == 0.5
    assert found.as_text().split("\n") == [
        "         matching    correct  incorrect    partial     missed   spurious  precision   recall      FB1",
        "           strict          1          1          0          0          0     50.00%   50.00%    50.00",
        "            exact          1          1          0          0          0     50.00%   50.00%    50.00",
        "          partial          1          0          1          0          0     75.00%   75.00%    75.00",
        "             type          2          0          0          0          0    100.00%  100.00%   100.00",
        "      FB1 by type     strict      exact    partial       type",
        "                X       0.00       0.00      50.00     100.00",
        "                Y     100.00     100.00     100.00     100.00",
    ]


@pytest.mark.parametrize("offsets", [[0], [0, 0]])
def test_nothing_gives_zeros(offsets):
    found = match_segments([], [], ["O", "B-X"], offsets)
    assert set(found.modes.values()) == {Matches(0, 0, 0, 0, 0)}
    assert found.by_type == {}
    assert found.modes["strict"].f1 == 0.0


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match="predicted has 1 tokens but offsets end at 2"):
        match_segments([0, 0], [0], ["O"], [0, 2])
    with pytest.raises(SettingError, match="'NN' is not part of a segment encoding"):
        match_segments([0], [0], ["NN"], [0, 1])
    with pytest.raises(SettingError, match="scheme is 'muc'; expected one of conlleval, strict"):
        match_segments([0], [0], ["O"], [0, 1], scheme="muc")
    with pytest.raises(SettingError, match="the encoding 'iob2' is for scheme 'strict'"):
        match_segments([0], [0], ["O"], [0, 1], encoding="iob2")
