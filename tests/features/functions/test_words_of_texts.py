"""Words of whole texts."""

from __future__ import annotations

import pytest

from trellis.errors import TrellisError
from trellis.features.functions import FUNCTIONS
from trellis.features.functions.texts import words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don\u2019t miss it: WWW.x-y.com", "don't miss it : www . x - y . com"),
        ("", ""),
        ("  \t\n", ""),
        ("#1 a_b 100%", "# 1 a _ b 100 %"),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("cafe\u0301 déjà", "cafe\u0301 déjà"),
        ("'quoted' rock'n'roll", "' quoted ' rock'n'roll"),
        ("😀😀", "😀 😀"),
    ],
)
def test_words(text, words):
    assert words_in(text) == words.split()


def rows(name, text, *arguments):
    return FUNCTIONS[name].rows([text], None, arguments)[0]


def test_each_row_of_words_once():
    assert rows("word_ngrams", "a b a b", 1) == (("a", 1.0), ("b", 1.0))
    assert rows("word_ngrams", "a b a b", 2) == (("a b", 1.0), ("b a", 1.0))
    assert rows("word_ngrams", "a b", 3) == ()


@pytest.mark.parametrize(
    ("words", "found"), [(0, "0"), (1, "1-3"), (3, "1-3"), (4, "4-7"), (255, "128-255"), (999, "256+")]
)
def test_how_long(words, found):
    assert FUNCTIONS["word_count"].of_type([" ".join("a" * words)], None, ()) == [found]


@pytest.mark.parametrize("arguments", ["0", "11", "'a'"])
def test_arguments_that_do_not_fit(arguments):
    from trellis.features.choose import templates_for

    with pytest.raises(TrellisError, match="word_ngrams needs whole numbers of words from 1 to 10"):
        templates_for(f"word_ngrams(text, {arguments})[0]", ["text", "label"], "label")
