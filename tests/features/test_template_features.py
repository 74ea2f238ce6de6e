"""Features from templates are exactly the strings that the templates describe."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from template_files import NEW_WORDS, template_files, texts
from template_reference import attributes_of, transition_attributes_of

from trellis.corpus import Corpus
from trellis.errors import DataError
from trellis.features import TemplateFeatures
from trellis.features.notation import parse_templates

WAYS = ["plain", "compiled"]
BOTH = pytest.mark.parametrize("wapiti", [False, True], ids=["crfpp", "wapiti"])
OVERLAPPING = {"w": [["a", "b", "c"], ["b"]], "p": [["b", "a", "a"], ["d"]]}
VALUED = {"w": [["a|b", "_", "c"]], "n": [["0.5", "_", "-2"]]}


def learnt(columns, text, **more):
    templates = parse_templates(text, list(columns), target="t")
    return TemplateFeatures.learn(Corpus.from_lists(columns), templates, **more)


def per_token(packed, names):
    """The names of each token's attributes, None for an unknown one."""
    return [
        [names[i] if i >= 0 else None for i in packed.ids[a:b].tolist()]
        for a, b in zip(packed.indptr, packed.indptr[1:], strict=False)
    ]


def known(tokens, names):
    return [[name if name in names else None for name in token] for token in tokens]


def distinct(tokens):
    return sorted({name for token in tokens for name in token})


@BOTH
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), columns=texts())
def test_learning_gives_every_token_its_attributes(data, columns, wapiti, way, computing):
    text = data.draw(template_files(wapiti))
    with computing(way):
        features, packed = learnt(columns, text)
    expected = attributes_of(columns, text, wapiti)
    assert per_token(packed, features.names()) == expected
    assert sorted(features.names()) == distinct(expected)
    assert features.attributes == len(features.names())
    assert packed.values is None
    arcs = transition_attributes_of(columns, text, wapiti)
    assert sorted(features.arc_names()) == distinct(arcs)
    assert features.arc_attributes == len(features.arc_names())
    if packed.arcs is None:
        assert not any(arcs)
    else:
        assert per_token(packed.arcs, features.arc_names()) == arcs


@BOTH
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), columns=texts(), other=texts(words=NEW_WORDS, tags=["a", "X", "Z"]))
def test_new_text_has_the_attributes_seen_in_training(data, columns, other, wapiti, way, computing):
    text = data.draw(template_files(wapiti))
    features, _ = learnt(columns, text)
    with computing(way):
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, features.names()) == known(attributes_of(other, text, wapiti), set(features.names()))
    if packed.arcs is not None:
        expected = known(transition_attributes_of(other, text, wapiti), set(features.arc_names()))
        assert per_token(packed.arcs, features.arc_names()) == expected


@BOTH
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), columns=texts(), other=texts(words=NEW_WORDS), limit=st.integers(64, 2000))
def test_keys_too_large_for_a_number_give_the_same_attributes(data, columns, other, limit, wapiti, way, computing):
    text = data.draw(template_files(wapiti))
    with mock.patch("trellis.features.keys._LIMIT", limit), computing(way):
        features, packed = learnt(columns, text)
        names = features.names()
        assert per_token(packed, names) == attributes_of(columns, text, wapiti)
        assert len(set(names)) == len(names)
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, names) == known(attributes_of(other, text, wapiti), set(names))


@BOTH
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), columns=texts(), least=st.integers(1, 4), limit=st.sampled_from([64, 1 << 62]))
def test_rare_attributes_are_left_out(data, columns, least, limit, wapiti, way, computing):
    text = data.draw(template_files(wapiti))
    with mock.patch("trellis.features.keys._LIMIT", limit), computing(way):
        features, packed = learnt(columns, text, min_count=least)
        again = features.transform(Corpus.from_lists(columns))
    expected = attributes_of(columns, text, wapiti)
    counts = Counter(name for token in expected for name in token)
    frequent = {name for name in counts if counts[name] >= least}
    assert set(features.names()) == frequent
    assert per_token(packed, features.names()) == [[name for name in token if name in frequent] for token in expected]
    assert per_token(again, features.names()) == known(expected, frequent)


@BOTH
@given(data=st.data(), columns=texts())
def test_threads_change_nothing(data, columns, wapiti):
    text = data.draw(template_files(wapiti))
    (one, packed), (many, again) = learnt(columns, text), learnt(columns, text, threads=3)
    assert one.names() == many.names()
    np.testing.assert_array_equal(packed.ids, again.ids)


