"""Words and shapes that vote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voting import corpus_of, found, voted

from trellis.errors import DataError, SettingError
from trellis.weak.applying import apply
from trellis.weak.functions import shape, words


def test_words_of_a_list_vote_for_tokens():
    assert voted(words({"the", "a"}, "DT"), "the dog a", "x") == ["DT _ DT", "_"]


def test_a_function_of_a_word_is_called_once_for_each():
    seen = []
    numbers = words(lambda word: seen.append(word) or word.isdigit(), "NUM")
    assert voted(numbers, "1 a 1 22") == ["NUM _ NUM NUM"]
    assert seen == ["1", "a", "22"]


def test_neighbours_may_vote_as_spans():
    assert voted(words(str.isdigit, "N", votes="spans"), "1 2 a 3", "4") == ["B-N I-N _ B-N", "B-N"]
    assert voted(words(["N"], "N", votes="spans", least=2, column="pos"), "a b c d", pos=["N N D N"]) == ["B-N I-N _ _"]


def test_rows_of_one_shape_vote_one_span():
    assert voted(shape("Xx", "PER", least=2), "so Ann Lee met Bob", "Tim") == ["_ B-PER I-PER _ _", "_"]
    assert voted(shape(["Xx", "X."], "PER", least=2), "J. Doe X") == ["B-PER I-PER _"]
    assert voted(shape("dd", "YY", short=False), "19 1 1984 20") == ["B-YY _ _ B-YY"]


def test_shapes_in_a_row_vote_where_all_of_them_stand():
    assert voted(shape("Xx X. Xx", "PER"), "Ann B. Lee", "Ann B.", "Lee") == ["B-PER I-PER I-PER", "_ _", "_"]
    assert voted(shape(["d Xx d", "Xx"], "X"), "3 May 1999 June") == ["B-X I-X I-X B-X"]


@given(st.lists(st.lists(st.sampled_from("Aa"), max_size=8), max_size=4), st.integers(1, 3))
def test_rows_are_the_longest_and_end_with_their_sentence(sentences, least):
    expected, base = [], 0
    for sentence in sentences:
        t = 0
        while t < len(sentence):
            end = t
            while end < len(sentence) and sentence[end] == "A":
                end += 1
            if end - t >= least:
                expected.append((base + t, base + end, "E"))
            t = max(end, t + 1)
        base += len(sentence)
    assert found(shape("X", "E", least=least), *map(" ".join, sentences)) == expected


def test_what_cannot_be_a_constraint_is_refused():
    with pytest.raises(SettingError, match="words are 'the'; expected a list"):
        words("the", "X")
    with pytest.raises(SettingError, match="a word is 3"):
        words([3], "X")
    with pytest.raises(SettingError, match="votes is 'links'"):
        words(["a"], "X", votes="links")
    with pytest.raises(SettingError, match="'Xxx' is no short shape"):
        shape("Xxx", "X")
    with pytest.raises(SettingError, match="'' is no shape"):
        shape("", "X")
    with pytest.raises(SettingError, match="no shape is given"):
        shape([], "X")
    with pytest.raises(SettingError, match="least is 0"):
        shape("Xx", "X", least=0)
    with pytest.raises(DataError, match="'odd' failed on the word 'a': ValueError") as caught:
        apply(words(lambda word: int(word) % 2, "ODD", name="odd"), corpus_of("1 a"))
    assert isinstance(caught.value.__cause__, ValueError)
