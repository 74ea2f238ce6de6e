"""Segments and their counts equal conlleval's, for well-formed and ill-formed labels."""

from __future__ import annotations

import conlleval_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.metrics import Counts, segment_counts, segment_types, segments


def pack(*columns: list[list[str]]) -> tuple[list[str], list[np.ndarray], np.ndarray]:
    """Columns of sentences of labels -> (labels, ids of each column, offsets)."""
    labels = sorted({w for column in columns for s in column for w in s})
    ids = [np.array([labels.index(w) for s in column for w in s], dtype=np.int32) for column in columns]
    return labels, ids, np.cumsum([0, *map(len, columns[0])])


def found(*sentences: str) -> list[tuple[int, int, str]]:
    labels, (ids,), offsets = pack([s.split() for s in sentences])
    start, end, kind = segments(ids, labels, offsets)
    types = segment_types(labels)
    return [(int(s), int(e), types[k]) for s, e, k in zip(start, end, kind, strict=True)]


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["B-X I-X O B-Y"], [(0, 2, "X"), (3, 4, "Y")]),
        (["B-X B-X"], [(0, 1, "X"), (1, 2, "X")]),
        (["I-X I-X"], [(0, 2, "X")]),
        (["I-X B-X"], [(0, 1, "X"), (1, 2, "X")]),  # IOB1
        (["O I-X I-X"], [(1, 3, "X")]),  # ill-formed IOB2: I after O starts one
        (["B-X I-Y I-Y"], [(0, 1, "X"), (1, 3, "Y")]),  # a change of type starts one
        (["B-X", "I-X"], [(0, 1, "X"), (1, 2, "X")]),  # no segment crosses a sentence
        (["", "B-X I-X", "", "I-X", ""], [(0, 2, "X"), (2, 3, "X")]),
        (["I-X E-X E-X I-X"], [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]),  # IOE
        (["B-X E-X B-X E-X S-X S-X"], [(0, 2, "X"), (2, 4, "X"), (4, 5, "X"), (5, 6, "X")]),  # BIOES
        (["B-X L-X U-X U-X I-X"], [(0, 2, "X"), (2, 3, "X"), (3, 4, "X"), (4, 5, "X")]),  # BILOU
        (["B-X S-X", "I-X S-X"], [(0, 1, "X"), (1, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        (["O E-X I-X"], [(1, 2, "X"), (2, 3, "X")]),
        (["B I O I B"], [(0, 2, ""), (3, 4, ""), (4, 5, "")]),
        (["[-X . ]-X ]-X"], [(0, 1, "X"), (2, 3, "X"), (3, 4, "X")]),
        (["B-ART-X I-ART-X"], [(0, 2, "ART-X")]),
        (["O O"], []),
        ([""], []),
    ],
)
def test_segments_follow_conlleval(sentences, expected):
    assert found(*sentences) == expected


def test_a_segment_is_correct_only_with_its_bounds_and_type():
    gold = [["B-X", "I-X", "O", "B-Y", "B-Y", "B-X"]]
    guess = [["B-X", "I-X", "O", "B-Y", "I-Y", "B-Y"]]
    labels, (g, p), offsets = pack(gold, guess)
    assert segment_counts(g, p, labels, offsets) == {"X": Counts(2, 1, 1), "Y": Counts(2, 2, 0)}


def test_a_segment_that_starts_alike_but_ends_elsewhere_is_wrong():
    labels, (g, p), offsets = pack([["B-X", "I-X", "I-X"]], [["B-X", "I-X", "O"]])
    assert segment_counts(g, p, labels, offsets) == {"X": Counts(1, 1, 0)}


ALPHABETS = {
    "io": "I",
    "iob": "BI",
    "ioe": "IE",
    "bioes": "BIES",
}
TAGS = {
    name: ["O", *(f"{p}-{t}" for p in prefixes for t in ("X", "Y", "X-Y"))] for name, prefixes in ALPHABETS.items()
} | {"bare": ["O", "B", "I"]}


@st.composite
def two_columns(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]]]:
    """Random tags, mostly ill-formed; the prediction is a damaged copy of the gold column."""
    tag = st.sampled_from(TAGS[draw(st.sampled_from(sorted(TAGS)))])
    gold = draw(st.lists(st.lists(tag, max_size=8), max_size=4))
    keep = st.integers(0, 3)
    guess = [[t if draw(keep) else draw(tag) for t in sentence] for sentence in gold]
    return gold, guess


@settings(max_examples=400)
@given(two_columns())
def test_counts_equal_the_token_by_token_reference(columns):
    gold, guess = columns
    labels, (g, p), offsets = pack(gold, guess)
    _, _, in_gold, in_guess, in_both = reference.count(gold, guess)
    expected = {t: Counts(in_gold[t], in_guess[t], in_both[t]) for t in sorted(in_gold | in_guess)}
    assert segment_counts(g, p, labels, offsets) == expected


@given(two_columns())
def test_segments_are_ordered_disjoint_and_cover_all_but_o(columns):
    labels, (ids, _), offsets = pack(*columns)
    start, end, kind = segments(ids, labels, offsets)
    assert (start < end).all()
    assert (end[:-1] <= start[1:]).all()
    assert start.dtype == end.dtype == kind.dtype == np.int64
    outside = [labels[i] == "O" for i in ids]
    assert (end - start).sum() == len(ids) - sum(outside)


def test_input_is_left_as_it_was():
    ids, offsets = np.array([0, 1, 1, 0]), np.array([0, 2, 4])
    ids.flags.writeable = offsets.flags.writeable = False
    segment_counts(ids, ids, ["B-X", "I-X"], offsets)


def test_labels_that_are_no_segments_are_refused():
    with pytest.raises(SettingError, match="'NN'"):
        segments([0], ["NN"], [0, 1])
    with pytest.raises(DataError, match="2 labels"):
        segments([2], ["O", "B-X"], [0, 1])
