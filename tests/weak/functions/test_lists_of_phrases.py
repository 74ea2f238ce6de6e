"""Lists of phrases that vote."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voting import corpus_of, found, voted

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.weak.functions import gazetteer


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request):
    with mock.patch("trellis.weak.functions.lists.worthwhile", return_value=request.param == "compiled"):
        yield


def test_the_longest_phrase_from_the_left_is_voted_for():
    cities = gazetteer(["New York", "New York City", "York City Hall", "Hall"], "LOC")
    assert voted(cities, "in New York City Hall", "New", "York") == ["_ B-LOC I-LOC I-LOC B-LOC", "_", "_"]
    assert voted(gazetteer(["a b", "b c d"], "X"), "a b c d") == ["B-X I-X _ _"]
    assert voted(gazetteer(["a", "a b c"], "X"), "a b") == ["B-X _"]


def test_phrases_may_have_labels_of_their_own():
    assert voted(gazetteer({"New York": "LOC", "Ann": "PER"}), "Ann in New York") == ["B-PER _ B-LOC I-LOC"]


def test_a_file_has_types_unless_a_label_is_given(tmp_path):
    file = tmp_path / "place.txt"
    file.write_text("# names\nOslo\nPER\tAnn Lee\nORG\tOslo Bank\n", encoding="utf-8")
    assert voted(gazetteer(file), "Oslo Bank Oslo Ann Lee") == ["B-ORG I-ORG B-place B-PER I-PER"]
    assert gazetteer(str(file)).name == "gazetteer-place"
    assert voted(gazetteer(file, "X"), "Ann Lee") == ["B-X I-X"]
    assert voted(gazetteer(file, "X", lower=True), "ANN lee") == ["B-X I-X"]


def test_case_and_other_columns_and_short_phrases():
    assert voted(gazetteer(["New York"], "X", lower=True), "NEW york") == ["B-X I-X"]
    assert voted(gazetteer(["D N"], "NP", column="pos"), "the dog", pos=["D N"]) == ["B-NP I-NP"]
    assert voted(gazetteer(["a", " b  c "], "X", shortest=2), "a b c") == ["_ B-X I-X"]
    with pytest.raises(SettingError, match="no phrase of the gazetteer has 3 tokens"):
        gazetteer(["a", "b c"], "X", shortest=3)


def test_of_several_types_the_first_is_voted_for(tmp_path):
    file = tmp_path / "f"
    file.write_text("B\tx\nA\ty\nA\tx\n")
    assert voted(gazetteer(file), "x y") == ["B-B B-A"]


def test_what_is_no_list_is_refused(tmp_path):
    with pytest.raises(SettingError, match="has no label"):
        gazetteer(["a"])
    with pytest.raises(SettingError, match="without phrases"):
        gazetteer([], "X")
    with pytest.raises(DataError, match="phrase 2 of a gazetteer is ' '"):
        gazetteer(["a", " "], "X")
    with pytest.raises(SettingError, match="shortest is 0"):
        gazetteer(["a"], "X", shortest=0)
    with pytest.raises(SettingError, match="a gazetteer has 3 as a label"):
        gazetteer({"a": 3})
    with pytest.raises(FileAccessError, match="no such file"):
        gazetteer(tmp_path / "none")
    with pytest.raises(SettingError, match="cannot read its file from standard input"):
        gazetteer("-")


tokens = st.sampled_from("abc")
phrases = st.lists(tokens, min_size=1, max_size=4).map(" ".join)


@given(
    entries=st.dictionaries(phrases, st.sampled_from("XYZ"), min_size=1, max_size=12),
    sentences=st.lists(st.lists(st.sampled_from("abcd"), max_size=10), max_size=4),
)
def test_the_same_is_found_as_by_trying_every_phrase_everywhere(entries, sentences):
    expected, base = [], 0
    for sentence in sentences:
        at = 0
        while at < len(sentence):
            ends = [end for end in range(len(sentence), at, -1) if " ".join(sentence[at:end]) in entries]
            if ends:
                expected.append((base + at, base + ends[0], entries[" ".join(sentence[at : ends[0]])]))
            at = ends[0] if ends else at + 1
        base += len(sentence)
    texts = [" ".join(sentence) for sentence in sentences]
    for chosen in ("plain", "compiled"):
        with mock.patch("trellis.weak.functions.lists.worthwhile", return_value=chosen == "compiled"):
            assert found(gazetteer(entries), *texts) == expected


def test_no_sentences_no_votes():
    cast = gazetteer(["a"], "X").on(corpus_of())
    assert len(cast.start) == 0
