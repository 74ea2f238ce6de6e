"""Python's regular expressions as functions."""

from __future__ import annotations

import pytest
from function_cases import per_token

from trellis.features.functions import FUNCTIONS


def values(name, pattern, words):
    return [row[0][0] if row else None for row in per_token(name, [words], None, (pattern,))]


def test_regex_says_whether_the_pattern_is_found_anywhere():
    words = ["mid-1990s", "1990", "F-16", ""]
    assert values("regex", r"\d{2}", words) == ["true", "true", "true", None]
    assert values("regex", r"^\d+$", words) == [None, "true", None, None]
    assert values("regex", r"(?i)^f", words) == [None, None, "true", None]


def test_find_gives_what_was_found_or_the_first_group():
    assert values("find", "[0-9]+", ["mid-1990s", "x"]) == ["1990", None]
    assert values("find", "^(Mc|Mac)(.)", ["McCoy", "MacArthur", "Mint"]) == ["Mc", "Mac", None]


def test_finding_nothing_at_all_is_no_value():
    assert values("find", "x*", ["xx", "y"]) == ["xx", None]
    assert values("find", "(a)|b", ["a", "b"]) == ["a", None]


@pytest.mark.parametrize("name", ["regex", "find"])
def test_a_broken_pattern_is_refused_with_its_place(name):
    with pytest.raises(ValueError, match=r"'a\(b' is no regular expression: missing \).* at character 2; see"):
        FUNCTIONS[name].check(("a(b",))
