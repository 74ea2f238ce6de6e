"""Every loss from a list of all paths: the slow reference, which shares no code with src."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np


def paths_of(scores, transitions, more=None):
    """All paths of one sentence and their scores; forbidden ones are left out. transitions[t] leads into token t;
    `more(path)` is what a path scores beside."""
    tokens, labels = scores.shape
    paths, totals = [], []
    for path in product(range(labels), repeat=tokens):
        total = sum(scores[t, j] for t, j in enumerate(path))
        total += sum(transitions[t, i, j] for t, (i, j) in enumerate(pairwise(path), 1))
        total += 0.0 if more is None else more(path)
        if total > -np.inf:
            paths.append(path)
            totals.append(total)
    return paths, np.array(totals)


def log_sum(values):
    high = values.max()
    return high + np.log(np.exp(values - high).sum())


def hamming(path, gold, costs):
    return sum(costs[g] for j, g in zip(path, gold, strict=True) if j != g)


def loss_of(name, scores, transitions, gold, costs, known=None, soft=None, more=None, evidence=None, walk=None):
    """The loss of one sentence."""
    paths, totals = paths_of(scores, transitions, more)
    gold_score = totals[paths.index(tuple(gold))] if tuple(gold) in paths else None
    if known is not None:
        agree = [all(known[t, j] for t, j in enumerate(path)) for path in paths]
        told = 0.0 if evidence is None else [sum(evidence[t, j] for t, j in enumerate(path)) for path in paths]
        return log_sum(totals) - log_sum((totals + told)[agree])
    if walk is not None:
        start, follow = walk
        q = [np.prod([start[path[0]], *(follow[i, j] for i, j in pairwise(path))]) if path else 1.0 for path in paths]
        return log_sum(totals) - (q * totals).sum()
    if soft is not None:
        q = np.array([np.prod([soft[t, j] for t, j in enumerate(path)]) for path in paths])
        return log_sum(totals) - (q / q.sum() * totals).sum()
    if name == "perceptron":
        return totals.max() - gold_score
    if name in ("hinge", "softmax-margin"):
        augmented = totals + [hamming(path, gold, costs) for path in paths]
        return (augmented.max() if name == "hinge" else log_sum(augmented)) - gold_score
    excess = log_sum(totals) - gold_score
    if name == "log":
        return excess
    if name == "exp":
        return np.expm1(excess) if excess < 50 else np.exp(50.0) * (excess - 49) - 1
    p = np.exp(totals - log_sum(totals))
    marginals = [p[[path[t] == g for path in paths]].sum() for t, g in enumerate(gold)]
    each = [-np.log(m) if name == "pointwise-log" else 1 / m for m in marginals]
    return sum(costs[g] * value for g, value in zip(gold, each, strict=True))
