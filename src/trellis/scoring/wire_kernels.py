"""Attributes whose values change with every evaluation: their gradient, also in the values themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel
from trellis.scoring.kernels import singles_of

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
                first, last, _ = singles_of(c)
                for p in range(first, last):
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
                first, last, _ = singles_of(c)
                for p in range(first, last):
                    total += weights[p] * d[pair_label[p]]
            out[k] = total


@kernel
def gather_pairs(
    start: Array, ids: Array, weights_at: Array, source: Array, target: Array, labels: int, slot: Array, ends: Array,
    out_source: Array, out_target: Array,
) -> int:  # fmt: skip
    """The label pairs that the attributes of each token have weights for, each once, ascending: written to out_source
    and out_target, which have room for all; token t's end at ends[t + 1]. slot[n]: where the n-th of them all, by
    occurrence and weight, is among these. Returns how many there are.

    start: I64[tokens + 1], ids: I32[occurrences]; attribute a has the weights weights_at[a]:weights_at[a + 1].
    """
    cells = labels * labels
    seen, place = np.full(cells, -1, np.int64), np.empty(cells, np.int64)
    few = np.empty(cells, np.int64)
    found, n = 0, 0
    ends[0] = 0
    for t in range(len(start) - 1):
        count = 0
        for k in range(start[t], start[t + 1]):
            for p in range(weights_at[ids[k]], weights_at[ids[k] + 1]):
                c = source[p] * labels + target[p]
                if seen[c] != t:
                    seen[c] = t
                    few[count] = c
                    count += 1
        if 8 * count < cells:
            codes = np.sort(few[:count])
            for m in range(count):
                place[codes[m]] = found
                out_source[found], out_target[found] = codes[m] // labels, codes[m] % labels
                found += 1
        elif count > 0:
            for c in range(cells):
                if seen[c] == t:
                    place[c] = found
                    out_source[found], out_target[found] = c // labels, c % labels
                    found += 1
        for k in range(start[t], start[t + 1]):
            for p in range(weights_at[ids[k]], weights_at[ids[k] + 1]):
                slot[n] = place[source[p] * labels + target[p]]
                n += 1
        ends[t + 1] = found
    return found


@kernel
def add_weighted(ids: Array, values: Array, weights_at: Array, weights: Array, slot: Array, out: Array) -> None:
    """out[slot] += value times weight, for all that `gather_pairs` has placed."""
    n = 0
    for k in range(len(ids)):
        v = values[k]
        for p in range(weights_at[ids[k]], weights_at[ids[k] + 1]):
            out[slot[n]] += v * weights[p]
            n += 1


@kernel
def hand_back(
    ids: Array, values: Array, weights_at: Array, weights: Array, slot: Array, by_pair: Array, gradient: Array,
    by_value: Array,
) -> None:  # fmt: skip
    """The transpose: from numbers for the pairs of tokens, added to the weights' gradient, and the sum over an
    occurrence's weights of these times the number, by_value: F64[occurrences]."""
    n = 0
    for k in range(len(ids)):
        first, count, total = weights_at[ids[k]], weights_at[ids[k] + 1] - weights_at[ids[k]], 0.0
        for p in range(count):
            total += weights[first + p] * by_pair[slot[n + p]]
        by_value[k] = total
        v = values[k]
        for p in range(count):
            gradient[first + p] += v * by_pair[slot[n + p]]
        n += count


@kernel
def add_rows(start: Array, ids: Array, values: Array, rows: Array, out: Array) -> None:
    """As `add_weighted` where every attribute has a weight for every pair, rows: F64[attributes, pairs]; every token
    that has any attribute has a row of out: F64[..., pairs]."""
    n = -1
    for t in range(len(start) - 1):
        if start[t] < start[t + 1]:
            n += 1
        for k in range(start[t], start[t + 1]):
            v, row = values[k], rows[ids[k]]
            to = out[n]
            for p in range(len(to)):
                to[p] += v * row[p]


@kernel
def hand_back_rows(
    start: Array, ids: Array, values: Array, rows: Array, by_pair: Array, gradient: Array, by_value: Array
) -> None:
    """As `hand_back` likewise; by_pair as out in `add_rows`, gradient: F64[attributes, pairs]."""
    n = -1
    for t in range(len(start) - 1):
        if start[t] < start[t + 1]:
            n += 1
        for k in range(start[t], start[t + 1]):
            v, row, of, to, total = values[k], rows[ids[k]], by_pair[n], gradient[ids[k]], 0.0
            for p in range(len(of)):
                total += row[p] * of[p]
            by_value[k] = total
            for p in range(len(of)):
                to[p] += v * of[p]
