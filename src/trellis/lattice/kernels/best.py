"""The best path of every sentence (Viterbi)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

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
    width = (labels + 3) // 4 * 4  # whole vectors: padding labels are forbidden
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.full((longest, width), -np.inf)
    block = np.full((width, width), -np.inf)
    if not each:
        block[:labels, :labels] = transitions[0]
    for s in range(len(offsets) - 1):
        first, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = 0.0
        if length == 0:
            continue
        delta[0, :labels] = scores[first, :labels]
        for t in range(1, length):
            if each:
                block[:labels, :labels] = transitions[first + t]
            best_step(delta[t - 1], block, delta[t])
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
def best_step(previous: Array, block: Array, out: Array) -> None:
    """out[j] = max_i (previous[i] + block[i, j]); four i in one sweep, a multiple of four of them."""
    width = len(out)
    for j in range(width):
        out[j] = -np.inf
    for i in range(0, width, 4):
        p0, p1, p2, p3 = previous[i], previous[i + 1], previous[i + 2], previous[i + 3]
        for j in range(width):
            v0 = max(p0 + block[i, j], p1 + block[i + 1, j])
            v1 = max(p2 + block[i + 2, j], p3 + block[i + 3, j])
            out[j] = max(out[j], max(v0, v1))
