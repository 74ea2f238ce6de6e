"""A corpus: columns of numbers over tokens, cut into sentences."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column, Corpus, concatenate, parse_conll
from trellis.errors import DataError, SettingError

WORDS = [["a", "b"], [], ["a"], ["c", "b", "a"]]
TAGS = [["X", "Y"], [], ["X"], ["Z", "Y", "X"]]

word_lists = st.lists(st.lists(st.sampled_from("abcd"), max_size=4), max_size=6)


@pytest.fixture
def small():
    return Corpus.from_lists({"word": WORDS, "tag": TAGS})


def test_from_lists_and_back(small):
    assert (len(small), small.tokens) == (4, 6)
    assert small.offsets.tolist() == [0, 2, 2, 3, 6]
    assert small.sentences("word") == WORDS
    assert small.sentences("tag") == TAGS
    assert small["word"].strings == ["a", "b", "c"]


def test_from_lists_of_no_sentence():
    assert Corpus.from_lists({"word": []}).sentences("word") == []


def test_from_lists_refuses_columns_that_do_not_match():
    with pytest.raises(DataError, match=r"'tag'.*other lengths"):
        Corpus.from_lists({"word": [["a", "b"]], "tag": [["X"]]})
    with pytest.raises(SettingError, match="at least one column"):
        Corpus.from_lists({})


@pytest.mark.parametrize("name", ["my word", "a,b", "a]"])
def test_from_lists_refuses_names_that_templates_could_not_use(name):
    with pytest.raises(SettingError, match="column"):
        Corpus.from_lists({name: [["a"]]})


def test_from_lists_refuses_what_is_not_text():
    with pytest.raises(DataError, match="word"):
        Corpus.from_lists({"word": [["a", 7]]})


def test_an_unknown_column_is_named_together_with_those_there_are(small):
    with pytest.raises(SettingError, match="no column 'lemma'; the columns are: word, tag"):
        small["lemma"]


def test_a_token_has_a_place_without_a_file(small):
    assert small.place(0) == "sentence 1, token 1"
    assert small.place(2) == "sentence 3, token 1"
    assert small.place(5) == "sentence 4, token 3"


def test_says_what_it_is(small):
    assert repr(small) == "<Corpus of 4 sentences, 6 tokens; columns: word, tag>"


@given(words=word_lists, data=st.data())
def test_a_slice_is_these_sentences(words, data):
    whole = Corpus.from_lists({"word": words})
    start = data.draw(st.integers(0, len(words)))
    stop = data.draw(st.integers(start, len(words)))
    part = whole.slice(start, stop)
    assert part.sentences("word") == words[start:stop]
    assert part["word"].strings is whole["word"].strings


def test_sentences_are_not_taken_by_brackets():
    whole = Corpus.from_lists({"word": [["a"], ["b"]]})
    for wrong in (slice(None, 1), 0):
        with pytest.raises(SettingError, match=r"corpus\.slice"):
            whole[wrong]


def test_a_slice_keeps_its_lines():
    whole = Corpus({"w": Column.of("abc")}, np.array([0, 1, 3]), "f", np.array([1, 3, 4]))
    assert whole.slice(1, 2).place(0) == "f:3"


@given(words=word_lists, size=st.integers(1, 8))
def test_batches_are_whole_sentences_in_order_none_longer_than_it_must_be(words, size):
    batches = list(Corpus.from_lists({"word": words}).batches(size))
    assert [s for batch in batches for s in batch.sentences("word")] == words
    assert all(len(batch) == 1 or batch.tokens <= size for batch in batches)


@given(words=word_lists, data=st.data())
def test_compact_is_the_same_text_with_no_string_too_many(words, data):
    start = data.draw(st.integers(0, len(words)))
    compact = Corpus.from_lists({"word": words}).slice(start, len(words)).compact()
    assert compact.sentences("word") == words[start:]
    assert sorted(compact["word"].strings) == sorted({word for sentence in words[start:] for word in sentence})


@pytest.mark.parametrize("before", [["a", "b", "c"], ["b", "c"]])
def test_compact_numbers_strings_as_a_reader_would_have(before):
    """So that a model does not depend on which larger corpus its text was a part of."""
    part = Corpus.from_lists({"word": [before, ["c", "b"]]}).slice(1, 2).compact()
    assert part["word"].strings == ["c", "b"]
    assert part["word"].ids.tolist() == [0, 1]


def test_compact_leaves_a_column_that_needs_nothing(small):
    assert small.compact()["word"] is small["word"]


def test_with_column_adds_or_replaces_and_leaves_the_corpus_alone(small):
    more = small.with_column("upper", Column.of("ABACBA"))
    assert list(more.columns) == ["word", "tag", "upper"]
    assert more.with_column("tag", Column.of("QQQQQQ")).sentences("tag")[0] == ["Q", "Q"]
    assert list(small.columns) == ["word", "tag"]
    assert small.sentences("tag") == TAGS
    with pytest.raises(DataError, match="'upper' has 2 values for 6 tokens"):
        small.with_column("upper", Column.of("AB"))


@given(parts=st.lists(word_lists, min_size=1, max_size=4))
def test_concatenate_is_one_after_the_other(parts):
    whole = concatenate([Corpus.from_lists({"word": words}) for words in parts])
    fresh = Corpus.from_lists({"word": [sentence for words in parts for sentence in words]})
    assert whole.sentences("word") == fresh.sentences("word")
    assert list(whole["word"].strings) == list(fresh["word"].strings)
    assert whole.offsets.tolist() == fresh.offsets.tolist()


def test_concatenate_refuses_other_columns(small):
    with pytest.raises(DataError, match="do not match"):
        concatenate([small, Corpus.from_lists({"word": [["a"]]})])


class TestColumn:
    def test_translates_each_string_once_and_marks_the_unknown(self):
        column = Column.of(["a", "b", "a", "z"])
        assert column.translated({"b": 5, "a": 2}).tolist() == [2, 5, 2, -1]

    def test_of_and_values_are_inverse(self):
        assert Column.of(["b", "a", "b"]).values() == ["b", "a", "b"]
        assert Column.of([]).values() == []

    def test_index(self):
        assert Column.of(["b", "a", "b"]).index == {"b": 0, "a": 1}


def test_sentences_are_picked_by_their_numbers_in_any_order():
    corpus = parse_conll(b"a X\nb Y\n\nc X\n\nd Z\ne X\n\n", ["word", "tag"], "f.txt")
    found = corpus.picked(np.array([2, 0, 2]))
    assert found.sentences("word") == [["d", "e"], ["a", "b"], ["d", "e"]]
    assert found.sentences("tag") == [["Z", "X"], ["X", "Y"], ["Z", "X"]]
    assert [found.place(t) for t in (0, 3)] == ["f.txt:6", "f.txt:2"]
    assert len(corpus.picked(np.zeros(0, np.int64))) == 0


def test_lists_of_sentences_are_made_without_looking_for_garbage_and_then_it_is_looked_for_again():
    corpus = Corpus.from_lists({"word": [["a", "b"], [], ["a"]]})
    assert corpus["word"].sentences(corpus.offsets) == [["a", "b"], [], ["a"]]
    assert gc.isenabled()
    gc.disable()
    try:
        assert corpus.sentences("word") == [["a", "b"], [], ["a"]]
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_strings_of_a_slice_and_of_the_whole():
    whole = Corpus.from_lists({"word": [["a", "b"], ["c", "b", "a", "c"]]})
    assert whole["word"].values() == ["a", "b", "c", "b", "a", "c"]
    assert whole.slice(0, 1)["word"].values() == ["a", "b"]
