"""Taggers and classifiers trained on votes on real corpora, where they are on this machine: the goals that were set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import trellis as tr
from trellis import weak
from trellis.features import preset

DATA = Path(os.environ.get("TRELLIS_DATA") or Path(__file__).parents[3] / "shared" / "data")
ABSTAIN = {"weak-wikigold": ("_", "O")}


def parts(name):
    """Sentences, votes and gold labels of train and test."""
    if not (DATA / name).is_dir():
        pytest.skip(f"{name} is not on this machine (TRELLIS_DATA)")
    columns = ["word", *(DATA / name / "columns.txt").read_text().split()[1:]]
    for part in ("train", "test"):
        corpus = tr.read_conll(DATA / name / f"{part}.txt", columns=columns)
        votes = weak.votes_of(corpus, abstain=ABSTAIN.get(name, ("_",)))
        yield corpus, votes, weak.gold_of(corpus, "gold", votes.space)


def taught(model, train, features, **how):
    crf = tr.CRF("gold", features, l2=1.0, tol=1e-3)
    return weak.teach(crf, train[0], model, train[1], **how)


@pytest.mark.parametrize("learn", ["soft", "evidence"])
def test_wikigold_with_votes_is_as_good_as_its_label_model(learn):
    train, test = parts("weak-wikigold")
    model = weak.HMMAggregator(anchor=1.0).learn(train[1])
    crf = taught(model, train, preset("ner") + weak.vote_features(train[0]), learn=learn)
    assert crf.score(test[0]) >= model.evaluate(*test[1:]).f1


@pytest.mark.parametrize(("name", "majority"), [("weak-ncbi-disease", 0.7844), ("weak-laptopreview", 0.7327)])
def test_with_votes_it_is_no_worse_than_majority_vote(name, majority):
    train, test = parts(name)
    model = weak.HMMAggregator().learn(train[1])
    crf = taught(model, train, preset("ner") + weak.vote_features(train[0]))
    assert crf.score(test[0]) >= majority - 0.005


@pytest.mark.parametrize(("name", "sketch"), [("weak-ncbi-disease", 0.719), ("weak-laptopreview", 0.613)])
def test_without_votes_evidence_does_better_than_hard_labels_did(name, sketch):
    train, test = parts(name)
    crf = tr.CRF("gold", "ner", l2=0.1, tol=1e-3)
    weak.teach(crf, train[0], weak.HMMAggregator().learn(train[1]), train[1])
    assert crf.score(test[0]) > sketch


def test_comments_on_youtube():
    if not (DATA / "youtube-wrench").is_dir():
        pytest.skip("youtube-wrench is not on this machine (TRELLIS_DATA)")
    train, test = (weak.read_wrench(DATA / "youtube-wrench" / f"{part}.json") for part in ("train", "test"))
    majority = weak.MajorityVote().learn(train.votes).evaluate(test.votes, test.gold).accuracy
    model = weak.Generative().learn(train.votes)
    believed = model.evaluate(test.votes, test.gold).accuracy
    assert believed >= majority
    classifier = weak.teach(tr.TextClassifier(), train.texts, model, train.votes)
    assert classifier.score(test.texts, [test.labels[k] for k in test.gold]) >= believed + 0.05
