"""Labels are read as segments: by conlleval's rules, or strictly, where only well-formed segments count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_encode import segmentations

from trellis.errors import DataError, SettingError
from trellis.labels import ENCODINGS, READINGS, illegal, read_segments, segment_types
from trellis.labels.encode import encoded, labels_of
from trellis.labels.reading import spelling_of


def read(*sentences, **how):
    words = [s.split() for s in sentences]
    labels = sorted({w for s in words for w in s})
    ids = [labels.index(w) for s in words for w in s]
    start, end, kind = read_segments(ids, labels, np.cumsum([0, *map(len, words)]), **how)
    types = segment_types(labels)
    return [(a, b, types[k]) for a, b, k in zip(start.tolist(), end.tolist(), kind.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("encoding", "sentences", "expected"),
    [
        ("io", ["I-X I-X I-Y O I-X"], [(0, 2, "X"), (2, 3, "Y"), (4, 5, "X")]),
        ("iob1", ["I-X B-X I-X I-Y"], [(0, 1, "X"), (1, 3, "X"), (3, 4, "Y")]),
        ("iob1", ["B-X I-X O B-X"], [(1, 2, "X")]),  # B only after its own type
        ("iob2", ["B-X I-X I-Y B-Y", "I-Y"], [(0, 2, "X"), (3, 4, "Y")]),
        ("iob2", ["O I-X I-X B-X"], [(3, 4, "X")]),
        ("ioe1", ["I-X E-X I-X O"], [(0, 2, "X"), (2, 3, "X")]),
        ("ioe1", ["I-X E-X", "I-X"], [(2, 3, "X")]),  # E only before its own type
        ("ioe2", ["I-X E-X I-X O E-X"], [(0, 2, "X"), (4, 5, "X")]),
        ("bioes", ["B-X I-X E-X S-Y B-X", "E-X B-X S-X"], [(0, 3, "X"), (3, 4, "Y"), (7, 8, "X")]),
        ("bioes", ["B-X B-X E-X", "B-X E-Y"], [(1, 3, "X")]),
        ("bilou", ["B-X L-X U-X I-X L-X"], [(0, 2, "X"), (2, 3, "X")]),
    ],
)
def test_only_well_formed_segments_are_read_strictly(encoding, sentences, expected):
    assert read(*sentences, reading="strict", encoding=encoding) == expected


def test_both_readings_see_the_same_in_well_formed_labels_of_a_detected_encoding():
    for sentence in ("B-X I-X O B-X", "I-X I-X B-X O", "I-X E-X E-X", "B-X E-X S-X", "B-X L-X U-X", "O I-X"):
        assert read(sentence, reading="strict") == read(sentence, reading="conlleval")


@pytest.mark.parametrize("reading", [*READINGS, "well-formed"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@given(case=segmentations())
def test_what_an_encoding_spells_is_read_back(encoding, reading, case):
    found, offsets = case
    ids, labels = encoded(*found.T, ["A", "B-side"], offsets, encoding)
    again = np.stack(read_segments(ids, labels, offsets, reading, encoding), axis=1)
    if encoding == "io":  # touching segments of one type are one
        assert set(again[:, 0].tolist()) <= set(found[:, 0].tolist())
        assert (again[:, 1] - again[:, 0]).sum() == (found[:, 1] - found[:, 0]).sum()
    elif (encoding, reading) == ("ioe1", "strict"):  # seqeval overlooks those that begin with E
        begins = np.isin(ids[found[:, 0]], [labels.index("E-A"), labels.index("E-B-side")])
        assert set(map(tuple, found[~begins].tolist())) <= set(map(tuple, again.tolist()))
    else:
        np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(data=st.data())
def test_a_strict_segment_has_no_illegal_label(encoding, data):
    labels = labels_of(["X", "Y"], encoding)
    ids = np.array(data.draw(st.lists(st.integers(0, len(labels) - 1), max_size=12)), np.int64)
    bad = illegal(labels, ids, [0, len(ids)], encoding)
    for start, end, _ in zip(*read_segments(ids, labels, [0, len(ids)], "strict", encoding), strict=True):
        assert not any(start < position < end for position in bad)


def test_labels_that_do_not_occur_may_be_of_another_encoding():
    start, _, _ = read_segments([0, 1], ["B-X", "I-X", "E-X"], [0, 2], "strict", "iob2")
    assert start.tolist() == [0]
    with pytest.raises(SettingError, match="'E-X' is not iob2: expected one of the prefixes B, I, O"):
        read_segments([0, 2], ["B-X", "I-X", "E-X"], [0, 2], "strict", "iob2")


def test_no_labels_have_no_segments():
    for reading in READINGS:
        assert [x.tolist() for x in read_segments([], [], [0], reading)] == [[], [], []]
        assert [x.tolist() for x in read_segments([], ["O", "B-X"], [0, 0], reading)] == [[], [], []]


def test_unfit_settings_are_refused():
    with pytest.raises(SettingError, match="unknown reading 'lenient'"):
        read_segments([0], ["O"], [0, 1], "lenient")
    with pytest.raises(SettingError, match="unknown encoding 'iob3'"):
        read_segments([0], ["O"], [0, 1], "strict", "iob3")
    with pytest.raises(SettingError, match="of no encoding"):
        read_segments([0], ["B-X", "E-X", "L-X"], [0, 1], "strict")
    with pytest.raises(SettingError, match="'NN'"):
        read_segments([0], ["NN"], [0, 1], "strict", "iob2")
    with pytest.raises(DataError, match="2 labels"):
        read_segments([2], ["O", "B-X"], [0, 1], "strict", "iob2")


def test_spelling_says_where_segments_start():
    kind, starts = spelling_of(["O", "B-X", "I-X", "I-Y", "E-X"])
    assert kind.tolist() == [-1, 0, 0, 1, 0]
    assert starts.astype(int).tolist() == [
        [0, 1, 1, 1, 1],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 1, 0, 1],
        [0, 1, 1, 1, 1],
    ]
