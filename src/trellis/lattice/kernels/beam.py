"""Beam search on chains: of the labels of each token only the best go on."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part

Array = Any


@ordered_kernel
def beam_paths(
    scores: Array, transitions: Array, each: int, offsets: Array, width: int, paths: Array, totals: Array, bounds: Array
) -> None:
    """As `best.best_paths`, but only `width` labels of a token have successors: so many times L steps a token in place
    of L times L. bounds F64[sentences]: no path scores more.

    A path that is lost was dropped at some token t, where delta was exact; after that it adds at most

        rest_t = sum over u > t of (max_j s_u[j] + max transition into u)
    """
    labels = transitions.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta, rest, best = np.empty((longest, labels)), np.empty(longest), np.empty(min(width, labels))
    usual = -np.inf if each else _highest(transitions[0])
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = bounds[s] = 0.0
        if length == 0:
            continue
        rest[length - 1] = 0.0
        for t in range(length - 1, 0, -1):
            step = _highest(transitions[a + t]) if each else usual
            high = -np.inf
            for j in range(labels):
                high = max(high, scores[a + t, j])
            rest[t - 1] = rest[t] + high + step
        lost = -np.inf
        for t in range(length):
            row = delta[t]
            for j in range(labels):
                row[j] = 0.0 if t == 0 else -np.inf
            if t > 0:
                block = transitions[(a + t) * each]
                for i in range(labels):
                    x = delta[t - 1, i]
                    if x > -np.inf:
                        for j in range(labels):
                            row[j] = max(row[j], x + block[i, j])
            for j in range(labels):
                row[j] += scores[a + t, j]
            lost = max(lost, drop(row, best) + rest[t])
        label = 0
        for j in range(1, labels):
            if delta[length - 1, j] > delta[length - 1, label]:
                label = j
        totals[s] = delta[length - 1, label]
        bounds[s] = max(totals[s], lost)
        paths[a + length - 1] = label
        for t in range(length - 1, 0, -1):
            block = transitions[(a + t) * each]
            before, high = 0, -np.inf
            for i in range(labels):
                value = delta[t - 1, i] + block[i, label]
                if value > high:
                    before, high = i, value
            label = before
            paths[a + t - 1] = label


@ordered_part
def _highest(block: Array) -> Any:
    high = -np.inf
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            high = max(high, block[i, j])
    return high


@ordered_part
def drop(row: Array, best: Array) -> Any:
    """-inf for all but the len(best) highest numbers of a row, of equal ones the first; the highest that is dropped."""
    last = len(best) - 1
    for k in range(len(best)):
        best[k] = -np.inf
    for j in range(len(row)):  # sorted by insertion
        k = last
        if row[j] > best[k]:
            while k > 0 and best[k - 1] < row[j]:
                best[k] = best[k - 1]
                k -= 1
            best[k] = row[j]
    ties = len(best)  # places for numbers that are just as high as the last one to be kept
    for k in range(len(best)):
        ties -= int(best[k] > best[last])
    lost = -np.inf
    for j in range(len(row)):
        ties -= int(row[j] == best[last])
        if row[j] < best[last] or (row[j] == best[last] and ties < 0):
            lost = max(lost, row[j])
            row[j] = -np.inf
    return lost
