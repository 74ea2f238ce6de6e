"""Regular expressions that vote."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voting import corpus_of, found, named, voted

from trellis.errors import DataError, SettingError
from trellis.weak.applying import apply
from trellis.weak.functions import pattern, text_pattern


def test_a_match_votes_for_the_tokens_that_it_covers():
    dates = pattern(r"\d+ (May|June)", "DATE")
    assert voted(dates, "on 3 May , 12 June", "May 3") == ["_ B-DATE I-DATE _ B-DATE I-DATE", "_ _"]
    assert dates.name == "pattern-DATE"


def test_a_match_that_cuts_a_token_votes_for_nothing_or_for_all_of_it():
    assert voted(pattern("a b", "X"), "a b a bc ca b") == ["B-X I-X _ _ _ _"]
    assert voted(pattern("a b", "X", part="whole"), "a bc ca b") == ["B-X I-X B-X I-X"]


def test_spaces_around_a_match_do_not_matter():
    assert voted(pattern(r" ?\d+ ?", "N"), "a 1 b", "2") == ["_ B-N _", "B-N"]


def test_one_group_may_be_what_counts():
    assert voted(pattern(r"Mr\. (\S+)", "PER", group=1), "Mr. X left") == ["_ B-PER _"]
    assert voted(pattern(r"Mr\. (?P<who>\S+)|(\d)", "PER", group="who"), "Mr. X 1") == ["_ B-PER _"]
    with pytest.raises(SettingError, match="no group 2; it has: 0, 1"):
        pattern("(a)", "X", group=2)


def test_other_columns_and_flags_count_as_well():
    assert voted(pattern("d n", "NP", column="pos", flags=re.IGNORECASE), "the dog", pos=["D N"]) == ["B-NP I-NP"]
    with pytest.raises(SettingError, match="'p' looks at 'tag'; the columns are: word"):
        apply(pattern("a", "X", column="tag", name="p"), corpus_of("a"))


def test_what_is_no_pattern_is_an_error_that_says_why():
    with pytest.raises(SettingError, match="is no regular expression: unterminated character set at character 1"):
        pattern("[a", "X")
    with pytest.raises(SettingError, match="part is 'all'; expected one of ignore, whole"):
        pattern("a", "X", part="all")
    with pytest.raises(SettingError, match="votes ''; expected a label"):
        pattern("a", "")


words = st.lists(st.text("ab", min_size=1, max_size=3), max_size=8)


@given(st.lists(words, max_size=4), st.sampled_from(["a+", "ab", "b a", "a( b)+", "(a|b) ?a", "^b", "a$", " a", "b*"]))
def test_spans_are_those_found_by_trying_every_range_of_tokens(sentences, regex):
    expected, base = [], 0
    for sentence in sentences:
        text = " ".join(sentence)
        free = 0
        for match in re.finditer(regex, text):
            inner = match.group()
            left = match.start() + len(inner) - len(inner.lstrip(" "))
            right = match.end() - (len(inner) - len(inner.rstrip(" ")))
            for a in range(free, len(sentence)):
                for b in range(a + 1, len(sentence) + 1):
                    before = " ".join([*sentence[:a], ""]) if a else ""
                    if left == len(before) and right == len(before) + len(" ".join(sentence[a:b])):
                        expected.append((base + a, base + b, "X"))
                        free = b
        base += len(sentence)
    assert found(pattern(regex, "X"), *(" ".join(s) for s in sentences)) == expected


def test_texts_are_voted_for_as_a_whole_wherever_an_item_has_them():
    given = ["all SPAM", {"text": "spam"}, SimpleNamespace(text="ham")]
    votes = apply(text_pattern("spam", "SPAM", flags=re.I), given)
    assert named(votes) == ["SPAM", "SPAM", "_"]
    titles = text_pattern("spam", "SPAM", field="title", name="titles")
    assert named(apply(titles, [{"title": "spam", "text": "ham"}])) == ["SPAM"]
    with pytest.raises(DataError, match="item 2: the labeling function 'titles' found no text in 5"):
        apply(titles, ["a", 5])
