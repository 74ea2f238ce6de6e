"""Every fit says how it stands beside majority vote."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from synthetic import independent_votes

from trellis.errors import DataError, SettingError
from trellis.weak.choosing import candidates_for, choose, default_for
from trellis.weak.models import Generative, HMMAggregator, MajorityVote, WeightedVote
from trellis.weak.votes import Votes


def data(seed=0, accuracies=(0.9, 0.6, 0.5, 0.5)):
    rng = np.random.default_rng(seed)
    return [independent_votes(rng, 3000, accuracies, (0.5, 0.3, 0.2)) for _ in range(2)]


def test_with_gold_both_are_scored(caplog):
    (votes, _), dev = data()
    with caplog.at_level(logging.INFO, "trellis"):
        model = Generative().fit(votes, dev)
    beside = model.beside_
    assert beside.own.accuracy > beside.majority.accuracy + 0.03
    assert caplog.messages == [beside.as_text()]
    assert "generative: accuracy" in beside.as_text()
    assert "majority vote beside it:" in beside.as_text()
    assert beside.as_json()["own"]["accuracy"] == beside.own.accuracy


def test_without_gold_it_says_how_far_they_differ(caplog):
    (votes, _), _ = data()
    with caplog.at_level(logging.INFO, "trellis"):
        model = Generative().fit(votes)
    assert model.beside_.own is None
    assert "differ on" in caplog.messages[0]
    assert "no gold labels" in caplog.messages[0]


def test_a_model_that_does_not_beat_majority_vote_is_warned_of():
    (votes, _), dev = data()
    with pytest.warns(UserWarning, match=r"weighted is worse than majority vote on gold labels: .* against .*"):
        WeightedVote({"f3": 9.0}).fit(votes, dev)
    with pytest.warns(UserWarning, match="weighted does no better than majority vote on gold labels"):
        WeightedVote({f"f{j}": 1.0 for j in range(4)}).fit(votes, (votes.picked(np.arange(1)), np.array([0], np.int32)))


def test_gold_may_be_known_for_some_tokens_only():
    (votes, _), (held_out, truth) = data()
    some = np.where(np.arange(len(truth)) < 500, truth, -1)
    model = Generative().fit(votes, (held_out, some))
    assert model.beside_.own.tokens == 500


def test_the_model_that_is_best_on_gold_is_chosen():
    (votes, _), dev = data()
    model, tried = choose(votes, dev)
    assert [one.name for one in tried] == ["majority", "weighted", "triplets", "generative", "dawid-skene"]
    assert model.beside_.own.accuracy == max(one.report.accuracy for one in tried)
    assert model.name != "majority"


def test_of_equals_the_simplest_is_chosen():
    votes = Votes.of_items(np.array([[0, 0, 0], [1, 1, 1]] * 20), ["A", "B"])
    model, _ = choose(votes, (votes, votes.values[:, 0]))
    assert isinstance(model, MajorityVote)


def test_what_cannot_be_fitted_is_told_with_why():
    votes = Votes.of_items(np.array([[0, 0], [1, 1]] * 20), ["A", "B"])
    _, tried = choose(votes, (votes, votes.values[:, 0]))
    assert {one.name: one.why_not for one in tried if one.report is None} == {
        "triplets": "triplets need three functions; there are 2: use generative, or majority"
    }
    with pytest.raises(DataError, match="no gold label is known"):
        choose(votes, (votes, np.full(40, -1, np.int32)))


def test_candidates_depend_on_what_there_is(segment_votes):
    votes, gold = segment_votes(1, links=1)
    assert {name for name, _ in candidates_for(votes)} >= {"hmm", "linked-hmm"}
    assert default_for(votes) == "linked-hmm"
    assert default_for(segment_votes(1)[0]) == "hmm"
    assert default_for(data()[0][0]) == "generative"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _ = choose(votes, (votes, gold), [("hmm", {"anchor": 1.0})])
    assert isinstance(model, HMMAggregator)


def test_dev_has_to_be_votes_and_gold():
    (votes, truth), _ = data()
    with pytest.raises(
        DataError, match=r"gold labels of the shape .5,. and the type int32; expected a whole number for each"
    ):
        Generative().fit(votes, (votes, truth[:5]))
    with pytest.raises(SettingError, match="is no parameter"):
        Generative().set_params(depth=3)
