"""Features that a user brings: lists of names, or dicts with values."""

from __future__ import annotations

import fractions
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError
from trellis.features import GivenFeatures, offsets_of

name = st.text("abc:", min_size=1, max_size=3)
number = st.floats(allow_nan=False, allow_infinity=False)
list_token = st.lists(name, max_size=3)
dict_token = st.dictionaries(name, st.one_of(name, st.booleans(), st.integers(-9, 9), number), max_size=3)
sentences = st.lists(st.lists(st.one_of(list_token, dict_token), max_size=3), max_size=3)


def pairs_of(token):
    """The obvious reading of a token."""
    if isinstance(token, list):
        return [(attribute, 1.0) for attribute in token]
    return [(f"{k}:{v}", 1.0) if isinstance(v, str) else (k, float(v)) for k, v in token.items()]


def unpacked(packed, names):
    values = np.ones(len(packed.ids)) if packed.values is None else packed.values
    return [
        [(names[i] if i >= 0 else None, v) for i, v in zip(packed.ids[a:b], values[a:b], strict=True)]
        for a, b in zip(packed.indptr, packed.indptr[1:], strict=False)
    ]


@given(data=sentences, other=sentences)
def test_tokens_have_the_attributes_and_values_given(data, other):
    features, packed = GivenFeatures.learn(data)
    names = features.names()
    expected = [pairs_of(token) for sentence in data for token in sentence]
    assert unpacked(packed, names) == expected
    assert names == list(dict.fromkeys(attribute for token in expected for attribute, _ in token))
    assert features.attributes == len(names)
    new = [[(a if a in names else None, v) for a, v in pairs_of(token)] for sentence in other for token in sentence]
    assert unpacked(features.transform(other), names) == new


def test_values_are_kept_only_when_some_are_not_one():
    assert GivenFeatures.learn([[["a"], {"b": 1.0, "c": True}]])[1].values is None
    _, packed = GivenFeatures.learn([[["a"], {"b": -2.5, "c": False}]])
    assert packed.values.tolist() == [1.0, -2.5, 0.0]
    assert packed.ids.dtype == np.int32


def test_text_in_a_dict_is_name_and_text():
    assert GivenFeatures.learn([[{"word": "dog", "n": 3}]])[0].names() == ["word:dog", "n"]


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(3), fractions.Fraction(1, 2)])
def test_any_real_number_is_a_value(value):
    assert GivenFeatures.learn([[{"a": value}]])[1].values.tolist() == [float(value)]


@pytest.mark.parametrize(
    "token",
    [
        {"a": math.nan},
        {"a": math.inf},
        {"a": -math.inf},
        {"a": None},
        {"a": ["b"]},
        {"a": 1j},
        {"a": 10**400},
        "dog",
        b"dog",
        ["a", 3],
        [("a", 1.0)],
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


def test_offsets_are_where_sentences_begin():
    assert offsets_of([[1, 2], [], [3]]).tolist() == [0, 2, 2, 3]
    assert offsets_of([]).tolist() == [0]
