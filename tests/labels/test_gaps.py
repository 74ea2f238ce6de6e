"""Spans with gaps: six letters, there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_strategies import gappy

from trellis.errors import DataError, SettingError
from trellis.labels import (
    ENCODINGS,
    PATH_ENCODINGS,
    READINGS,
    SpanSet,
    detect,
    illegal,
    is_gappy,
    legal_transitions,
    read_gappy,
    write_gappy,
)
from trellis.labels.gaps import gappy_labels


def pack(*sentences):
    words = [s.split() for s in sentences]
    labels = sorted({w for s in words for w in s})
    return [labels.index(w) for s in words for w in s], labels, np.cumsum([0, *map(len, words)])


def read(*sentences, reading="conlleval"):
    return read_gappy(*pack(*sentences), reading).as_lists()


@pytest.mark.parametrize("reading", READINGS)
@given(case=gappy())
def test_spans_come_back(reading, case):
    spans, offsets = case
    ids, labels = write_gappy(spans, offsets)
    assert ids.dtype == np.int32
    assert labels == gappy_labels(spans.types)
    assert not illegal(labels, ids, offsets, "gappy").size
    assert read_gappy(ids, labels, offsets, reading) == spans


@given(st.lists(st.sampled_from(gappy_labels(["X", "Y"])), max_size=10))
def test_labels_that_are_legal_and_agree_in_type_come_back(words):
    ids, labels, offsets = pack(" ".join(words))
    spans = read_gappy(ids, labels, offsets, "strict")
    again, names = write_gappy(spans, offsets)
    if illegal(labels, ids, offsets, "gappy").size == 0 and spans == read_gappy(ids, labels, offsets):
        assert [names[j] for j in again] == words


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["B-V o b-N i-N I-V I-V O"], [("V", [(0, 1), (4, 6)]), ("N", [(2, 4)])]),
        (["B-V I-V o I-V o o I-V"], [("V", [(0, 2), (3, 4), (6, 7)])]),
        (["B-V b-N b-N I-V"], [("V", [(0, 1), (3, 4)]), ("N", [(1, 2)]), ("N", [(2, 3)])]),
        (["B-V o-V I-V"], [("V", [(0, 1), (2, 3)])]),
        (["B o b i I"], [("", [(0, 1), (4, 5)]), ("", [(2, 4)])]),
        (["O B-V B-V", "I-N"], [("V", [(1, 2)]), ("V", [(2, 3)]), ("N", [(3, 4)])]),
        (["B-V o", "I-V"], [("V", [(0, 1)]), ("V", [(2, 3)])]),
        (["B-V o I-N"], [("V", [(0, 1)]), ("N", [(2, 3)])]),  # another type: another span
        (["i-N O b-N"], [("N", [(0, 1)]), ("N", [(2, 3)])]),
        (["", "O o"], []),
    ],
)
def test_labels_are_read_as_spans(sentences, expected):
    assert read(*sentences) == expected


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["B-V o I-N"], [("V", [(0, 1)])]),
        (["B-V b-N O b-N", "b-N I-V"], [("V", [(0, 1)])]),  # no gap: nothing follows it
        (["B-V i-N b-N I-V"], [("V", [(0, 1), (3, 4)]), ("N", [(2, 3)])]),
        (["O I-V o I-V"], []),
        (["B-V b-N O", "I-V"], [("V", [(0, 1)])]),
    ],
)
def test_read_strictly_only_well_formed_spans_count(sentences, expected):
    assert read(*sentences, reading="strict") == expected


@pytest.mark.parametrize(
    ("sentences", "positions"),
    [
        (["B-V o b-N i-N I-V I-V O B-N"], []),
        (["B-V o-V I-V O B-V b-N o-V I-V"], []),
        (["B-V o O", "o I-V"], [2, 3]),
        (["B-V o", "I-V O I-V"], [1, 2, 4]),
        (["B-V o i-N I-V"], [2]),
        (["B-V b-N i-V I-V"], [2]),
        (["B-V o-N I-V", "B-V o-V I-N"], [1, 2, 5]),
        (["B-V b-N B-V", "O b-N"], [2, 4]),
    ],
)
def test_illegal_labels_are_named_as_far_as_neighbours_tell(sentences, positions):
    ids, labels, offsets = pack(*sentences)
    assert illegal(labels, ids, offsets, "gappy").tolist() == positions


def test_only_small_letters_with_capitals_around_them_are_gappy():
    assert is_gappy(["O", "o", "B-V", "I-V"])
    assert is_gappy(["b-V", "B-V", "I-V"])
    assert is_gappy(["B", "I", "o", "O"])
    for labels in (["O", "B-V", "I-V"], ["b-np", "i-np", "O"], ["o", "B-V", "I"], ["B-V", "I-V", "o", "E-V"], [], [""]):
        assert not is_gappy(labels)
    assert set(PATH_ENCODINGS) - set(ENCODINGS) == {"gappy"}
    assert detect(["O", "o", "B-V", "I-V"]) is None  # whoever asks for segments gets no spans with gaps


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([("X", [(0, 2)]), ("Y", [(1, 3)])], "type 'X' that begins there shares a token with another"),
        (
            [("X", [(0, 1), (5, 6)]), ("Y", [(1, 2), (3, 4)])],
            "'Y' that begins there has a gap and is in a gap of another",
        ),
        ([("X", [(0, 1), (2, 3)]), ("Y", [(1, 2), (3, 4)])], "has a gap and is in a gap of another"),
        ([("X", [(0, 9)])], "there are 6 tokens"),
    ],
)
def test_what_one_column_cannot_hold_is_refused(spans, message):
    with pytest.raises(DataError, match=message):
        write_gappy(SpanSet.from_lists(spans), [0, 6])


def test_labels_of_another_form_are_refused():
    with pytest.raises(SettingError, match="'E-X' is not gappy: expected one of the prefixes B, I, o, b, i, O"):
        read_gappy([0], ["E-X"], [0, 1])
    with pytest.raises(SettingError, match=r"unknown encoding 'gapy': expected one of io, .*, gappy"):
        legal_transitions(["O"], "gapy")
