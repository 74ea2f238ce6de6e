r"""Wapiti's patterns: `%t` and `%m` against a matcher so plain that it is right at sight."""

from __future__ import annotations

import string
import unicodedata

import pytest
from function_cases import per_token
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.features.functions import FUNCTIONS
from trellis.features.functions.wapiti import parse

TESTS = {
    "a": lambda c: c.isalpha(),
    "d": lambda c: c.isdigit(),
    "l": lambda c: c.islower(),
    "p": lambda c: c in string.punctuation or unicodedata.category(c).startswith(("P", "S")),
    "s": lambda c: c.isspace(),
    "u": lambda c: c.isupper(),
    "w": lambda c: c.isalnum(),
}


def fits(sign, c):
    """Whether a pattern's first sign, `x`, `.` or `\\x`, stands for a character."""
    if sign[0] != "\\":
        return sign in (".", c)
    if sign[1] in TESTS:
        return TESTS[sign[1]](c)
    if sign[1] in "ADLPSUW":
        return not TESTS[sign[1].lower()](c)
    return sign[1] == c


def match_here(pattern, text):
    """The length of a match at the start of the text, None if there is none: as the language is defined."""
    if pattern == "":
        return 0
    if pattern == "$":
        return 0 if text == "" else None
    width = 2 if pattern[0] == "\\" else 1
    sign, rest = pattern[:width], pattern[width:]

    def after_one(pattern):
        if text == "" or not fits(sign, text[0]):
            return None
        length = match_here(pattern, text[1:])
        return None if length is None else 1 + length

    def first(*tries):
        return next((length for length in (attempt() for attempt in tries) if length is not None), None)

    if rest.startswith("*"):
        return first(lambda: match_here(rest[1:], text), lambda: after_one(pattern))
    if rest.startswith("?"):
        return first(lambda: after_one(rest[1:]), lambda: match_here(rest[1:], text))
    return after_one(rest)


def match_anywhere(pattern, text):
    """The matched text, None if there is none."""
    if pattern.startswith("^"):
        length = match_here(pattern[1:], text)
        return None if length is None else text[:length]
    for start in range(len(text) + 1):
        length = match_here(pattern, text[start:])
        if length is not None:
            return text[start : start + length]
    return None


def values(name, pattern, words):
    return [row[0][0] for row in per_token(name, [words], None, (pattern,))]


signs = st.sampled_from([*"abA1-.^$ é", *(f"\\{c}" for c in "adlpsuwADLPSUWx*?^$.\\")])
items = st.tuples(signs, st.sampled_from(["", "", "*", "?"])).map("".join)
patterns = st.tuples(st.sampled_from(["", "^"]), st.lists(items, max_size=6).map("".join), st.sampled_from(["", "$"]))
patterns = patterns.map("".join).filter(lambda pattern: pattern and pattern[:2] not in ("^*", "^?"))
words = st.text("abAB1-. $^*éÉ東", max_size=8)


@given(pattern=patterns, word=words)
@example(pattern="a*$", word="baa")
@example(pattern="$", word="")
@example(pattern="^$", word="a")
@example(pattern="a$b", word="xa$b")
@example(pattern="$*$", word="$$")
@example(pattern="a^b", word="a^b")
def test_patterns_match_as_the_language_is_defined(pattern, word):
    expected = match_anywhere(pattern, word)
    FUNCTIONS["t"].check((pattern,))
    assert values("t", pattern, [word]) == ["false" if expected is None else "true"]
    assert values("m", pattern, [word]) == [expected or ""]


@pytest.mark.parametrize(
    ("pattern", "word", "matched"),
    [
        (r"^.?.?.?", "ab", "ab"),
        (r".?.?$", "Paris", "is"),
        (r"\d*", "12", ""),
        (r"\d*$", "a12", "12"),
        (r"^\u", "Éva", "É"),
        (r"\p", "U.S.", "."),
        (r"\U", "IBMs", "s"),
        (r"a?ab", "ab", "ab"),
        (r"\$", "US$5", "$"),
        (r"\q", "Iraq", "q"),
    ],
)
def test_the_text_that_matches(pattern, word, matched):
    assert values("m", pattern, [word]) == [matched]


def test_no_match_is_a_value_too():
    assert values("t", r"^\u", ["Ann", "ann", "_B-1"]) == ["true", "false", "false"]
    assert values("m", r"\d", ["a1", "a"]) == ["1", ""]


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("*", "character 1, \\* has no"),
        ("^?", "character 2"),
        ("ab**", "character 4"),
        ("ab\\", "character 3, nothing"),
    ],
)
def test_a_broken_pattern_is_refused_with_its_place(pattern, place):
    with pytest.raises(ValueError, match=place):
        FUNCTIONS["m"].check((pattern,))


def test_no_pattern_takes_exponential_time():
    """It would not end."""
    word = "a" * 1000
    for pattern in ("a?" * 200 + "b", "a*" * 200 + "b", ".*" * 100 + "b$", "a*a?" * 60 + "$b"):
        assert parse(pattern).search(word) is None
