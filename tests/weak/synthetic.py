"""Votes of functions whose quality is known."""

from __future__ import annotations

import numpy as np

from trellis.weak.votes import Votes


def independent_votes(rng, items, accuracies, balance, coverage=0.7):
    """Votes on items, and the truth I32[items]: function j votes on a share `coverage` of them, is right with
    accuracies[j], and wrong in all ways alike."""
    labels = len(balance)
    truth = rng.choice(labels, items, p=balance)
    values = np.full((items, len(accuracies)), -1)
    for j, accuracy in enumerate(accuracies):
        wrong = (truth + rng.integers(1, labels, items)) % labels
        cast = np.where(rng.random(items) < accuracy, truth, wrong)
        values[:, j] = np.where(rng.random(items) < coverage, cast, -1)
    names = [chr(ord("A") + k) for k in range(labels)]
    return Votes.of_items(values, names), truth.astype(np.int32)


def accuracy_of(model, votes, truth):
    return float(np.mean(model.best(votes) == truth))
