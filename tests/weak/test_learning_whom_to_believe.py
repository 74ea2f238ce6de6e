"""Label models on votes of functions of known quality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import accuracy_of, chained_votes, independent_votes

from trellis.weak.models import DawidSkene, Generative, HMMAggregator, MajorityVote, Triplets
from trellis.weak.patterns import Patterns
from trellis.weak.structure import alike, groups_of
from trellis.weak.votes import Votes

MODELS = [Generative, Triplets, DawidSkene]
BALANCE = (0.5, 0.3, 0.2)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), best=st.floats(0.75, 0.95), worst=st.floats(0.45, 0.65))
def test_accuracies_and_class_balance_are_recovered(kind, seed, best, worst):
    rng = np.random.default_rng(seed)
    votes, truth = independent_votes(rng, 30_000, np.linspace(worst, best, 7), BALANCE)
    model = kind().fit(votes)
    true = [np.mean((votes.values[:, j] == truth)[votes.voted[:, j]]) for j in range(7)]
    assert np.allclose(list(model.learned_accuracy(votes).values()), true, atol=0.02)
    assert np.allclose(model.balance_, np.bincount(truth) / len(truth), atol=0.02)
    if kind is not DawidSkene:
        assert np.allclose(list(model.accuracies_.values()), true, atol=0.02)
        assert np.allclose(list(model.class_balance_.values()), np.bincount(truth) / len(truth), atol=0.02)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_margin_over_majority_vote_grows_with_the_spread_of_qualities(kind, seed):
    rng = np.random.default_rng(seed)
    margins = []
    for spread in (0.0, 0.15, 0.3):
        votes, truth = independent_votes(rng, 20_000, np.linspace(0.7 - spread, 0.7 + 0.9 * spread, 7), BALANCE)
        own, majority = (accuracy_of(model.fit(votes), votes, truth) for model in (kind(), MajorityVote()))
        margins.append(own - majority)
    assert margins[0] > -0.003
    assert margins[1] > margins[0] + 0.003
    assert margins[2] > margins[1] + 0.01


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_chain_without_an_anchor_recovers_how_good_functions_are(seed):
    votes, truth = chained_votes(np.random.default_rng(seed), 1500, np.linspace(0.5, 0.9, 7), BALANCE)
    model = HMMAggregator(anchor=0.0).fit(votes)
    true = [np.mean((votes.values[:, j] == truth)[votes.voted[:, j]]) for j in range(7)]
    assert np.allclose(list(model.learned_accuracy(votes).values()), true, atol=0.02)
    assert np.allclose(model.probabilities(votes).mean(axis=0), np.bincount(truth) / len(truth), atol=0.02)


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_chain_gains_by_neighbours_and_more_the_more_qualities_differ(seed):
    rng = np.random.default_rng(seed)
    margins = []
    for spread in (0.0, 0.15, 0.3):
        votes, truth = chained_votes(rng, 4000, np.linspace(0.7 - spread, 0.7 + 0.9 * spread, 7), BALANCE)
        own, majority = (accuracy_of(model.fit(votes), votes, truth) for model in (HMMAggregator(), MajorityVote()))
        margins.append(own - majority)
    assert margins[0] > 0.015
    assert margins[1] > margins[0] + 0.003
    assert margins[2] > margins[1] + 0.005


def copies(rng, items=20_000):
    """Three good functions that are independent, and four copies of a bad one."""
    votes, truth = independent_votes(rng, items, [0.8, 0.8, 0.8, 0.5], BALANCE, coverage=1.0)
    bad = votes.values[:, [3]]
    again = np.where(rng.random((items, 3)) < 0.02, rng.integers(0, 3, (items, 3)), bad)
    return Votes.of_items(np.concatenate([votes.values, again], 1), ["A", "B", "C"]), truth


def test_copies_of_a_function_are_found_and_vote_as_one():
    votes, truth = copies(np.random.default_rng(5))
    learned = DawidSkene().fit(votes)
    assert learned.groups_ == [["f0"], ["f1"], ["f2"], ["f3", "f4", "f5", "f6"]]
    given_ = DawidSkene(structure=[["f3", "f4", "f5", "f6"]]).fit(votes)
    assert sorted(given_.groups_) == sorted(learned.groups_)
    fooled = DawidSkene(structure="independent").fit(votes)
    scores = [accuracy_of(model, votes, truth) for model in (learned, given_, fooled, MajorityVote().fit(votes))]
    assert min(scores[:2]) > 0.85 > 0.6 > max(scores[2:])
    for kind in (Generative, Triplets):
        assert accuracy_of(kind().fit(votes), votes, truth) > accuracy_of(MajorityVote().fit(votes), votes, truth) + 0.2


def test_independent_functions_stay_apart():
    votes, _ = independent_votes(np.random.default_rng(2), 5000, [0.9, 0.8, 0.7, 0.6], BALANCE)
    patterns = Patterns.of_votes(votes.values)
    weights = np.tile(patterns.counts[:, None] / 3, (1, 3))
    assert groups_of("learned", votes.functions, patterns, weights) == [[0], [1], [2], [3]]
    assert np.allclose(alike(patterns, weights), alike(patterns, weights).T)


def test_a_joint_vote_never_seen_is_answered_by_its_members():
    votes, _ = copies(np.random.default_rng(5), 2000)
    model = DawidSkene().fit(votes)
    new = Votes.of_items(np.array([[0, 0, 0, 0, 1, 2, -1]]), ["A", "B", "C"])
    chances = model.probabilities(new)
    assert np.isfinite(chances).all()
    assert chances[0].argmax() == 0


def test_a_function_that_is_silent_where_there_is_spam_speaks_for_ham():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 4000)
    looks_for_spam = [np.where((truth == 1) & (rng.random(4000) < 0.7), 1, -1) for _ in range(3)]
    says_ham = np.where((truth == 0) & (rng.random(4000) < 0.1), 0, -1)
    votes = Votes.of_items(np.stack([*looks_for_spam, says_ham], 1), ["HAM", "SPAM"])
    assert accuracy_of(Generative().fit(votes), votes, truth) > 0.95
    with pytest.warns(
        UserWarning, match="generative never says HAM, which majority vote says of .*% of what has votes"
    ):
        deaf = Generative(abstention="alike").fit(votes)
    assert accuracy_of(deaf, votes, truth) < 0.95
