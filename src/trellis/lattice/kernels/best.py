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
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.empty((longest, labels))
    for s in range(len(offsets) - 1):
        first, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = 0.0
        if length == 0:
            continue
        delta[0, :] = scores[first, :labels]
        for t in range(1, length):
            _step(delta[t - 1], transitions[(first + t) * each], scores[first + t], delta[t])
        label = 0
        for j in range(1, labels):
            if delta[length - 1, j] > delta[length - 1, label]:
                label = j
        totals[s] = delta[length - 1, label]
        paths[first + length - 1] = label
        for t in range(length - 1, 0, -1):
            block = transitions[(first + t) * each]
            before, high = 0, delta[t - 1, 0] + block[0, label]
            for i in range(1, labels):
                value = delta[t - 1, i] + block[i, label]
                if value > high:
                    before, high = i, value
            label = before
            paths[first + t - 1] = label


@part
def _step(previous: Array, block: Array, row: Array, out: Array) -> None:
    labels = len(out)
    for j in range(labels):
        out[j] = -np.inf
    tiles = labels - labels % 4
    for i in range(0, tiles, 4):
        p0, p1, p2, p3 = previous[i], previous[i + 1], previous[i + 2], previous[i + 3]
        for j in range(labels):
            v0 = max(p0 + block[i, j], p1 + block[i + 1, j])
            v1 = max(p2 + block[i + 2, j], p3 + block[i + 3, j])
            out[j] = max(out[j], max(v0, v1))
    for i in range(tiles, labels):
        p0 = previous[i]
        for j in range(labels):
            out[j] = max(out[j], p0 + block[i, j])
    for j in range(labels):
        out[j] += row[j]
