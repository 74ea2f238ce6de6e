"""Phrases are found as runs of whole tokens."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.weak.prompting.aligning import Alignment


def found(sentence, *phrases):
    spans, dropped = Alignment(sentence.split(" ")).find([(phrase, "X") for phrase in phrases])
    return [(a, b) for a, b, _ in spans], dict(dropped)


@pytest.mark.parametrize(
    ("sentence", "phrases", "spans", "dropped"),
    [
        ("in New York now", ["New York"], [(1, 3)], {}),
        ("in New York now", ["  New\n\tYork "], [(1, 3)], {}),
        ("I ca n't go", ["can't"], [(1, 3)], {}),
        ("in NEW YORK", ["New York"], [(1, 3)], {}),
        ("caf\u00e9 noir", ["cafe\u0301"], [(0, 1)], {}),
        ("\ufb01ne art", ["fine art"], [(0, 2)], {}),
        ("Stra\u00dfe", ["STRASSE"], [(0, 1)], {}),
        ("Apple ate an apple", ["apple", "Apple"], [(0, 1), (3, 4)], {}),
        ("Bo met Bo and Bo", ["Bo", "Bo"], [(0, 1), (2, 3)], {}),
        ("Bo met Al", ["Bo", "Bo"], [(0, 1)], {"not in the text": 1}),
        ("a a a", ["a a", "a a"], [(0, 2)], {"not in the text": 1}),
        ("University of Oslo is in Oslo", ["University of Oslo", "Oslo"], [(0, 3), (5, 6)], {}),
        ("Oslo and the University of Oslo", ["Oslo", "University of Oslo"], [(0, 1), (3, 6)], {}),
        ("New York City and York", ["York", "New York City", "York"], [(0, 3), (4, 5)], {"not in the text": 1}),
        ("New York City", ["New York", "York City"], [(0, 2)], {"overlaps another": 1}),
        ("the rapist and therapist", ["therapist"], [(3, 4)], {}),
        ("Yorkshire", ["York"], [], {"cuts a token": 1}),
        ("in Oslo", ["Bergen", "", " "], [], {"not in the text": 3}),
        ("a \u2009 b", ["a b"], [(0, 3)], {}),
    ],
)
def test_where_phrases_stand(sentence, phrases, spans, dropped):
    assert found(sentence, *phrases) == (spans, dropped)


_words = st.lists(
    st.text(st.sampled_from("abAB\u00e9e\u0301\ufb01\u00df .-"), min_size=1, max_size=3), min_size=1, max_size=6
)


@given(_words, st.lists(st.text(st.sampled_from("abAB\u00e9e\u0301fi\u00dfs .-\ud800"), max_size=5), max_size=5))
def test_each_phrase_is_found_or_counted_and_spells_what_it_stands_for(words, phrases):
    spans, dropped = Alignment(words).find([(phrase, str(n)) for n, phrase in enumerate(phrases)])
    assert len(spans) + sum(dropped.values()) == len(phrases)
    for start, end, n in spans:
        assert 0 <= start < end <= len(words)
        assert _bare("".join(words[start:end])) == _bare(phrases[int(n)])
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@given(_words, st.data())
def test_tokens_as_they_are_spelt_are_found(words, data):
    words = [word for word in words if word.strip()] or ["a"]
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    (span,), dropped = Alignment(words).find([(" ".join(words[start:end]), "X")])
    assert not dropped
    assert _bare("".join(words[span[0] : span[1]])) == _bare("".join(words[start:end]))


def _bare(text):
    """Without white space, case and differences that Unicode knows of, marks at the borders of tokens apart."""
    text = "".join(text.split())
    for _ in range(2):
        text = "".join(unicodedata.normalize("NFKD", text).casefold().split())
    return unicodedata.normalize("NFKD", text)
