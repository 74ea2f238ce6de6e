"""Features from templates are exactly the strings that the templates describe."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from template_reference import attributes_of

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import TemplateFeatures
from trellis.features.notation import parse_templates

WAYS = ["plain", "compiled"]
FAR = 4  # beyond most of the short sentences below

part = st.tuples(st.integers(-FAR, FAR), st.sampled_from("wp")).map(lambda p: f"%x[{p[0]},{p[1]}]")
literal = st.text("/|=é: ", max_size=2)
body = st.lists(st.tuples(literal, part), max_size=4).map(lambda pairs: "".join(map("".join, pairs)))


@st.composite
def template_lines(draw):
    """One to four different templates of none to four parts, with text before each part."""
    bodies = draw(st.lists(body, min_size=1, max_size=4))
    return [f"U{k}:{text}".strip() for k, text in enumerate(bodies)]


@st.composite
def texts(draw, words="abc", tags="xy", least=0):
    """Two columns of short sentences, empty ones too, with at least so many tokens."""
    lengths = draw(st.lists(st.integers(0, 5), max_size=4).filter(lambda lengths: sum(lengths) >= least))
    return {
        name: [draw(st.lists(st.sampled_from(letters), min_size=n, max_size=n)) for n in lengths]
        for name, letters in (("w", words), ("p", tags))
    }


def learnt(columns, lines):
    templates = parse_templates("\n".join(lines), list(columns), target="t")
    return TemplateFeatures.learn(Corpus.from_lists(columns), templates)


def per_token(packed, names):
    """The names of each token's attributes, None for an unknown one."""
    return [
        [names[i] if i >= 0 else None for i in packed.ids[a:b].tolist()]
        for a, b in zip(packed.indptr, packed.indptr[1:], strict=False)
    ]


def known(tokens, names):
    return [[name if name in names else None for name in token] for token in tokens]


@given(columns=texts(), lines=template_lines())
def test_learning_gives_every_token_its_attributes(columns, lines):
    features, packed = learnt(columns, lines)
    names, expected = features.names(), attributes_of(columns, lines)
    assert per_token(packed, names) == expected
    assert sorted(names) == sorted({name for token in expected for name in token})
    assert features.attributes == len(names)
    assert packed.values is None


@pytest.mark.parametrize("way", WAYS)
@given(columns=texts(), other=texts(words="abcd", tags="xyz"), lines=template_lines())
def test_new_text_has_the_attributes_seen_in_training(columns, other, lines, way, computing):
    features, _ = learnt(columns, lines)
    names = features.names()
    with computing(way):
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, names) == known(attributes_of(other, lines), set(names))


@pytest.mark.parametrize("way", WAYS)
@given(columns=texts(least=1), other=texts(words="abcd"), lines=template_lines(), limit=st.integers(2, 400))
def test_keys_too_large_for_a_number_give_the_same_attributes(columns, other, lines, limit, way, computing):
    with mock.patch("trellis.features.keys._LIMIT", limit), computing(way):
        features, packed = learnt(columns, lines)
        names = features.names()
        assert per_token(packed, names) == attributes_of(columns, lines)
        assert len(set(names)) == len(names)
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, names) == known(attributes_of(other, lines), set(names))


@pytest.mark.parametrize("way", WAYS)
def test_a_template_of_eighty_parts(way, computing):
    columns = {"w": [list("abcab"), list("b"), list("abcab")]}
    lines = ["U:" + "/".join(f"%x[{k % 3 - 1},w]" for k in range(80))]
    features, packed = learnt(columns, lines)
    assert features.maker.ranks
    assert per_token(packed, features.names()) == attributes_of(columns, lines)
    other = {"w": [list("abcab"), list("abc"), list("zb")]}
    with computing(way):
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, features.names()) == known(attributes_of(other, lines), set(features.names()))


def test_many_attributes_make_the_tables_grow(computing):
    rng = np.random.default_rng(0)
    columns = {"w": [[f"w{n}" for n in rng.integers(0, 2000, 50)] for _ in range(60)]}
    lines = ["U0:%x[0,w]", "U1:%x[-1,w]/%x[0,w]"]
    features, packed = learnt(columns, lines)
    assert per_token(packed, features.names()) == attributes_of(columns, lines)
    for way in WAYS:
        with computing(way):
            again = features.transform(Corpus.from_lists(columns))
        np.testing.assert_array_equal(again.ids, packed.ids)


def test_numbers_run_through_the_templates():
    features, packed = learnt({"w": [list("ba")]}, ["U0:%x[0,w]", "U1", "U2:%x[1,w]"])
    assert features.names() == ["U0:b", "U0:a", "U1", "U2:a", "U2:_B+1"]
    assert packed.ids.reshape(2, 3).tolist() == [[0, 2, 3], [1, 2, 4]]
    assert packed.indptr.tolist() == [0, 3, 6]
    assert (packed.ids.dtype, packed.indptr.dtype) == (np.int32, np.int64)


def test_a_slice_is_transformed_like_the_same_sentences_alone():
    columns = {"w": [list("abc"), list("ca"), list("b")]}
    features, _ = learnt(columns, ["U0:%x[-1,w]/%x[0,w]", "U1:%x[1,w]"])
    part = Corpus.from_lists(columns).slice(1, 3)
    alone = Corpus.from_lists({"w": columns["w"][1:]})
    np.testing.assert_array_equal(features.transform(part).ids, features.transform(alone).ids)


def test_a_missing_column_is_named():
    features, _ = learnt({"w": [["a"]], "p": [["x"]]}, ["U0:%x[0,w]/%x[0,p]"])
    with pytest.raises(DataError, match=r"column 'p' is missing.*the input has: w"):
        features.transform(Corpus.from_lists({"w": [["a"]]}))


def test_columns_that_no_template_reads_are_not_needed():
    features, _ = learnt({"w": [["a"]], "p": [["x"]]}, ["U0:%x[0,w]"])
    assert features.columns == ["w"]
    assert features.transform(Corpus.from_lists({"w": [["a"]]})).ids.tolist() == [0]
