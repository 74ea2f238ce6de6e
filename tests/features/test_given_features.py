"""Features that a user brings: lists of names, or dicts of text, numbers and further dicts."""

from __future__ import annotations

import copy
import enum
import fractions
import math
import os
import subprocess
import sys
from collections import Counter, OrderedDict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pytest
from given_reference import pairs_of, sentences, unpacked
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.features import GivenFeatures, offsets_of


def read(token):
    """The attributes of one token, as learnt."""
    features, packed = GivenFeatures.learn([[token]])
    return unpacked(packed, features.names())[0]


@given(data=sentences, other=sentences)
def test_tokens_have_the_attributes_and_values_given(data, other):
    before = copy.deepcopy((data, other))
    features, packed = GivenFeatures.learn(data)
    names = features.names()
    expected = [pairs_of(token) for sentence in data for token in sentence]
    assert unpacked(packed, names) == expected
    assert names == list(dict.fromkeys(attribute for token in expected for attribute, _ in token))
    assert {type(attribute) for attribute in names} <= {str}
    assert features.attributes == len(names)
    new = [[(a if a in names else None, v) for a, v in pairs_of(token)] for sentence in other for token in sentence]
    assert unpacked(features.transform(other), names) == new
    assert (data, other) == before


@given(data=sentences, min_count=st.integers(1, 3))
def test_attributes_of_few_tokens_are_left_out(data, min_count):
    """Counted in tokens: twice in one token is once."""
    features, packed = GivenFeatures.learn(data, min_count=min_count)
    tokens = [pairs_of(token) for sentence in data for token in sentence]
    count = Counter(attribute for token in tokens for attribute in dict(token))
    expected = [[(a, v) for a, v in token if count[a] >= min_count] for token in tokens]
    assert unpacked(packed, features.names()) == expected
    assert features.names() == list(dict.fromkeys(attribute for token in expected for attribute, _ in token))
    assert packed.values is None or np.any(packed.values != 1.0)


@pytest.mark.parametrize("min_count", [0, -1, 1.5, "2", None])
def test_a_minimum_count_is_a_positive_whole_number(min_count):
    with pytest.raises(SettingError, match=r"min_count is .*; expected a whole number >= 1"):
        GivenFeatures.learn([[["a"]]], min_count=min_count)


def test_values_are_kept_only_when_some_are_not_one():
    assert GivenFeatures.learn([[["a"], {"b": 1.0, "c": True}]])[1].values is None
    _, packed = GivenFeatures.learn([[["a"], {"b": -2.5, "c": False}]])
    assert packed.values.tolist() == [1.0, -2.5, 0.0]
    assert packed.ids.dtype == np.int32
    assert packed.indptr.dtype == np.int64


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ({"word": "dog", "n": 3}, [("word:dog", 1.0), ("n", 3.0)]),
        ({"affix": ["a", "b"]}, [("affix:a", 1.0), ("affix:b", 1.0)]),
        ({"affix": ("a", b"b")}, [("affix:a", 1.0), ("affix:b", 1.0)]),
        ({"affix": {"b", "a", "c"}}, [("affix:a", 1.0), ("affix:b", 1.0), ("affix:c", 1.0)]),
        ({"affix": np.array(["a", "b"])}, [("affix:a", 1.0), ("affix:b", 1.0)]),
        ({"word": {"lower": "dog", "len": 3}}, [("word:lower:dog", 1.0), ("word:len", 3.0)]),
        ({"a": {}, "b": [], "c": ""}, [("c:", 1.0)]),
        ({7: 0.5, np.int64(8): "x", b"k": "v"}, [("7", 0.5), ("8:x", 1.0), ("k:v", 1.0)]),
        (OrderedDict(a=2), [("a", 2.0)]),
        (MappingProxyType({"a": {"b": MappingProxyType({"c": "d"})}}), [("a:b:c:d", 1.0)]),
        (frozenset("ba"), [("a", 1.0), ("b", 1.0)]),
        ({"b": 1}.keys(), [("b", 1.0)]),
        (np.array(["b", "a"]), [("b", 1.0), ("a", 1.0)]),
        (["b", "a", "b"], [("b", 1.0), ("a", 1.0), ("b", 1.0)]),
        ([], []),
        ({}, []),
    ],
    ids=repr,
)
def test_what_a_token_may_be(token, expected):
    assert read(token) == expected


def test_text_of_another_class_is_its_text():
    class Tag(str, enum.Enum):  # noqa: UP042 - it prints as Tag.NOUN, unlike a StrEnum
        NOUN = "n"

    assert read([Tag.NOUN, np.str_("x")]) == [("n", 1.0), ("x", 1.0)]
    assert read({"pos": Tag.NOUN, Tag.NOUN: np.str_("x")}) == [("pos:n", 1.0), ("n:x", 1.0)]
    features, _ = GivenFeatures.learn([[[np.str_("x")]]])
    assert type(features.names()[0]) is str


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.float16(-2), np.int64(3), fractions.Fraction(1, 2), Decimal("-1.5"), np.array(2.0)]
)
def test_any_real_number_is_a_value(value):
    assert GivenFeatures.learn([[{"a": value}, {"b": {"a": value}}]])[1].values.tolist() == [float(value)] * 2