class TestSharedNames:
    """An attribute is its name: templates that are told apart by nothing but their places share attributes."""

    def test_of_one_column_in_two_places_are_a_bag_of_words(self):
        features, packed = learnt(OVERLAPPING, "U:%x[-1,0]\nU:%x[1,0]")
        assert sorted(features.names()) == ["U:_B+1", "U:_B-1", "U:a", "U:b", "U:c"]
        first, second, third, alone = per_token(packed, features.names())
        assert (first, second) == (["U:_B-1", "U:b"], ["U:a", "U:c"])
        assert (third, alone) == (["U:b", "U:_B+1"], ["U:_B-1", "U:_B+1"])

    def test_of_two_columns(self):
        features, packed = learnt(OVERLAPPING, "U:%x[0,w]\nU:%x[0,p]")
        assert sorted(features.names()) == ["U:a", "U:b", "U:c", "U:d"]
        assert per_token(packed, features.names()) == [
            ["U:a", "U:b"],
            ["U:b", "U:a"],
            ["U:c", "U:a"],
            ["U:b", "U:d"],
        ]

    def test_of_conjunctions_part_by_part(self):
        features, _ = learnt(OVERLAPPING, "U:%x[0,w]/%x[0,p]\nU:%x[0,p]/%x[0,w]")
        assert sorted(features.names()) == ["U:a/b", "U:a/c", "U:b/a", "U:b/d", "U:c/a", "U:d/b"]

    def test_across_functions(self):
        features, packed = learnt(OVERLAPPING, "U:%x[0,w]\nU:%lower[1,p]\nU:%prefix[0,p,1]")
        assert sorted(features.names()) == ["U:_b+1", "U:a", "U:b", "U:c", "U:d"]
        assert per_token(packed, features.names())[0] == ["U:a", "U:a", "U:b"]

    def test_count_together_for_the_minimum(self):
        features, _ = learnt(OVERLAPPING, "U:%x[0,w]\nU:%x[0,p]", min_count=3)
        assert sorted(features.names()) == ["U:a", "U:b"]

    def test_are_not_shared_with_other_literals(self):
        features, _ = learnt({"w": [["a"]]}, "U:%x[0,0]\nU1:%x[0,0]\nU:%x[0,0]/")
        assert sorted(features.names()) == ["U1:a", "U:a", "U:a/"]

    def test_labels_and_transitions_have_numbers_of_their_own(self):
        features, packed = learnt(OVERLAPPING, "*:%x[0,w]\nb:%x[0,p]")
        assert features.names() == ["*:a", "*:b", "*:c"]
        assert features.arc_names() == ["*:a", "*:b", "*:c", "b:b", "b:a", "b:d"]
        assert packed.ids.tolist() == [0, 1, 2, 1]
        assert packed.arcs.ids.tolist() == [0, 3, 1, 4, 2, 4, 1, 5]


class TestSeveralValues:
    """Functions that give a word none, one or many values, with numbers."""

    @pytest.mark.parametrize("way", WAYS)
    def test_conjunctions_are_of_every_value_with_every_other(self, way, computing):
        with computing(way):
            features, packed = learnt(VALUED, "U:%each[0,w]/%each[2,w]\nU1:%each[0,w]\nU2:%x[0,w]")
        found = [sorted(token) for token in per_token(packed, features.names())]
        assert found == [["U1:a", "U1:b", "U2:a|b", "U:a/c", "U:b/c"], ["U2:_"], ["U1:c", "U2:c"]]
        assert packed.values is None

    @pytest.mark.parametrize("way", WAYS)
    def test_numbers_are_multiplied(self, way, computing):
        with computing(way):
            features, packed = learnt(VALUED, "U:%x[0,w]\nU1:%number[0,n]/%each[0,w]\nU2:%number[0,n]%number[-2,n]")
            again = features.transform(Corpus.from_lists(VALUED))
        names = features.names()
        valued = [
            sorted(zip(token, packed.values[a:b].tolist(), strict=True))
            for token, a, b in zip(per_token(packed, names), packed.indptr, packed.indptr[1:], strict=False)
        ]
        assert valued == [
            [("U1:/a", 0.5), ("U1:/b", 0.5), ("U:a|b", 1.0)],
            [("U:_", 1.0)],
            [("U1:/c", -2.0), ("U2:", -1.0), ("U:c", 1.0)],
        ]
        np.testing.assert_array_equal(again.ids[again.ids >= 0], packed.ids)
        np.testing.assert_array_equal(again.values[again.ids >= 0], packed.values)

    @pytest.mark.parametrize("way", WAYS)
    def test_a_word_without_value_has_no_attribute_when_learning(self, way, computing):
        with computing(way):
            features, packed = learnt({"w": [["ab", "a"]]}, "U:%suffix[0,w,2]\nU1:%suffix[1,w,1]/%suffix[0,w,2]")
            assert per_token(packed, features.names()) == [["U:ab", "U1:a/ab"], []]
            other = features.transform(Corpus.from_lists({"w": [["a", "ab"]]}))
        assert [[name for name in token if name] for token in per_token(other, features.names())] == [[], ["U:ab"]]

    def test_a_function_that_finds_nothing_at_all(self):
        features, packed = learnt({"w": [["a"]]}, "U:%suffix[0,w,9]/%x[0,w]\nU1:%suffix[0,w,9]\nU2:%x[0,w]")
        assert (features.names(), packed.ids.tolist()) == (["U2:a"], [0])
        assert features.transform(Corpus.from_lists({"w": [["a" * 9]]})).ids.max() == -1


