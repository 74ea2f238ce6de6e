"""A whole text as its words, as rows of neighbouring words, and by its length."""

from __future__ import annotations

from itertools import pairwise

import pytest
from function_cases import per_token

from trellis.corpus import Corpus
from trellis.features import TemplateFeatures, columns, templates_for, word_ngrams
from trellis.features.functions.texts import words_in


def values(text, *arguments):
    (row,) = per_token("word_ngrams", [[text]], None, arguments)
    assert all(number == 1.0 for _, number in row)
    return [value for value, _ in row]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Check  out my\tNEW channel", ["check", "out", "my", "new", "channel"]),
        ("Don't, can\u2019t: rock'n'roll", ["don't", ",", "can't", ":", "rock'n'roll"]),
        ("'quoted' dogs'", ["'", "quoted", "'", "dogs", "'"]),
        ("http://a-b.com/x_1", ["http", ":", "/", "/", "a", "-", "b", ".", "com", "/", "x", "_", "1"]),
        ("so good!!! <3 ❤", ["so", "good", "!", "!", "!", "<", "3", "❤"]),
        ("ÉTÉ été e\u0301te\u0301", ["été", "été", "e\u0301te\u0301"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("語 слово", ["語", "слово"]),
        ("", []),
        (" \n\t\u00a0", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_and_all_other_signs(text, expected):
    assert words_in(text) == expected


def test_each_word_is_a_value_once():
    assert values("so so SO good", 1) == ["so", "good"]


def test_rows_of_words():
    assert values("to be or not to be", 2) == ["to be", "be or", "or not", "not to"]
    assert values("to be or not", 3) == ["to be or", "be or not"]
    assert values("to be", 3) == []


def test_several_numbers_are_several_features():
    (text,) = columns("text")
    assert [template.text for template in word_ngrams(text, 1, 2)[0].templates()] == [
        "U:word_ngrams(text,1)[0]=%word_ngrams[0,text,1]",
        "U:word_ngrams(text,2)[0]=%word_ngrams[0,text,2]",
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [(0, "0"), (1, "1-3"), (3, "1-3"), (4, "4-7"), (15, "8-15"), (16, "16-31"), (255, "128-255"), (999, "256+")],
)
def test_how_many_words_there_are(words, expected):
    assert per_token("word_count", [["so " * words]], None, ()) == [((expected, 1.0),)]


def test_an_empty_text_is_told_by_its_length_alone():
    corpus = Corpus.from_lists({"text": [["A b"], [""]]})
    features, packed = TemplateFeatures.learn(
        corpus, templates_for("word_ngrams(text, 1, 2)[0] + word_count(text)[0]", ["text"], ""), ""
    )
    names = features.names()
    rows = [sorted(names[a] for a in packed.ids[i:j]) for i, j in pairwise(packed.indptr.tolist())]
    one, two, long = "U:word_ngrams(text,1)[0]=", "U:word_ngrams(text,2)[0]=", "U:word_count(text)[0]="
    assert rows == [sorted([f"{one}a", f"{one}b", f"{two}a b", f"{long}1-3"]), [f"{long}0"]]
