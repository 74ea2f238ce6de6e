"""Words seen often enough may only have the labels they were seen with."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.features import TagDictionary


def as_dict(dictionary):
    return {
        word: dictionary.labels[a:b].tolist()
        for word, a, b in zip(dictionary.strings, dictionary.start, dictionary.start[1:], strict=False)
    }


@given(
    pairs=st.lists(st.tuples(st.sampled_from(["a", "b", "é", "dd", ""]), st.integers(0, 3)), max_size=30),
    minimum=st.integers(0, 5),
)
def test_it_learns_what_a_loop_over_tokens_would(pairs, minimum):
    words, gold = Column.of(word for word, _ in pairs), np.array([label for _, label in pairs], np.int32)
    found = as_dict(TagDictionary.learn("word", words, gold, 4, minimum))
    counts = Counter(word for word, _ in pairs)
    assert found == {w: sorted({j for v, j in pairs if v == w}) for w, n in counts.items() if n >= minimum}


def test_tokens_may_have_the_labels_of_their_word_and_unknown_words_all():
    dictionary = TagDictionary.learn(
        "word", Column.of("a b a c b a".split()), np.array([0, 1, 2, 1, 1, 0], np.int32), 3, 2
    )
    assert as_dict(dictionary) == {"a": [0, 2], "b": [1]}
    mask = dictionary.allowed(Column.of(["c", "b", "new", "a"])).mask()
    assert mask.tolist() == [[True] * 3, [False, True, False], [True] * 3, [True, False, True]]


def test_strings_that_were_translated_to_minus_one_are_unknown():
    dictionary = TagDictionary.learn("word", Column.of("a b".split()), np.array([0, 1], np.int32), 2, 1)
    allowed = dictionary.allowed(Column(np.array([-1, 1, 0], np.int32), ["a", "b"]))
    assert allowed.counts.tolist() == [2, 1, 1]
    assert dictionary.allowed(Column(np.array([-1], np.int32), [])).counts.tolist() == [2]


def test_words_share_sets_and_a_word_with_all_labels_is_as_free_as_an_unknown_one():
    words, gold = Column.of("a b c c d d".split()), np.array([1, 1, 0, 1, 1, 0], np.int32)
    allowed = TagDictionary.learn("word", words, gold, 2, 1).allowed(words)
    assert allowed.which.tolist() == [1, 1, 0, 0, 0, 0]
    assert allowed.start.tolist() == [0, 2, 3]


def test_string_tables_with_strings_that_do_not_occur():
    words = Column(np.array([2, 2], np.int32), ["x", "y", "z", "w"])
    assert as_dict(TagDictionary.learn("word", words, np.array([1, 0], np.int32), 2, 1)) == {"z": [0, 1]}


def test_an_empty_dictionary_allows_everything():
    dictionary = TagDictionary.learn("word", Column.of([]), np.zeros(0, np.int32), 3, 2)
    assert dictionary.allowed(Column.of(["a"])).counts.tolist() == [3]


@pytest.mark.parametrize(
    ("strings", "start", "labels", "message"),
    [
        (["a"], [0, 1, 2], [0, 1], "do not match"),
        (["a", "a"], [0, 1, 2], [0, 1], "twice"),
        (["a", "b"], [0, 1, 1], [0], "the word 'b' has no label"),
        (["a"], [0, 2], [1, 0], "must rise"),
        (["a"], [0, 1], [5], "below 3"),
        (["a"], [0, 1], [0, 1], "do not match"),
    ],
)
def test_a_dictionary_that_makes_no_sense_is_refused(strings, start, labels, message):
    with pytest.raises(DataError, match=message):
        TagDictionary("word", 3, strings, np.array(start), np.array(labels, np.int32))