class TestHashing:
    @BOTH
    @pytest.mark.parametrize("way", WAYS)
    @given(data=st.data(), columns=texts(least=1), other=texts(words=NEW_WORDS))
    def test_equal_names_are_equal_numbers_and_no_others(self, data, columns, other, wapiti, way, computing):
        text = data.draw(template_files(wapiti))
        with computing(way):
            features, packed = learnt(columns, text, hash_size=1 << 30)
            again = features.transform(Corpus.from_lists(other))
        number = {}
        for found, tokens in (
            (packed, attributes_of(columns, text, wapiti)),
            (again, attributes_of(other, text, wapiti)),
        ):
            assert np.diff(found.indptr).tolist() == [len(token) for token in tokens]
            for n, name in zip(found.ids.tolist(), (name for token in tokens for name in token), strict=True):
                assert number.setdefault(name, n) == n
        assert len(set(number.values())) == len(number)

    def test_numbers_are_below_the_size(self):
        features, packed = learnt({"w": [[str(n) for n in range(50)]]}, "U:%x[0,w]/%x[1,w]\nU1:%x[0,w]", hash_size=7)
        assert features.attributes == 7
        assert set(packed.ids.tolist()) <= set(range(7))
        assert features.vocabularies == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_template_of_eighty_parts(way, computing):
    columns = {"w": [list("abcab"), list("b"), list("abcab")]}
    text = "U:" + "/".join(f"%x[{k % 3 - 1},w]" for k in range(80))
    features, packed = learnt(columns, text)
    assert features.labels.groups[0].keys.ranks
    assert per_token(packed, features.names()) == attributes_of(columns, text)
    other = {"w": [list("abcab"), list("abc"), list("zb")]}
    with computing(way):
        packed = features.transform(Corpus.from_lists(other))
    assert per_token(packed, features.names()) == known(attributes_of(other, text), set(features.names()))


def test_many_attributes_make_the_tables_grow(computing):
    rng = np.random.default_rng(0)
    columns = {"w": [[f"w{n}" for n in rng.integers(0, 2000, 50)] for _ in range(60)]}
    text = "U0:%x[0,w]\nU1:%x[-1,w]/%x[0,w]"
    features, packed = learnt(columns, text)
    assert per_token(packed, features.names()) == attributes_of(columns, text)
    for way in WAYS:
        with computing(way):
            again = features.transform(Corpus.from_lists(columns))
        np.testing.assert_array_equal(again.ids, packed.ids)


def test_numbers_run_through_the_templates():
    features, packed = learnt({"w": [list("ba")]}, "U0:%x[0,w]\nU1\nU2:%x[1,w]")
    assert features.names() == ["U0:b", "U0:a", "U1", "U2:a", "U2:_B+1"]
    assert [features.name(n) for n in range(5)] == features.names()
    assert packed.ids.reshape(2, 3).tolist() == [[0, 2, 3], [1, 2, 4]]
    assert packed.indptr.tolist() == [0, 3, 6]
    assert (packed.ids.dtype, packed.indptr.dtype) == (np.int32, np.int64)


def test_a_slice_is_transformed_like_the_same_sentences_alone():
    columns = {"w": [list("abc"), list("ca"), list("b")]}
    features, _ = learnt(columns, "U0:%x[-1,w]/%x[0,w]\nU1:%x[1,w]\nU2:%x[@-1,w]")
    part = Corpus.from_lists(columns).slice(1, 3)
    alone = Corpus.from_lists({"w": columns["w"][1:]})
    np.testing.assert_array_equal(features.transform(part).ids, features.transform(alone).ids)


def test_batches_of_a_reading_are_transformed_like_the_whole():
    columns = {"w": [list("abc"), list("ca"), [], list("b")]}
    features, packed = learnt(columns, "U0:%x[-1,w]/%x[0,w]\nU1:%x[1,w]\nB:%x[0,w]")
    reading = features.translated(Corpus.from_lists(columns))
    parts = [features.transform(batch) for batch in reading.batches(2)]
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([part.ids for part in parts]), packed.ids)
    np.testing.assert_array_equal(np.concatenate([part.arcs.ids for part in parts]), packed.arcs.ids)


def test_a_missing_column_is_named():
    features, _ = learnt({"w": [["a"]], "p": [["x"]]}, "U0:%x[0,w]/%x[0,p]")
    with pytest.raises(DataError, match=r"column 'p' is missing.*the input has: w"):
        features.transform(Corpus.from_lists({"w": [["a"]]}))


def test_columns_that_no_template_reads_are_not_needed():
    features, _ = learnt({"w": [["a"]], "p": [["x"]]}, "U0:%x[0,w]")
    assert features.columns == ["w"]
    assert features.transform(Corpus.from_lists({"w": [["a"]]})).ids.tolist() == [0]


def test_what_a_function_cannot_use_is_reported_with_its_template():
    with pytest.raises(DataError, match=r"token 2: 'x' is not a number.*\(features:1:3: '%number\[0,w\]'\)$"):
        learnt({"w": [["1", "x"]]}, "U:%number[0,w]")
