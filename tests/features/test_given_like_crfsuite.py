"""Plain tokens mean what they mean to python-crfsuite, for every shape it reads.

The differences, all on purpose: NaN, infinity and text in place of a token are refused, a name goes on behind a NUL
character, and training keeps attributes whose values sum to less than nothing.
"""

from __future__ import annotations

import numpy as np
import pytest
from given_reference import sentences, unpacked
from hypothesis import given

from trellis.features import GivenFeatures
from trellis.models import CRF

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; pip install trellis[bench]")


def ours(sentence):
    features, packed = GivenFeatures.learn([sentence])
    return unpacked(packed, features.names())


def theirs(sentence):
    return pycrfsuite.ItemSequence(sentence).items()


def trained(tmp_path, X, y):
    """CRFsuite's weights of attributes, by (attribute, label)."""
    trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.5, "epsilon": 1e-9}, verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(tmp_path / "m"))
    with pycrfsuite.Tagger().open(str(tmp_path / "m")) as tagger:
        return tagger.info().state_features


@given(data=sentences)
def test_names_and_values_are_the_same(data):
    for sentence in data:
        assert [dict(token) for token in ours(sentence)] == theirs(sentence)


@pytest.mark.parametrize(
    "token",
    [
        ["a", "b", "a"],
        ("a", b"b"),
        {"a", "b"},
        frozenset("ab"),
        np.array(["a", "b"]),
        [np.str_("a"), "é", b"\xc3\xa9", ""],
        {"a": "b", "c": b"d", b"e": "f", "": "", "g": np.str_("h")},
        {"a": 1, "b": -2.5, "c": True, "d": False, "e": 0.0, "f": 1e300},
        {"a": np.float32(0.1), "b": np.int64(-3), "c": np.True_, "d": np.float16(2), "e": np.array(4.0)},
        {"a": ["x", "y", "x"], "b": {"x"}, "c": [b"x"], "d": []},
        {"a": {"b": "c", "d": 3, "e": {}, "f": {"g": {"h": ["i", "j"], b"k": True}}}},
        {"a:b": "c", "a": {"b": "c"}},
    ],
    ids=repr,
)
def test_every_shape_it_reads(token):
    assert [dict(attributes) for attributes in ours([token])] == theirs([token])


def test_an_attribute_given_twice_counts_twice_there_and_here(tmp_path):
    """`items()` shows it once, but the weights are those of the value 2."""
    X = [[["a", "a", "b"], ["b"], ["a", "a"]], [["b"], ["a", "a"]]]
    valued = [[{k: float(token.count(k)) for k in dict.fromkeys(token)} for token in sentence] for sentence in X]
    y = [["X", "Y", "X"], ["Y", "Y"]]
    assert trained(tmp_path, X, y) == pytest.approx(trained(tmp_path, valued, y), abs=1e-6)
    twice, two = CRF(tol=1e-9).fit(X, y), CRF(tol=1e-9).fit(valued, y)
    assert twice.model_.weights == pytest.approx(two.model_.weights, abs=1e-6)
    assert ours([["a", "a"]]) == [[("a", 1.0), ("a", 1.0)]]


def test_negative_values_are_dropped_in_training_there_and_kept_here(tmp_path):
    X, y = [[{"a": -1.0, "b": 1.0}, {"a": -2.0}]], [["X", "Y"]]
    assert {attribute for attribute, _ in trained(tmp_path, X, y)} == {"b"}
    assert CRF().fit(X, y).model_.layout.pairs == 3


def test_names_are_not_cut_at_a_nul_character():
    assert theirs([["a\0b"]]) == [{"a": 1.0}]
    assert ours([["a\0b"]]) == [[("a\0b", 1.0)]]
