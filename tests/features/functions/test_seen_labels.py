"""Labels that a word was seen with in training."""

from __future__ import annotations

import numpy as np
import pytest
from function_cases import per_token
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column, Corpus
from trellis.features import TemplateFeatures, templates_for
from trellis.features.functions import FUNCTIONS

TAGS = FUNCTIONS["tags"]


def learnt(pairs, *arguments):
    return TAGS.learn(Column.of(w for w, _ in pairs), Column.of(t for _, t in pairs), arguments)


def test_a_word_has_every_label_it_was_seen_with_in_the_order_of_the_labels():
    resource = learnt([("dog", "N"), ("run", "V"), ("run", "N"), ("run", "V"), ("dog", "N")])
    rows = per_token("tags", [["run", "dog", "Dog"]], resource, ())
    assert rows == [(("N", 1.0), ("V", 1.0)), (("N", 1.0),), ()]


def test_words_seen_too_seldom_can_be_left_out():
    pairs = [("dog", "N"), ("run", "V"), ("run", "N"), ("a", "D"), ("a", "D"), ("a", "D")]
    for arguments in ((2,), ("pos", 2)):
        resource = learnt(pairs, *arguments)
        assert resource.words == ["run", "a"]
        rows = per_token("tags", [["dog", "run", "a"]], resource, arguments)
        assert rows == [(), (("N", 1.0), ("V", 1.0)), (("D", 1.0),)]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("XYZ")), max_size=20), st.integers(1, 4))
def test_the_same_as_by_counting(pairs, least):
    resource = learnt(pairs, least)
    words = [word for word, _ in pairs]
    labels = list(dict.fromkeys(label for _, label in pairs))
    expected = [
        tuple((label, 1.0) for label in labels if (word, label) in pairs) if words.count(word) >= least else ()
        for word in "abcd"
    ]
    assert per_token("tags", [list("abcd")], resource, (least,)) == expected


def test_columns_that_name_strings_which_do_not_occur_are_no_matter():
    words = Column(np.array([2, 2], np.int32), ["a", "b", "c"])
    labels = Column(np.array([1, 1], np.int32), ["X", "Y"])
    resource = TAGS.learn(words, labels, ())
    assert per_token("tags", [["a", "b", "c"]], resource, ()) == [(), (), (("Y", 1.0),)]


@pytest.mark.parametrize("label", [[1, 0], [0, 0]])
def test_pairs_out_of_order_or_given_twice_cannot_come_from_a_model_file(label):
    tables = {"words": ["a"], "labels": ["X", "Y"], "word": np.zeros(2, np.int64), "label": np.array(label)}
    with pytest.raises(ValueError, match="not in order"):
        TAGS.restore(tables)


def test_elsewhere_is_without_the_token_itself_in_training_and_everything_else_after():
    pairs = [("dog", "N"), ("run", "V"), ("run", "N"), ("run", "V"), ("a", "D")]
    words, labels = Column.of(w for w, _ in pairs), Column.of(t for _, t in pairs)
    function = FUNCTIONS["tags_elsewhere"]
    resource = function.learn(words, labels, ())
    found = function.of_training(words, labels, resource, ())
    rows = [tuple(name for name, _ in found.rows[k]) for k in found.which.tolist()]
    assert rows == [(), ("N", "V"), ("V",), ("N", "V"), ()]
    assert per_token("tags_elsewhere", [["run", "dog"]], resource, ()) == [(("N", 1.0), ("V", 1.0)), (("N", 1.0),)]


def test_elsewhere_in_features_is_learnt_so_and_used_as_it_is():
    corpus = Corpus.from_lists({"word": [["dog", "run"], ["dog", "runs"]], "tag": [["N", "V"], ["N", "V"]]})
    templates = templates_for("tags_elsewhere(word)[0]", ["word", "tag"], "tag")
    features, packed = TemplateFeatures.learn(corpus, templates, "tag")
    assert np.diff(packed.indptr).tolist() == [1, 0, 1, 0]
    assert features.names() == ["U:tags_elsewhere(word)[0]=N"]
    assert np.diff(features.transform(corpus).indptr).tolist() == [1, 1, 1, 1]
