"""Paths under patched transitions (see `patches`): the best ones, and given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.best import best_step
from trellis.lattice.kernels.patches import add_patches, find_weight, take_back, value_of
from trellis.rows import PAD

Array = Any


@kernel
def patched_best_paths(
    scores: Array, transitions: Array, offsets: Array, patches: Array, paths: Array, totals: Array
) -> None:
    """As `best.best_paths`; scores F64[tokens, width >= labels], transitions F64[labels, labels]."""
    labels = len(transitions)
    width = (labels + PAD - 1) // PAD * PAD
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.full((longest, width), -np.inf)
    block, column = np.full((width, width), -np.inf), np.empty(labels)
    block[:labels, :labels] = transitions
    for s in range(len(offsets) - 1):
        first, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = 0.0
        if length == 0:
            continue
        delta[0, :labels] = scores[first, :labels]
        for t in range(1, length):
            add_patches(patches, first + t, block)
            best_step(delta, t, block)
            take_back(patches, first + t, transitions, block)
            for j in range(labels):
                delta[t, j] += scores[first + t, j]
        label = 0
        for j in range(1, labels):
            if delta[length - 1, j] > delta[length - 1, label]:
                label = j
        totals[s] = delta[length - 1, label]
        paths[first + length - 1] = label
        for t in range(length - 1, 0, -1):
            _column(patches, first + t, transitions, label, column)
            label = 0
            for i in range(labels):
                column[i] += delta[t - 1, i]
                if column[i] > column[label]:
                    label = i
            paths[first + t - 1] = label


@part
def _column(patches: Array, t: int, transitions: Array, j: int, out: Array) -> None:
    """out[i] = the patched transition i -> j into token t."""
    for i in range(len(out)):
        out[i] = transitions[i, j]
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a, v = patches.ids[k], value_of(patches, k)
        for p in range(patches.start[a], patches.start[a + 1]):
            if patches.target[p] == j:
                out[patches.source[p]] += v * patches.weights[p]


@kernel
def add_patched_scores(offsets: Array, patches: Array, paths: Array, totals: Array) -> None:
    """totals[s] += what the patches add to the score of the path I32[tokens]."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            for k in range(patches.indptr[t], patches.indptr[t + 1]):
                p = find_weight(patches, patches.ids[k], paths[t - 1], paths[t])
                if p >= 0:
                    totals[s] += value_of(patches, k) * patches.weights[p]


@kernel
def add_patched_means(offsets: Array, patches: Array, soft: Array, totals: Array) -> None:
    """totals[s] += what the patches add to the mean score under distributions over labels, F64[tokens, labels], of
    independent tokens."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            for k in range(patches.indptr[t], patches.indptr[t + 1]):
                a, v = patches.ids[k], value_of(patches, k)
                for p in range(patches.start[a], patches.start[a + 1]):
                    q = soft[t - 1, patches.source[p]] * soft[t, patches.target[p]]
                    totals[s] += v * patches.weights[p] * q


@kernel
def subtract_patched_soft(offsets: Array, patches: Array, soft: Array, weights: Array, gradient: Array) -> None:
    """gradient -= weights[s] times the mean values of the patches' weights under the same."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            for k in range(patches.indptr[t], patches.indptr[t + 1]):
                a, v = patches.ids[k], value_of(patches, k)
                for p in range(patches.start[a], patches.start[a + 1]):
                    q = soft[t - 1, patches.source[p]] * soft[t, patches.target[p]]
                    gradient[p] -= weights[s] * v * q


@kernel
def subtract_patched_path(offsets: Array, patches: Array, paths: Array, weights: Array, gradient: Array) -> None:
    """gradient -= weights[s] times the values of the patches' weights on the path."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s] + 1, offsets[s + 1]):
            for k in range(patches.indptr[t], patches.indptr[t + 1]):
                p = find_weight(patches, patches.ids[k], paths[t - 1], paths[t])
                if p >= 0:
                    gradient[p] -= weights[s] * value_of(patches, k)
