"""Majority vote, weighted vote."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import Corpus
from trellis.errors import DataError, NotFittedError, SettingError
from trellis.weak.columns import votes_of
from trellis.weak.models import MajorityVote, WeightedVote
from trellis.weak.votes import Votes


def test_the_lectures_example():
    votes = Votes.of_items(np.array([[0, 1, 0, 1, 0], [1, 1, 1, 1, 0]]), ["0", "1"])
    assert MajorityVote().fit(votes).predict(votes) == [["0"], ["1"]]
    assert np.allclose(MajorityVote().fit(votes).probabilities(votes), [[0.6, 0.4], [0.2, 0.8]])


def columns(**votes):
    many = len(next(iter(votes.values())))
    return votes_of(
        Corpus.from_lists({"word": [["w"] * many], **{f"lf:{k}": [v] for k, v in votes.items()}}),
        coarse={"ENT": ["LOC", "PER"]},
    )


def test_segments_are_voted_for_by_type():
    votes = columns(a=["B-PER", "I-PER", "_"], b=["_", "B-PER", "_"], c=["B-LOC", "B-LOC", "_"])
    assert MajorityVote("first").fit(votes).predict(votes) == [["B-LOC", "B-PER", "O"]]
    votes = columns(a=["B-PER", "I-PER", "_"], b=["_", "B-PER", "_"], c=["_", "_", "_"])
    assert MajorityVote().fit(votes).predict(votes) == [["B-PER", "I-PER", "O"]]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [("frequent", ["B-PER", "I-PER"]), ("first", ["B-LOC", "B-PER"]), ("outside", ["O", "B-PER"])],
)
def test_ties_are_broken_as_asked_for(ties, expected):
    votes = columns(a=["B-PER", "I-PER"], b=["B-LOC", "B-PER"])
    model = MajorityVote(ties).fit(votes)
    assert model.predict(votes) == [expected]
    assert model.tied(votes).tolist() == [True, False]


def test_random_ties_depend_on_the_seed_alone():
    votes = columns(a=["B-PER"] * 50, b=["B-LOC"] * 50)
    one, again = (MajorityVote("random", seed=3).fit(votes).best(votes) for _ in range(2))
    assert (one == again).all()
    assert len(set(one.tolist())) > 1


def test_a_coarse_vote_decides_between_what_others_say():
    votes = columns(a=["B-PER", "_"], b=["_", "B-LOC"], c=["B-ENT", "B-ENT"])
    assert MajorityVote().fit(votes).predict(votes) == [["B-PER", "B-LOC"]]
    assert np.allclose(MajorityVote().fit(votes).probabilities(votes), [[0, 0.25, 0.75], [0, 0.75, 0.25]])


def test_items_without_votes_can_be_anything_and_tokens_are_o():
    items = Votes.of_items(np.array([[-1, -1], [0, 0], [0, 1]]), ["A", "B"])
    model = MajorityVote().fit(items)
    assert model.probabilities(items)[0].tolist() == [0.5, 0.5]
    assert model.predict(items) == [["A"], ["A"], ["A"]]
    tokens = columns(a=["_", "_"])
    assert MajorityVote().fit(tokens).predict(tokens) == [["O", "O"]]


def test_weights_that_are_given_decide():
    votes = columns(a=["B-PER"], b=["B-LOC"], c=["B-LOC"])
    assert WeightedVote({"a": 3.0, "b": 1.0, "c": 1.0}).fit(votes).predict(votes) == [["B-PER"]]
    assert WeightedVote({"a": 1.0, "b": 1.0, "c": 1.0}).fit(votes).predict(votes) == [["B-LOC"]]


def test_a_function_that_contradicts_all_others_counts_for_less():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 500)
    noisy = np.where(rng.random(500) < 0.8, truth, 1 - truth)
    values = np.stack([truth, truth, noisy, 1 - truth, truth], 1)
    model = WeightedVote().fit(Votes.of_items(values, ["A", "B"]))
    assert model.weights_[0] > model.weights_[2] > 0.1 > model.weights_[3] > 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda v: MajorityVote("best").fit(v), "ties are broken by 'best'; expected one of frequent"),
        (lambda v: WeightedVote({"x": 1.0}).fit(v), "a weight is given for 'x'; the functions are: a, b"),
        (lambda v: WeightedVote({"a": float("nan")}).fit(v), "weight of 'a' is nan"),
        (lambda v: MajorityVote().predict(v), "has learnt nothing yet; call fit"),
        (lambda v: MajorityVote().fit([[1]]), "votes are of the type list"),
        (lambda v: MajorityVote().fit(v).predict(v.only(["a"])), "knows the function 'b', which does not vote here"),
        (lambda v: MajorityVote("outside").fit(Votes.of_items(np.array([[0]]), ["A"])), "ties cannot be O"),
    ],
)
def test_what_cannot_be_is_said(call, says):
    with pytest.raises((SettingError, DataError, NotFittedError), match=says):
        call(columns(a=["B-PER"], b=["B-LOC"]))


def test_functions_and_labels_that_the_model_does_not_know_are_not_heard():
    votes = columns(a=["B-PER", "_"], b=["B-PER", "_"])
    model = MajorityVote().fit(votes)
    more = columns(a=["B-PER", "B-ORG"], b=["B-PER", "_"], c=["B-LOC", "_"])
    with pytest.warns(UserWarning, match="not heard") as said:
        assert model.predict(more) == [["B-PER", "O"]]
    assert [str(w.message) for w in said] == [
        "the model does not know c; not heard",
        "votes for ORG, of which the model knows nothing, are not heard",
    ]