def test_numbers_are_not_mixed_up_with_their_text():
    tokens = [{"a": 1}, {"a": "1"}, {"a": True}, {"a": "True"}, {"a": 1.0}, {"a": 2}, {"a": "2"}]
    features, packed = GivenFeatures.learn([tokens])
    assert [pair for (pair,) in unpacked(packed, features.names())] == [
        ("a", 1.0), ("a:1", 1.0), ("a", 1.0), ("a:True", 1.0), ("a", 1.0), ("a", 2.0), ("a:2", 1.0)
    ]  # fmt: skip


def test_more_different_numbers_than_are_remembered(monkeypatch):
    monkeypatch.setattr("trellis.features.items._REMEMBERED", 2)
    tokens = [{"a": float(n % 7), "b": "x"} for n in range(50)]
    features, packed = GivenFeatures.learn([tokens])
    assert unpacked(packed, features.names()) == [[("a", float(n % 7)), ("b:x", 1.0)] for n in range(50)]


def nested(depth):
    token = {"a": "b"}
    for _ in range(depth - 1):
        token = {"a": token}
    return token


def test_dicts_may_be_fifty_deep():
    assert read(nested(50)) == [("a:" * 50 + "b", 1.0)]
    circle = {}
    circle["a"] = circle
    for token in (nested(51), circle):
        with pytest.raises(DataError, match=r"sentence 1, token 1: .*more than 50 deep"):
            GivenFeatures.learn([[token]])


@pytest.mark.parametrize(
    "token",
    [
        {"a": math.nan},
        {"a": math.inf},
        {"a": -math.inf},
        {"a": np.float32("nan")},
        {"a": Decimal("nan")},
        {"a": None},
        {"a": {"b": None}},
        {"a": 1j},
        {"a": np.complex64(1)},
        {"a": 10**400},
        {"a": object()},
        {"a": [1.0, 2.0]},
        {"a": [["b"]]},
        {"a": [{"b": "c"}]},
        {"a": np.array([1.0, 2.0])},
        {"a": iter("bc")},
        {None: 1},
        {True: 1},
        {("a", "b"): 1},
        {"a": {1.5: 1}},
        "dog",
        b"dog",
        [b"\xff"],
        {"a": b"\xff"},
        ["a", 3],
        ["a", None],
        [("a", 1.0)],
        [["a"]],
        iter(["a"]),
        np.array([0.5, 1.0]),
        None,
        7,
    ],
    ids=lambda token: repr(token)[:20],
)
def test_what_is_no_attribute_is_refused_with_its_place(token):
    features, _ = GivenFeatures.learn([[["a"]]])
    data = [[["x"]], [], [["x"], token]]
    with pytest.raises(DataError, match=r"^sentence 3, token 2: "):
        GivenFeatures.learn(data)
    with pytest.raises(DataError, match=r"^sentence 3, token 2: "):
        features.transform(data)
    with pytest.raises(DataError, match=r"^sentence 13, token 2: "):
        features.transform(data, first=10)


def test_errors_say_what_to_do():
    for token, remedy in [
        ({"a": {"b": None}}, "'a:b' has the value None; leave it out"),
        ([0.5, 1.0], r"one array \[tokens, features\] a sentence"),
        ({"a": "x" * 10**5, "b": object}, "expected text, a finite number"),
        ("x" * 10**5, r"not '[x]{10,60}\.\.\.$"),
    ]:
        with pytest.raises(DataError, match=remedy):
            read(token)


def test_numbering_does_not_depend_on_the_order_of_sets():
    script = (
        "from trellis.features import GivenFeatures\n"
        "words = {chr(97 + i) * 3 for i in range(26)}\n"
        "features, packed = GivenFeatures.learn([[words, {'a': words, 'b': {'c': frozenset(words)}}]])\n"
        "print(features.names(), packed.ids.tolist())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_sentences_may_be_arrays_of_text_or_of_tokens():
    text = np.array([["a", "b"], ["c", "a"]])
    tokens = np.array([{"a": 2.0}, ["b"]], dtype=object)
    features, packed = GivenFeatures.learn([text, tokens])
    expected = [[("a", 1), ("b", 1)], [("c", 1), ("a", 1)], [("a", 2)], [("b", 1)]]
    assert unpacked(packed, features.names()) == expected


def test_offsets_are_where_sentences_begin():
    assert offsets_of([[1, 2], [], [3]]).tolist() == [0, 2, 2, 3]
    assert offsets_of([]).tolist() == [0]


@pytest.mark.parametrize("data", [None, 7, "text", {"a": [["x"]]}, iter([]), {1, 2}, np.array(3.0)], ids=repr)
def test_what_is_no_list_of_sentences_is_refused(data):
    with pytest.raises(DataError, match="expected a list of sentences, not "):
        offsets_of(data)


@pytest.mark.parametrize("sentence", [None, 7, iter([["a"]])], ids=repr)
def test_what_is_no_sentence_is_refused(sentence):
    with pytest.raises(DataError, match="sentence 2 is of the type"):
        offsets_of([[["a"]], sentence])
