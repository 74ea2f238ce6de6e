"""What words look like."""

from __future__ import annotations

import itertools

import pytest
from function_cases import per_token
from hypothesis import given
from hypothesis import strategies as st

from trellis.features.functions import FUNCTIONS


def value(name, word, *arguments):
    (row,) = per_token(name, [[word]], None, arguments)
    return row[0][0] if row else None


@pytest.mark.parametrize(
    ("word", "shape", "short"),
    [
        ("Reykjavik", "Xxxxxxxxx", "Xx"),
        ("3.14", "d.dd", "d.d"),
        ("U.S.", "X.X.", "X.X."),
        ("McDonald's", "XxXxxxxx'x", "XxXx'x"),
        ("--", "--", "-"),
        ("Éloïse", "Xxxxxx", "Xx"),
        ("東京", "xx", "x"),
        ("٣x²", "dxd", "dxd"),
        ("💡💡", "💡💡", "💡"),
        ("", "", ""),
    ],
)
def test_shapes(word, shape, short):
    assert value("shape", word) == shape
    assert value("short_shape", word) == short


@given(st.text(max_size=8))
def test_a_shape_has_a_sign_for_every_character_and_a_short_one_no_two_alike_in_a_row(word):
    shape, short = value("shape", word), value("short_shape", word)
    assert len(shape) == len(word)
    assert all(a != b for a, b in itertools.pairwise(short))
    assert short == "".join(c for k, c in enumerate(shape) if k == 0 or shape[k - 1] != c)


ANSWERS = {
    "": "",
    "Ann": "is_capitalized",
    "the": "all_lower",
    "IBM": "is_capitalized all_caps has_upper",
    "A": "is_capitalized all_caps",
    "ÉTÉ": "is_capitalized all_caps has_upper",
    "iPhone": "has_upper",
    "McCoy": "is_capitalized has_upper",
    "U.S.": "is_capitalized all_caps has_upper has_dot caps_dot",
    "Mr.": "is_capitalized has_dot caps_dot",
    "e.g.": "all_lower has_dot",
    "F-16": "is_capitalized all_caps has_digit has_hyphen",
    "x\u2011ray": "all_lower has_hyphen",
    "3rd": "all_lower has_digit",
    "1984": "all_digits has_digit",
    "٣": "all_digits has_digit",
    "3.14": "has_digit has_dot",
    "-": "has_hyphen is_punctuation",
    "...": "has_dot is_punctuation",
    "—": "is_punctuation",
    "$": "is_punctuation",
    "½": "",
    "東京": "",
    "A東": "is_capitalized",
}
QUESTIONS = [
    "is_capitalized", "all_caps", "all_lower", "all_digits", "has_digit", "has_hyphen", "has_dot", "has_upper",
    "is_punctuation", "caps_dot",
]  # fmt: skip


@pytest.mark.parametrize("word", ANSWERS)
def test_a_question_is_answered_with_true_or_not_at_all(word):
    answers = {name: value(name, word) for name in QUESTIONS}
    assert [name for name in QUESTIONS if answers[name] == "true"] == sorted(ANSWERS[word].split(), key=QUESTIONS.index)
    assert set(answers.values()) <= {"true", None}


def test_the_kind_of_the_first_character():
    words = ["Ann", "été", "1984", "-", "東京", ""]
    assert [value("initial", word) for word in words] == ["upper", "lower", "digit", "other", "other", None]


def test_lengths_fall_into_buckets():
    lengths = {n: value("length", "a" * n) for n in range(17)}
    assert lengths[0] is None
    assert [lengths[n] for n in range(1, 10)] == ["1", "2", "3", "4", "5-6", "5-6", "7-9", "7-9", "7-9"]
    assert [lengths[n] for n in range(10, 17)] == ["10-14"] * 5 + ["15+"] * 2


def test_affixes_of_words_too_short_for_them_do_not_exist():
    assert [value("prefix", "the", n) for n in (1, 3, 4)] == ["t", "the", None]
    assert [value("suffix", "the", n) for n in (1, 3, 4)] == ["e", "the", None]


def test_only_strings_that_can_stand_beyond_a_sentence_are_asked_there():
    assert {name for name, function in FUNCTIONS.items() if function.padded} == {"x", "lower", "t", "m"}
