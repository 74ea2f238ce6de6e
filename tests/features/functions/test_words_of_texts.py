"""`words`: a whole text as its words, and as rows of neighbouring words."""

from __future__ import annotations

import pytest
from function_cases import per_token

from trellis.corpus import Corpus
from trellis.features import TemplateFeatures, columns, templates_for, words
from trellis.features.functions.texts import words_of


def values(text, *arguments):
    (row,) = per_token("words", [[text]], None, arguments)
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
    assert words_of(text) == expected


def test_each_word_is_a_value_once():
    assert values("so so SO good") == ["so", "good"]
    assert values("so so SO good", 1) == ["so", "good"]


def test_rows_of_words():
    assert values("to be or not to be", 2) == ["to be", "be or", "or not", "not to"]
    assert values("to be or not", 3) == ["to be or", "be or not"]
    assert values("to be", 3) == []


def test_what_is_missing_has_no_words():
    assert values("_") == values("") == []


def test_several_numbers_are_several_features():
    (text,) = columns("text")
    assert len(words(text, 1, 2, 3)[0].templates()) == 3
    assert words(text)[0].templates()[0].text == "U:words(text)[0]=%words[0,text]"


def test_a_text_is_a_sentence_of_one_token():
    corpus = Corpus.from_lists({"text": [["A b"], ["b c"], [""]]})
    features, packed = TemplateFeatures.learn(corpus, templates_for("texts", ["text"], ""), "")
    names = features.names()
    rows = [[names[a] for a in packed.ids[i:j]] for i, j in zip(packed.indptr, packed.indptr[1:], strict=False)]
    one, two, always = "U:words(text,1)[0]=", "U:words(text,2)[0]=", "U:is_first(text)[0]=true"
    assert [sorted(row) for row in rows] == [
        sorted([f"{one}a", f"{one}b", f"{two}a b", always]),
        sorted([f"{one}b", f"{one}c", f"{two}b c", always]),
        [always],
    ]
