"""Votes of functions whose quality is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from trellis.weak.votes import Votes


def independent_votes(rng, items, accuracies, balance, coverage=0.7):
    """Votes on items, and the truth I32[items]: function j votes on a share `coverage` of them, is right with
    accuracies[j], and wrong in all ways alike."""
    return _votes_on(rng, rng.choice(len(balance), items, p=balance), accuracies, len(balance), coverage)


def chained_votes(rng, sentences, accuracies, balance, stay=0.7, length=20):
    """The same of sentences in which a label goes on with the probability `stay`, and is else drawn anew."""
    truth = rng.choice(len(balance), (sentences, length), p=balance)
    goes_on = rng.random((sentences, length)) < stay
    for t in range(1, length):
        truth[:, t] = np.where(goes_on[:, t], truth[:, t - 1], truth[:, t])
    votes, truth = _votes_on(rng, truth.ravel(), accuracies, len(balance), 0.7)
    return replace(votes, offsets=np.arange(0, len(truth) + 1, length)), truth


def _votes_on(rng, truth, accuracies, labels, coverage):
    items = len(truth)
    values = np.full((items, len(accuracies)), -1)
    for j, accuracy in enumerate(accuracies):
        wrong = (truth + rng.integers(1, labels, items)) % labels
        cast = np.where(rng.random(items) < accuracy, truth, wrong)
        values[:, j] = np.where(rng.random(items) < coverage, cast, -1)
    names = [chr(ord("A") + k) for k in range(labels)]
    return Votes.of_items(values, names), truth.astype(np.int32)


def accuracy_of(model, votes, truth):
    return float(np.mean(model.best(votes) == truth))
