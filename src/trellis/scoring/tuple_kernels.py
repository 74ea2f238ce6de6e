"""Compiled loops over the cells of tuples (see `lattice.windows.Windows`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel

Array = Any


@kernel
def find_tuples(labels: Array, size: int, length: int, keys: Array, first: int, out: Array) -> None:
    """out[cell] = first + the number of the cell's last `length` labels among the keys, which ascend; -1 for none.
    labels: I32[cells, at least length], -1 before the sentence; a key has the labels as digits, the oldest first."""
    width = labels.shape[1]
    for c in range(len(labels)):
        key, whole = 0, True
        for i in range(width - length, width):
            key = key * size + labels[c, i]
            whole &= labels[c, i] >= 0
        out[c] = -1
        if whole:
            k = np.searchsorted(keys, key)
            if k < len(keys) and keys[k] == key:
                out[c] = first + k


@kernel
def cell_scores(entry: Array, weights: Array, out: Array) -> None:
    """out[cell] = sum of its weights, entry: I32[lengths, cells], -1 for none."""
    for c in range(len(out)):
        out[c] = 0.0
    for m in range(len(entry)):
        row = entry[m]
        for c in range(len(out)):
            if row[c] >= 0:
                out[c] += weights[row[c]]


@kernel
def cell_gradient(entry: Array, values: Array, gradient: Array) -> None:
    """The transpose: values[cell] are added to the gradient of its weights."""
    for m in range(len(entry)):
        row = entry[m]
        for c in range(len(values)):
            if row[c] >= 0:
                gradient[row[c]] += values[c]
