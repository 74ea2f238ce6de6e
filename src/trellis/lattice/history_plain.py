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
Hypothesis = tuple[float, tuple[int, ...]]  # log P so far, and the labels


def close_dead_ends(scores: F64, blocks: F64, each: int, offsets: NDArray[np.int64]) -> None:
    """As the kernel of that name."""
    for a, b in pairwise(offsets.tolist()):
        for t in range(b - 2, a - 1, -1):
            goes_on = (blocks[(t + 1) * each] > -np.inf) & (scores[t + 1] > -np.inf)
            scores[t, ~goes_on.any(axis=1)] = -np.inf


def beam(length: int, order: int, given: Given, width: int | None) -> Hypothesis:
    """The best of the `width` labellings that are kept at each token, one for each history; all, without a width."""
    kept: list[Hypothesis] = [(0.0, ())]
    for t in range(length):
        best: dict[tuple[int, ...], Hypothesis] = {}
        for value, labels in kept:
            for j, more in enumerate(given(t, _last(labels, order)).tolist()):
                there = best.get(_last((*labels, j), order))
                if more > -np.inf and (there is None or value + more > there[0]):
                    best[_last((*labels, j), order)] = (value + more, (*labels, j))
        kept = sorted(best.values(), key=lambda one: -one[0])[:width]
    return kept[0] if kept else (-np.inf, ())


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
        row = given(t, _last(labels, order))
        if uniform is not None:
            p = np.exp(row)
            if not p.any():
                return -np.inf
            before = np.cumsum(p) - p
            path[t] = np.flatnonzero((before <= uniform[t]) & (p > 0.0))[-1]
        total += float(row[path[t]])
        labels = (*labels, int(path[t]))
    return total


def _last(labels: tuple[int, ...], order: int) -> tuple[int, ...]:
    return labels[-order:]
