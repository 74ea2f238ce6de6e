"""Labels of any encoding become labels of any other, and ill-formed ones are repaired by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_encode import segmentations

from trellis.errors import DataError, SettingError
from trellis.labels import ENCODINGS, REPAIRS, convert, illegal, read_segments
from trellis.labels.conversion import converted
from trellis.labels.encode import encoded, labels_of

KINDS = ["A", "B-side"]
TELLING = [name for name in ENCODINGS if name != "io"]


def convert_text(sentence, to, **how):
    """Labels with blanks between them -> the same of another encoding."""
    words = sentence.split()
    labels = sorted(set(words))
    ids, names = convert([labels.index(word) for word in words], labels, [0, len(words)], to, **how)
    return " ".join(names[j] for j in ids.tolist())


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("first", TELLING)
@given(second=st.sampled_from(TELLING), case=segmentations(len(KINDS)))
def test_there_and_back_is_the_same(first, second, repair, case):
    found, offsets = case
    ids, labels = encoded(*found.T, KINDS, offsets, first)
    there = convert(ids, labels, offsets, second, repair, first)
    expected = encoded(*found.T, KINDS, offsets, second)
    np.testing.assert_array_equal(there[0], expected[0])
    assert there[1] == expected[1] == labels_of(KINDS, second)
    back = convert(*there, offsets, first, repair, second)
    np.testing.assert_array_equal(back[0], ids)
    assert back[1] == labels
    assert there[0].dtype == ids.dtype == np.int32


@pytest.mark.parametrize("other", ENCODINGS)
@given(case=segmentations())
def test_of_io_touching_segments_of_one_type_are_one(other, case):
    found, offsets = case
    ids, labels = encoded(*found.T, KINDS, offsets, "io")
    there = convert(ids, labels, offsets, other, encoding="io")
    np.testing.assert_array_equal(convert(*there, offsets, "io", encoding=other)[0], ids)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("repair", ["conlleval", "discard"])
@given(data=st.data())
def test_what_is_repaired_is_well_formed_and_stays(encoding, repair, data):
    labels = labels_of(["X", "Y"], encoding)
    ids = np.array(data.draw(st.lists(st.integers(0, len(labels) - 1), max_size=12)), np.int64)
    offsets = [0, len(ids) // 2, len(ids)]
    once = converted(ids, labels, offsets, encoding, repair, encoding)
    assert not illegal(once.labels, once.ids, offsets, encoding).size
    assert once.repaired == sum(once.labels[a] != labels[b] for a, b in zip(once.ids, ids, strict=True))
    twice = converted(once.ids, once.labels, offsets, encoding, repair, encoding)
    assert (twice.ids.tolist(), twice.repaired, twice.segments) == (once.ids.tolist(), 0, once.segments)
    if not illegal(labels, ids, offsets, encoding).size:
        assert once.repaired == 0


@pytest.mark.parametrize(
    ("encoding", "given_", "conlleval", "discard"),
    [
        ("iob2", "O I-X I-X B-Y", "O B-X I-X B-Y", "O O O B-Y"),
        ("iob2", "B-X I-Y I-Y", "B-X B-Y I-Y", "B-X O O"),
        ("iob1", "B-X I-X B-X O", "I-X I-X B-X O", "O I-X B-X O"),
        ("ioe2", "I-X O I-X E-X", "E-X O I-X E-X", "O O I-X E-X"),
        ("ioe1", "I-X E-X O I-X", "I-X I-X O I-X", "O O O I-X"),
        ("bioes", "B-X I-X O S-X E-X", "B-X E-X O S-X S-X", "O O O S-X O"),
        ("bilou", "I-X L-X U-X B-Y", "B-X L-X U-X U-Y", "O O U-X O"),
    ],
)
def test_repairs_are_as_they_say(encoding, given_, conlleval, discard):
    assert convert_text(given_, encoding, repair="conlleval", encoding=encoding) == conlleval
    assert convert_text(given_, encoding, repair="discard", encoding=encoding) == discard
    with pytest.raises(DataError, match=f"sentence 1, token .* may not stand there in {encoding}; mend it, or"):
        convert_text(given_, encoding, repair="strict", encoding=encoding)


def test_discarding_is_reading_strictly():
    labels = labels_of(["X", "Y"], "bioes")
    ids = np.random.default_rng(0).integers(0, len(labels), 500)
    offsets = np.arange(0, 501, 10)
    there = convert(ids, labels, offsets, "iob2", "discard")
    strict, kept = read_segments(ids, labels, offsets, "strict", "bioes"), read_segments(*there, offsets)
    for one, other in zip(strict, kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_encoding_is_detected():
    assert convert_text("I-X I-X B-X O I-Y", "bioes") == "B-X E-X S-X O S-Y"
    assert convert_text("U-X B-X I-X L-X", "iob2") == "B-X B-X I-X I-X"
    assert convert_text("I-X E-X E-X", "bilou") == "B-X L-X U-X"
    assert convert_text("B I O", "bioes") == "B E O"


def test_labels_have_all_types_of_the_input_and_o_first():
    assert convert([], ["B-Y", "I-X", "O"], [0], "ioe2")[1] == ["O", "I-X", "E-X", "I-Y", "E-Y"]
    assert convert([0], ["O"], [0, 1], "bioes")[1] == ["O"]


def test_labels_that_do_not_occur_are_no_matter():
    ids, labels = convert([0, 1], ["B-X", "I-X", "E-X"], [0, 2], "iob1", "strict", "iob2")
    assert [labels[j] for j in ids] == ["I-X", "I-X"]


def test_unfit_settings_and_data_are_refused():
    with pytest.raises(SettingError, match="unknown encoding 'iob3'"):
        convert_text("O B-X", "iob3")
    with pytest.raises(SettingError, match="unknown encoding 'iob3'"):
        convert_text("O B-X", "io", encoding="iob3")
    with pytest.raises(SettingError, match="unknown repair 'none': expected one of conlleval, discard, strict"):
        convert_text("O B-X", "io", repair="none")
    with pytest.raises(SettingError, match=r"the labels \('NN', 'O', ...\) are of no segment encoding"):
        convert_text("O NN", "io")
    with pytest.raises(SettingError, match="'B-X' is not ioe2"):
        convert_text("O B-X", "io", encoding="ioe2")
    with pytest.raises(DataError, match="sentence 2, token 1"):
        convert([0, 1], ["B-X", "I-X"], [0, 1, 2], "io", "strict", "iob2")
    with pytest.raises(DataError):
        convert([2], ["B-X", "I-X"], [0, 1], "io")
