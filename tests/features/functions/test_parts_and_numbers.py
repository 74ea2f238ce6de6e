"""Functions that give several values, or a number."""

from __future__ import annotations

import math

import pytest
from function_cases import per_token
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Corpus, parse_conll
from trellis.errors import DataError
from trellis.features import TemplateFeatures, templates_for


def row(name, string, *arguments):
    (found,) = per_token(name, [[string]], None, arguments)
    return found


def values(name, string, *arguments):
    found = row(name, string, *arguments)
    assert all(number == 1.0 for _, number in found)
    return [value for value, _ in found]


def test_each_part_is_a_value():
    assert values("each", "Case=Nom|Number=Sing") == ["Case=Nom", "Number=Sing"]
    assert values("each", "a; b;a", ";") == ["a", " b"]
    assert values("each", "a::b", "::") == ["a", "b"]


def test_empty_parts_and_underscores_are_no_values():
    assert values("each", "_") == []
    assert values("each", "") == []
    assert values("each", "|a||_|b_|") == ["a", "b_"]


def test_ngrams_mark_the_edges_of_the_word():
    assert values("ngrams", "cat", 2) == ["<c", "ca", "at", "t>"]
    assert values("ngrams", "cat", 5) == ["<cat>"]
    assert values("ngrams", "cat", 6) == []


def test_ngrams_come_once_each_in_order_of_appearance():
    assert values("ngrams", "banana", 3) == ["<ba", "ban", "ana", "nan", "na>"]
    assert values("ngrams", "banana", 1) == ["b", "a", "n"]


def test_a_number_is_the_value_of_one_attribute():
    assert row("number", "-0.25") == (("", -0.25),)
    assert row("number", "3e2") == (("", 300.0),)
    assert row("number", "_") == ()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_every_bit(number):
    ((name, value),) = row("number", repr(number))
    assert name == ""
    assert math.copysign(1, value) == math.copysign(1, number)
    assert value == number


@pytest.mark.parametrize("string", ["abc", "", "1,5", "nan", "inf", "-Infinity", "1e999", "1_000", "0x10"])
def test_what_is_no_finite_number_is_refused(string):
    with pytest.raises(ValueError, match=f"'{string}' is not a number; expected"):
        row("number", string)


def test_a_refused_string_is_shown_where_it_stands():
    templates = templates_for("# notation: CRF++\nU0:%number[0,v]", ["v", "t"], "t")
    file = parse_conll(b"1 A\n2 B\n\n3 A\nx B\n", ["v", "t"], "num.tr")
    with pytest.raises(DataError, match=r"^num\.tr:5: 'x' is not a number; .* \(.*'%number\[0,v\]'\)$") as caught:
        TemplateFeatures.learn(file, templates, "t")
    assert (caught.value.path, caught.value.line) == ("num.tr", 5)
    learnt, _ = TemplateFeatures.learn(file.slice(0, 1).compact(), templates, "t")
    with pytest.raises(DataError, match=r"^sentence 2, token 1: 'y' is not a number"):
        learnt.transform(Corpus.from_lists({"v": [["1"], ["y"]]}))
    with pytest.raises(DataError, match=r"^num\.tr: .*'%number\[0,v\]': 'x' is not a number"):
        learnt.transform(file.slice(0, 1))
