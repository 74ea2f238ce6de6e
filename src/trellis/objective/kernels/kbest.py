"""The k best paths of one sentence: Viterbi with a list of the k best ways to every label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.objective.kernels.places import patch, score_token, unpatch
from trellis.rows import PAD

Array = Any


class KSearch(NamedTuple):
    """Memory for the search, of sentences up to some length. Entry n of label j at token t is the n-th best way there:
    it comes from entry `before % k` of label `before // k`."""

    scores: Array  # F64[1, width]
    value: Array  # F64[longest + 1, labels, k]: after the last token, label 0 is the end of all paths
    before: Array  # I32[longest + 1, labels, k]
    count: Array  # I64[longest + 1, labels]: how many ways there are, up to k
    block: Array  # F64[labels, labels]
    path: Array  # I32[k, longest]


@part
def room_for_k(tokens: Array, theta: Array, k: int) -> Array:
    longest, labels = 0, len(theta.transitions)
    for s in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[s + 1] - tokens.offsets[s])
    shape = (longest + 1, labels, k)
    return KSearch(
        np.zeros((1, (labels + PAD - 1) // PAD * PAD)), np.zeros(shape), np.zeros(shape, np.int32),
        np.zeros((longest + 1, labels), np.int64), np.zeros((labels, labels)), np.zeros((k, longest), np.int32),
    )  # fmt: skip


@part
def insert(value: Array, before: Array, count: int, new: float, origin: int) -> int:
    """Puts a value into a descending list, after those that equal it, and returns how long the list is then."""
    k = len(value)
    n = min(count, k - 1)
    while n > 0 and value[n - 1] < new:
        value[n], before[n] = value[n - 1], before[n - 1]
        n -= 1
    value[n], before[n] = new, origin
    return min(count + 1, k)


@part
def k_best_paths(tokens: Array, s: int, theta: Array, search: Array) -> Array:
    """The k best paths of sentence s into search.path, best first. Returns how many there are, as all may be fewer than
    k, and S(y) of the gold path; the paths' own scores are search.value[length, 0]."""
    first, length, labels = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s], len(theta.transitions)
    value, before, count, block = search.value, search.before, search.count, search.block
    k, gold_score = value.shape[2], 0.0
    for i in range(labels):
        for j in range(labels):
            block[i, j] = theta.transitions[i, j]
    for t in range(length + 1):  # the last step leads from all labels to the end
        g = 0
        if t < length:
            score_token(tokens, first + t, theta, search.scores, 0)
            g = tokens.gold[first + t]
            gold_score += search.scores[0, g]
        if 0 < t < length:
            patch(tokens, first + t, theta, block)
            gold_score += block[tokens.gold[first + t - 1], g]
        for j in range(labels if t < length else 1):
            own = search.scores[0, j] if t < length else 0.0
            ways, origins, found = value[t, j], before[t, j], 0
            if t == 0 and own > -np.inf:
                ways[0], found = own, 1
            for i in range(labels if t > 0 and own > -np.inf else 0):
                step = own + (block[i, j] if t < length else 0.0)
                for n in range(count[t - 1, i]):
                    new = value[t - 1, i, n] + step
                    if found == k and new <= ways[k - 1]:
                        break
                    found = insert(ways, origins, found, new, i * k + n)
            count[t, j] = found
        if 0 < t < length:
            unpatch(tokens, first + t, theta, block)
    for n in range(count[length, 0]):
        way = before[length, 0, n]
        for t in range(length - 1, -1, -1):
            search.path[n, t] = way // k
            way = before[t, way // k, way % k]
    return count[length, 0], gold_score
