"""The best path of one sentence, and the change of weights that leads from it to the gold path.

y* = argmax over y' of S(y') [+ cost of y']        Delta = F(y) - F(y*)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.lattice.kernels.best import best_step
from trellis.objective.kernels.places import add_to_arc, add_to_label, patch, score_token, unpatch
from trellis.rows import PAD

Array = Any


class Search(NamedTuple):
    """Memory for the search, of sentences up to some length."""

    scores: Array  # F64[longest, width]
    delta: Array  # F64[longest, width]
    block: Array  # F64[width, width]: the transitions; -inf in the padding
    path: Array  # I32[longest]
    share: Array  # F64[labels]: how much of the cost a mistake has where this is the gold label; 1 unless changed


@part
def room_for_search(tokens: Array, theta: Array) -> Array:
    longest, labels = 0, len(theta.transitions)
    width = (labels + PAD - 1) // PAD * PAD
    for s in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[s + 1] - tokens.offsets[s])
    shape = (longest, width)
    block = np.full((width, width), -np.inf)
    return Search(np.empty(shape), np.full(shape, -np.inf), block, np.zeros(longest, np.int32), np.ones(labels))


@part
def best_path(tokens: Array, s: int, theta: Array, cost: float, search: Array) -> float:
    """The best path of sentence s into search.path, where a wrong label has `cost` added to its score; returns S(y*) -
    S(y), without costs. Of equal paths the one with the lowest labels from the end wins, as in `kernels.best`."""
    first, length, labels = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s], len(theta.transitions)
    scores, delta, block, path = search.scores, search.delta, search.block, search.path
    for i in range(labels):  # in loops: assignments to slices take long to compile
        for j in range(labels):
            block[i, j] = theta.transitions[i, j]
    gold_score, costs = 0.0, 0.0
    for t in range(length):
        score_token(tokens, first + t, theta, scores, t)
        g = tokens.gold[first + t]
        gold_score += scores[t, g]
        scores[t, g] -= cost * search.share[g]  # all labels but this one cost something: the same for every path
    for j in range(labels):
        delta[0, j] = scores[0, j]
    for t in range(1, length):
        patch(tokens, first + t, theta, block)
        gold_score += block[tokens.gold[first + t - 1], tokens.gold[first + t]]
        best_step(delta, t, block)
        unpatch(tokens, first + t, theta, block)
        for j in range(labels):
            delta[t, j] += scores[t, j]
    label = 0
    for j in range(1, labels):
        if delta[length - 1, j] > delta[length - 1, label]:
            label = j
    path[length - 1] = label
    best_score = delta[length - 1, label]
    for t in range(length - 1, 0, -1):
        costs += cost * search.share[label] if label == tokens.gold[first + t] else 0.0
        patch(tokens, first + t, theta, block)
        before, high = 0, delta[t - 1, 0] + block[0, label]
        for i in range(1, labels):
            value = delta[t - 1, i] + block[i, label]
            if value > high:
                before, high = i, value
        unpatch(tokens, first + t, theta, block)
        label = before
        path[t - 1] = label
    costs += cost * search.share[label] if label == tokens.gold[first] else 0.0
    return best_score + costs - gold_score  # type: ignore[no-any-return]


@part
def mistakes(tokens: Array, s: int, path: Array) -> int:
    """How many labels of a path are wrong."""
    first, wrong = tokens.offsets[s], 0
    for t in range(tokens.offsets[s + 1] - first):
        wrong += path[t] != tokens.gold[first + t]
    return wrong


@part
def add_difference(tokens: Array, s: int, path: Array, amount: float, vector: Array) -> None:
    """vector += amount (F(y) - F(path)) for sentence s with the gold path y."""
    first = tokens.offsets[s]
    for t in range(tokens.offsets[s + 1] - first):
        g, b = tokens.gold[first + t], path[t]
        g0, b0 = (tokens.gold[first + t - 1], path[t - 1]) if t > 0 else (g, b)
        for side in range(2):  # the gold path's, then the other one's: written once, so that it is compiled once
            j, i, signed = (g, g0, amount) if side == 0 else (b, b0, -amount)
            if g != b:
                add_to_label(tokens, first + t, j, signed, vector)
            if t > 0 and (g != b or g0 != b0):
                add_to_arc(tokens, first + t, i, j, signed, vector)


@part
def move(tokens: Array, s: int, path: Array, amount: float, step: float, theta: Array, late: Array) -> None:
    """theta += amount (F(y) - F(path)), and late += step times that (see `perceptron`)."""
    both = (theta, late)
    for v in range(2):
        add_difference(tokens, s, path, amount if v == 0 else amount * step, both[v])
