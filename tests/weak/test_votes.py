"""The vote matrix, and votes as columns of a corpus."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.weak.columns import gold_of, votes_of
from trellis.weak.space import Space
from trellis.weak.votes import Votes

COLUMNS = {
    "word": [["Ann", "Lee", "saw", "Rome"], ["ok"]],
    "gold": [["B-PER", "I-PER", "O", "B-LOC"], ["O"]],
    "lf:names": [["B-PER", "I-PER", "_", "_"], ["_"]],
    "lf:io": [["I-PER", "I-PER", "_", "I-LOC"], ["_"]],
    "lf:any": [["S-ENT", "_", "O", "S-ENT"], ["_"]],
    "link:caps": [["_", "1", "0", "0"], ["_"]],
}
COARSE = {"ENT": ["PER", "LOC"]}


def corpus(**more):
    return Corpus.from_lists({**COLUMNS, **more})


def test_columns_of_any_encoding_vote_in_iob2():
    votes = votes_of(corpus(), coarse=COARSE)
    assert votes.functions == ("names", "io", "any")
    assert votes.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert votes.names == (*votes.labels, "B-ENT", "I-ENT")
    said = [[None if v < 0 else votes.names[v] for v in column] for column in votes.values.T.tolist()]
    assert said == [
        ["B-PER", "I-PER", None, None, None],
        ["B-PER", "I-PER", None, "B-LOC", None],
        ["B-ENT", None, "O", "B-ENT", None],
    ]
    assert votes.links[:, 0].tolist() == [-1, 1, 0, 0, -1]
    assert votes.linkers == ("caps",)


def test_a_coarse_name_admits_its_labels():
    space = Space.of_types(["PER"], COARSE)
    assert [label for label, ok in zip(space.labels, space.admits[space.index["B-ENT"]], strict=True) if ok] == [
        "B-LOC",
        "B-PER",
    ]
    assert (space.admits[: len(space.labels)] == np.eye(len(space.labels))).all()


def test_an_o_can_be_an_abstention():
    votes = votes_of(corpus(), ["any"], abstain=("_", "O"), coarse=COARSE)
    assert votes.values[:, 0].tolist()[2] == -1


def test_labels_that_spell_no_segments_stay_as_they_are():
    data = Corpus.from_lists({"word": [["a", "b"]], "lf:x": [["NN", "_"]], "lf:y": [["VB", "NN"]]})
    votes = votes_of(data, labels=["JJ"])
    assert votes.labels == ("JJ", "NN", "VB")
    assert votes.space.encoding is None
    assert votes.values.tolist() == [[1, 2], [-1, 1]]


def test_gold_labels_are_numbers_of_the_labels_voted_for():
    data = corpus()
    votes = votes_of(data, coarse=COARSE)
    assert [votes.labels[i] for i in gold_of(data, "gold", votes.space)] == ["B-PER", "I-PER", "O", "B-LOC", "O"]


def test_gold_of_a_type_that_nobody_votes_for_says_what_to_do():
    data = corpus()
    with pytest.raises(DataError, match=r"type 'LOC', which no function votes for.*--labels"):
        gold_of(data, "gold", votes_of(data, ["names"]).space)
    assert "B-LOC" in votes_of(data, ["names"], labels=["LOC"]).labels


def test_in_io_only_types_count():
    votes = votes_of(corpus(), coarse=COARSE).in_io()
    assert votes.labels == ("O", "I-LOC", "I-PER")
    assert votes.names == (*votes.labels, "I-ENT")
    assert votes.values[:2, 0].tolist() == [2, 2]
    assert votes.in_io() is votes


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: votes_of(corpus(), ["nobody"]), "there is no column 'lf:nobody', nor one 'nobody'"),
        (lambda: votes_of(Corpus.from_lists({"word": [["a"]]})), "no column holds votes"),
        (lambda: votes_of(corpus(**{"link:odd": [["2", "_", "_", "_"], ["_"]]})), "sentence 1, token 1.*says '2'"),
        (lambda: Space.of_types(["PER"], {"ENT": []}), "stands for no label"),
        (lambda: Space.of_labels(["A"], {"X": ["Y"], "Y": ["A"]}), "coarse itself"),
        (lambda: Votes.of_items([["A"], ["C"]], ["A", "B"], ["f"]), "item 2: f votes 'C'; expected one of A, B"),
        (lambda: Votes.of_items(np.array([[0, 2]]), ["A", "B"]), "go from 0 to 2"),
        (lambda: Votes.of_items(np.array([0, 1]), ["A", "B"]), "a row for each item"),
        (lambda: Votes.of_items([["A", "B"]], ["A", "B"], ["f", "f"]), "two functions are called 'f'"),
    ],
)
def test_what_cannot_be_is_said(call, says):
    with pytest.raises((SettingError, DataError), match=says):
        call()


def test_votes_on_items_may_be_labels_or_their_numbers():
    by_name = Votes.of_items([["SPAM", None], ["HAM", "SPAM"]], ["HAM", "SPAM"])
    by_number = Votes.of_items(np.array([[1, -1], [0, 1]]), ["HAM", "SPAM"])
    assert by_name.values.tolist() == by_number.values.tolist() == [[1, -1], [0, 1]]
    assert len(by_name) == by_name.tokens == 2


def test_numbers_are_those_of_the_labels_as_given():
    votes = Votes.of_items(np.array([[0], [1]]), ["z", "a"])
    assert [votes.labels[v] for v in votes.values[:, 0]] == ["z", "a"]


def test_sentences_and_functions_can_be_picked():
    votes = votes_of(corpus(), coarse=COARSE)
    one = votes.picked(np.array([1])).only(["any"])
    assert one.tokens == 1
    assert one.functions == ("any",)
    with pytest.raises(SettingError, match="there is no function 'x'"):
        votes.only(["x"])
