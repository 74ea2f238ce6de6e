"""Attributes whose values change with every evaluation: their gradient, also in the values themselves."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel

Array = Any


@kernel
def add_packed_gradient(
    indptr: Array,
    ids: Array,
    values: Array,
    code: Array,
    pair_label: Array,
    delta: Array,
    row_gradient: Array,
    gradient: Array,
) -> None:
    """The transpose of `score_packed`: delta[t, j] times an attribute's value goes to its weight for label j, in
    row_gradient: F64[rows, width] or, where it has no row, in gradient: F64[weights]."""
    width = delta.shape[1]
    for t in range(len(delta)):
        d = delta[t]
        for k in range(indptr[t], indptr[t + 1]):
            c, v = code[ids[k]], values[k]
            if c >= 0:
                g = row_gradient[c]
                for j in range(width):
                    g[j] += v * d[j]
            else:
                single = -1 - c
                for p in range(single // 4096, single // 4096 + single % 4096):
                    gradient[p] += v * d[pair_label[p]]


@kernel
def packed_value_gradient(
    indptr: Array, ids: Array, code: Array, pair_label: Array, rows: Array, weights: Array, delta: Array, out: Array
) -> None:
    """out[k] = sum_j delta[t, j] w[j] for the weights w of the k-th occurrence, which is at token t."""
    width = delta.shape[1]
    for t in range(len(delta)):
        d = delta[t]
        for k in range(indptr[t], indptr[t + 1]):
            c, total = code[ids[k]], 0.0
            if c >= 0:
                w = rows[c]
                for j in range(width):
                    total += w[j] * d[j]
            else:
                single = -1 - c
                for p in range(single // 4096, single // 4096 + single % 4096):
                    total += weights[p] * d[pair_label[p]]
            out[k] = total


@kernel
def unroll(
    ids: Array, values: Array, start: Array, first: Array, source: Array, target: Array, weights: Array,
    out_source: Array, out_target: Array, out_weights: Array,
) -> None:  # fmt: skip
    """Occurrence k of an attribute with weights start[a]:start[a + 1] becomes a patch of its own, at first[k]: its
    value times the weights."""
    for k in range(len(ids)):
        a, v, q = ids[k], values[k], first[k]
        for p in range(start[a], start[a + 1]):
            out_source[q], out_target[q], out_weights[q] = source[p], target[p], v * weights[p]
            q += 1


@kernel
def roll_up(
    ids: Array, values: Array, start: Array, first: Array, weights: Array, by_patch: Array,
    gradient: Array, by_value: Array,
) -> None:  # fmt: skip
    """From the gradient in the weights of such patches: added to that in the attributes' weights, and that in the
    values, F64[occurrences]."""
    for k in range(len(ids)):
        a, v, q, total = ids[k], values[k], first[k], 0.0
        for p in range(start[a + 1] - start[a]):
            total += weights[start[a] + p] * by_patch[q + p]
        by_value[k] = total
        for p in range(start[a + 1] - start[a]):
            gradient[start[a] + p] += v * by_patch[q + p]
