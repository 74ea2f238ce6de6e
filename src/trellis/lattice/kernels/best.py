"""The best path of every sentence (Viterbi)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lanes import LANES, larger, load, splat, store
from trellis.rows import PAD

Array = Any


@kernel
def best_paths(scores: Array, transitions: Array, each: int, offsets: Array, paths: Array, totals: Array) -> None:
    """scores: F64[tokens, width >= labels]; transitions: F64[1 or tokens, labels, labels] (`each` = 0 or 1).

        delta_t[j] = s_t[j] + max_i (delta_(t-1)[i] + transitions[i, j])

    Only delta is kept. The label before is found again on the way back, for the one label that is on the path;
    so the loop over all pairs has no bookkeeping in it. Of equal paths the one with the lowest labels from the
    end wins. Written: paths I32[tokens], totals F64[sentences] (-inf when there is no path).
    """
    labels = transitions.shape[1]
    width = (labels + PAD - 1) // PAD * PAD  # whole vectors: padding labels are forbidden
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.full((longest, width), -np.inf)
    block = np.full((width, width), -np.inf)
    if not each:
        _fill(transitions, 0, block)
    for s in range(len(offsets) - 1):
        first, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = 0.0
        if length == 0:
            continue
        for j in range(labels):
            delta[0, j] = scores[first, j]
        for t in range(1, length):
            if each:
                _fill(transitions, first + t, block)
            best_step(delta, t, block)
            for j in range(labels):
                delta[t, j] += scores[first + t, j]
        label = 0
        for j in range(1, labels):
            if delta[length - 1, j] > delta[length - 1, label]:
                label = j
        totals[s] = delta[length - 1, label]
        paths[first + length - 1] = label
        for t in range(length - 1, 0, -1):
            matrix = transitions[(first + t) * each]
            before, high = 0, delta[t - 1, 0] + matrix[0, label]
            for i in range(1, labels):
                value = delta[t - 1, i] + matrix[i, label]
                if value > high:
                    before, high = i, value
            label = before
            paths[first + t - 1] = label


@part
def _fill(transitions: Array, n: int, block: Array) -> None:
    for i in range(transitions.shape[1]):  # in loops: slices that are given to slices take long to compile
        for j in range(transitions.shape[2]):
            block[i, j] = transitions[n, i, j]


@part
def best_step(delta: Array, t: int, block: Array) -> None:
    """delta[t, j] = max_i (delta[t - 1, i] + block[i, j]); delta: F64[positions, width], block: F64[width, width]. Two
    maxima of each label run side by side, as one would have to wait for itself."""
    width, j = block.shape[1], 0
    while j < width:
        if width - j >= 3 * LANES:
            a, b, c = splat(-np.inf), splat(-np.inf), splat(-np.inf)
            d, e, f = splat(-np.inf), splat(-np.inf), splat(-np.inf)
            for i in range(0, len(block), 2):
                v, w = delta[t - 1, i], delta[t - 1, i + 1]
                a, d = larger(a, load(block, i, j) + v), larger(d, load(block, i + 1, j) + w)
                b, e = larger(b, load(block, i, j + LANES) + v), larger(e, load(block, i + 1, j + LANES) + w)
                c, f = larger(c, load(block, i, j + 2 * LANES) + v), larger(f, load(block, i + 1, j + 2 * LANES) + w)
            store(delta, t, j, larger(a, d))
            store(delta, t, j + LANES, larger(b, e))
            store(delta, t, j + 2 * LANES, larger(c, f))
            j += 3 * LANES
        else:
            a = d = splat(-np.inf)
            for i in range(0, len(block), 2):
                a = larger(a, load(block, i, j) + delta[t - 1, i])
                d = larger(d, load(block, i + 1, j) + delta[t - 1, i + 1])
            store(delta, t, j, larger(a, d))
            j += LANES
