"""Functions of the user's own: what they may return, and that a model file holds their names only."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

import trellis
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, TemplateError
from trellis.features import Packed, TemplateFeatures, apply, apply_sentence, columns, templates_for
from trellis.models import CRF

word, pos = columns("word", "pos")
TEXT = {"word": [["Ann", "ran"], [], ["b"]], "pos": [["N", "V"], [], ["X"]]}


def vowels(string):
    return sum(letter in "aeiou" for letter in string) / 10


def found(features):
    """The attributes of every token, name -> value."""
    corpus = Corpus.from_lists(TEXT)
    learnt, packed = TemplateFeatures.learn(
        corpus, templates_for(features, list(corpus.columns), ""), None, features.functions
    )
    names = learnt.names()
    assert isinstance(packed, Packed)
    values = np.ones(len(packed.ids)) if packed.values is None else packed.values
    return [
        {names[packed.ids[k]].split("=", 1)[1]: values[k] for k in range(a, b)}
        for a, b in pairwise(packed.indptr.tolist())
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, {}),
        (False, {}),
        (np.False_, {}),
        ([], {}),
        ("x", {"x": 1.0}),
        ("", {"": 1.0}),
        (True, {"true": 1.0}),
        (-2.5, {"": -2.5}),
        (np.float32(0.5), {"": 0.5}),
        (["a", "b"], {"a": 1.0, "b": 1.0}),
        ({"a": 2, "b": "c", "d": ["e"]}, {"a": 2.0, "b:c": 1.0, "d:e": 1.0}),
    ],
)
def test_what_it_may_return(answer, expected):
    def f(string):
        return answer

    def g(sentence):
        return [answer] * len(sentence)

    assert found(apply(word, f)[0]) == [expected] * 3
    assert found(apply_sentence(word, g)[0]) == [expected] * 3


def test_a_sentence_function_sees_the_columns_it_asks_for():
    def joined(words, tags):
        return [f"{w}_{t}_{len(words)}" for w, t in zip(words, tags, strict=True)]

    assert found(apply_sentence(word, joined, pos)[0]) == [{"Ann_N_2": 1}, {"ran_V_2": 1}, {"b_X_1": 1}]
    assert found(apply_sentence(word, joined, pos)[-1]) == [{}, {"Ann_N_2": 1}, {}]


def test_it_is_called_once_for_each_different_string():
    seen = []

    def f(string):
        seen.append(string)

    found(apply(word, f)[-1:1])
    assert seen == ["Ann", "ran", "b"]


@pytest.mark.parametrize(
    "answer",
    [
        float("nan"),
        float("inf"),
        10**400,
        pytest.param(-(10**5000), id="huge"),
        object(),
        b"x",
        [1],
        {"a": None},
        {"a": 10**400},
    ],
)
def test_what_is_no_attribute_is_refused(answer):
    def f(string):
        return answer

    def g(sentence):
        return [None, answer]

    allowed = "; expected None, text, True or False, a finite number, a list or set of texts, or a dict"
    with pytest.raises(DataError, match=rf"^sentence 1, token 1: f\('Ann'\) returned .*{allowed}"):
        found(apply(word, f)[0])
    with pytest.raises(
        DataError, match=rf"^sentence 1, token 2: g\(\['Ann', 'ran'\]\) for token 2 returned .*{allowed}"
    ):
        found(apply_sentence(word, g)[0])


def test_its_errors_say_where_in_the_data_and_which_template():
    def f(string):
        return 1 / (len(string) - 1)

    expected = r"""^sentence 3, token 1: f\('b'\) raised ZeroDivisionError: .* \('%apply\[0,word,"f"\]'\)$"""
    with pytest.raises(DataError, match=expected) as caught:
        found(apply(word, f)[0])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def g(sentence):
        yield from (1 / (len(word) - 1) for word in sentence)

    with pytest.raises(DataError, match=r"^sentence 3, token 1: g\(\['b'\]\) raised ZeroDivisionError"):
        found(apply_sentence(word, g)[0])


def test_long_arguments_are_cut_in_messages():
    def f(string):
        raise ValueError

    corpus = Corpus.from_lists({"word": [["x" * 1000]]})
    templates = templates_for(apply(word, f)[0], ["word"], "")
    with pytest.raises(DataError) as caught:
        TemplateFeatures.learn(corpus, templates, None, {"f": f})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("answer", [None, {"Ann": "x", "ran": "y"}, {"x", "y"}, "xy", b"xy", 5, ["x"], ["x"] * 3])
def test_a_sentence_function_needs_an_answer_for_every_token(answer):
    def g(sentence):
        return answer

    expected = r"^sentence 1, token 1: g\(\['Ann', 'ran'\]\) returned .*; expected a list with something for each of "
    with pytest.raises(DataError, match=expected + "the 2 tokens"):
        found(apply_sentence(word, g)[0])


def test_a_sentence_function_may_answer_with_anything_in_order():
    for kind in (list, tuple, iter, np.array):

        def g(sentence, kind=kind):
            return kind([string.lower() for string in sentence])

        assert found(apply_sentence(word, g)[0]) == [{"ann": 1}, {"ran": 1}, {"b": 1}]


def test_two_functions_of_one_name_are_refused():
    def f(string):
        return "x"

    first = apply(word, f)[0]

    def f(string):
        return "y"

    with pytest.raises(SettingError, match="two different functions are called 'f'"):
        first + apply(word, f)[0]


def test_the_file_keeps_the_name_and_the_function_is_given_again(corpus, heldout, tmp_path):
    crf = CRF(target="chunk", features=pos[-1:1] + apply(word, vowels)[0], l2=1.0).fit(corpus)
    crf.save(tmp_path / "m")
    with pytest.raises(SettingError, match=r"a function of your own, 'vowels'.*functions=\{\"vowels\": vowels\}"):
        trellis.load(tmp_path / "m")
    again = trellis.load(tmp_path / "m", functions={"vowels": vowels})
    assert again.predict(heldout) == crf.predict(heldout) == pickle.loads(pickle.dumps(crf)).predict(heldout)


@pytest.mark.parametrize("functions", [[vowels], vowels, "vowels", {"vowels": 3}, {"vowels": None}])
def test_functions_are_given_as_a_dict(corpus, tmp_path, functions):
    CRF(target="chunk", features=apply(word, vowels)[0], l2=1.0).fit(corpus).save(tmp_path / "m")
    for load in (trellis.load, CRF.load):
        with pytest.raises(SettingError, match=r"functions= takes a dict .*\{\"vowels\": vowels\}; found "):
            load(tmp_path / "m", functions=functions)


def test_text_cannot_name_one():
    with pytest.raises(TemplateError, match="takes a function of your own and is for Python"):
        templates_for("apply(word, 'f')[0]", ["word"], "")
