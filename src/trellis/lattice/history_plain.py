"""Chains that are normalised label by label, in plain Python: for small inputs, and what the kernels must equal.

`given(t, history)` is log P(label | history) at token t, F64[labels], for the tuple of the labels before.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Given = Callable[[int, tuple[int, ...]], F64]


def close_dead_ends(scores: F64, blocks: F64, each: int, offsets: NDArray[np.int64]) -> None:
    """As the kernel of that name."""
    for a, b in pairwise(offsets.tolist()):
        for t in range(b - 2, a - 1, -1):
            goes_on = (blocks[(t + 1) * each] > -np.inf) & (scores[t + 1] > -np.inf)
            scores[t, ~goes_on.any(axis=1)] = -np.inf


def beam(length: int, order: int, given: Given, width: int | None) -> tuple[float, list[int]]:
    """log P and labels of the best of the `width` labellings that are kept at each token, one for each history; of all,
    without a width. (-inf, []) where there is none."""
    kept: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    labels: list[list[int]] = []  # at each token, of each labelling that is kept: its last label,
    ways: list[list[int]] = []  # and which one it goes on from
    for t in range(length):
        best: dict[tuple[int, ...], tuple[float, int]] = {}
        for n, (value, history) in enumerate(kept):
            for j, more in enumerate(given(t, history).tolist()):
                later = _last((*history, j), order)
                if more > -np.inf and (later not in best or value + more > best[later][0]):
                    best[later] = (value + more, n)
        chosen = sorted(best.items(), key=lambda one: -one[1][0])[:width]
        kept = [(value, history) for history, (value, _) in chosen]
        ways.append([n for _, (_, n) in chosen])
        labels.append([history[-1] for history, _ in chosen])
    if not kept:
        return -np.inf, []
    n, path = 0, []
    for t in range(length - 1, -1, -1):
        path.append(labels[t][n])
        n = ways[t][n]
    return kept[0][0], path[::-1]


def marginals(length: int, order: int, given: Given, labels: int) -> tuple[F64, float]:
    """P(y_t = j), F64[tokens, labels], and the logarithm of their sum at the end, 0, or -inf without a path."""
    nodes = np.zeros((length, labels))
    alpha: dict[tuple[int, ...], float] = {(): 1.0}
    for t in range(length):
        later: dict[tuple[int, ...], float] = {}
        for history, mass in alpha.items():
            for j, p in enumerate((mass * np.exp(given(t, history))).tolist()):
                if p > 0.0:
                    later[_last((*history, j), order)] = later.get(_last((*history, j), order), 0.0) + p
                    nodes[t, j] += p
        alpha = later
    total = sum(alpha.values())
    return nodes, float(np.log(total)) if total > 0.0 else -np.inf


def followed(length: int, order: int, given: Given, path: NDArray[np.int32], uniform: F64 | None) -> float:
    """log P of the path I32[tokens]; with numbers between 0 and 1 it is drawn."""
    total, labels = 0.0, tuple[int, ...]()
    for t in range(length):
        row = given(t, labels)
        if uniform is not None:
            p = np.exp(row)
            if not p.any():
                return -np.inf
            before = np.cumsum(p) - p
            path[t] = np.flatnonzero((before <= uniform[t]) & (p > 0.0))[-1]
        total += float(row[path[t]])
        labels = _last((*labels, int(path[t])), order)
    return total


def _last(labels: tuple[int, ...], order: int) -> tuple[int, ...]:
    return labels[-order:]
