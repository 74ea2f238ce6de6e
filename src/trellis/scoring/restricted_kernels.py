"""Compiled loops for scores of allowed labels only. Places, sets and labels as in `lattice.Allowed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_part

Array = Any


@kernel
def keep_allowed(sparse: Array, label: Array, which: Array, start: Array, labels: Array) -> Array:
    """Which single weights are for an allowed label, BOOL[pairs], and the label's number in its token's set, U16."""
    keep, number = np.zeros(len(label), np.bool_), np.zeros(len(label), np.uint16)
    number_of = np.full(start[1], -1, np.int64)
    for t in range(len(which)):
        u, v = start[which[t]], start[which[t] + 1]
        for k in range(u, v):
            number_of[labels[k]] = k - u
        for k in range(sparse[t], sparse[t + 1]):
            if number_of[label[k]] >= 0:
                keep[k] = True
                number[k] = number_of[label[k]]
        for k in range(u, v):
            number_of[labels[k]] = -1
    return keep, number


@kernel
def add_restricted_scores(
    first: int,
    last: int,
    rows: Array,
    weights: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    number: Array,
    pair_value: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    out: Array,
) -> None:
    """out[place of (t, j)] = sum of the weights of token t's attributes with the allowed label j; places are counted
    from token `first`. Rows are read in full where all labels are allowed, else at the allowed labels."""
    valued = len(row_value) > 0 or len(pair_value) > 0
    size = start[1]
    for t in range(first, last):
        p, q, u = places[t] - places[first], places[t + 1] - places[first], start[which[t]]
        a, b = dense[t], dense[t + 1]
        s = out[p:q]
        s[:] = 0.0
        if valued:
            for k in range(a, b):
                w, v = rows[row[k]], row_value[k]
                for i in range(q - p):
                    s[i] += v * w[labels[u + i]]
        elif q - p == size:
            while a + 4 <= b:
                w0, w1, w2, w3 = rows[row[a]], rows[row[a + 1]], rows[row[a + 2]], rows[row[a + 3]]
                for j in range(size):
                    s[j] += (w0[j] + w1[j]) + (w2[j] + w3[j])
                a += 4
            for k in range(a, b):
                w0 = rows[row[k]]
                for j in range(size):
                    s[j] += w0[j]
        elif q - p > 1:
            _gather(rows, row, a, b, labels, u, q - p, out, p)
        if valued:
            for k in range(sparse[t], sparse[t + 1]):
                s[number[k]] += pair_value[k] * weights[pair[k]]
        else:
            for k in range(sparse[t], sparse[t + 1]):
                s[number[k]] += weights[pair[k]]


@ordered_part
def _gather(rows: Array, row: Array, a: int, b: int, labels: Array, u: int, n: int, out: Array, p: int) -> None:
    """out[p + i] = sum of rows[row[k], label i] over a <= k < b, for n labels from u on; four in one sweep."""
    i = 0
    while i + 4 <= n:
        j0, j1, j2, j3 = labels[u + i], labels[u + i + 1], labels[u + i + 2], labels[u + i + 3]
        s0 = s1 = s2 = s3 = 0.0
        for k in range(a, b):
            w = rows[row[k]]
            s0 += w[j0]
            s1 += w[j1]
            s2 += w[j2]
            s3 += w[j3]
        out[p + i], out[p + i + 1], out[p + i + 2], out[p + i + 3] = s0, s1, s2, s3
        i += 4
    if i + 2 <= n:
        j0, j1 = labels[u + i], labels[u + i + 1]
        s0 = s1 = 0.0
        for k in range(a, b):
            w = rows[row[k]]
            s0 += w[j0]
            s1 += w[j1]
        out[p + i], out[p + i + 1] = s0, s1
        i += 2
    if i < n:
        j0, s0 = labels[u + i], 0.0
        for k in range(a, b):
            s0 += rows[row[k], j0]
        out[p + i] = s0


@ordered_part
def _scatter(d: Array, p: int, labels: Array, u: int, n: int, row: Array, a: int, b: int, rows: Array) -> None:
    """The transpose of _gather: rows[row[k], label i] += d[p + i]."""
    i = 0
    while i + 4 <= n:
        j0, j1, j2, j3 = labels[u + i], labels[u + i + 1], labels[u + i + 2], labels[u + i + 3]
        d0, d1, d2, d3 = d[p + i], d[p + i + 1], d[p + i + 2], d[p + i + 3]
        for k in range(a, b):
            g = rows[row[k]]
            g[j0] += d0
            g[j1] += d1
            g[j2] += d2
            g[j3] += d3
        i += 4
    if i + 2 <= n:
        j0, j1 = labels[u + i], labels[u + i + 1]
        d0, d1 = d[p + i], d[p + i + 1]
        for k in range(a, b):
            g = rows[row[k]]
            g[j0] += d0
            g[j1] += d1
        i += 2
    if i < n:
        j0, d0 = labels[u + i], d[p + i]
        for k in range(a, b):
            rows[row[k], j0] += d0


@kernel
def add_restricted_gradient(
    first: int,
    last: int,
    delta: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    number: Array,
    pair_value: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    row_gradient: Array,
    gradient: Array,
) -> None:
    """The transpose of add_restricted_scores: delta: F64[places] goes to every weight that was added to that score."""
    valued = len(row_value) > 0 or len(pair_value) > 0
    size = start[1]
    for t in range(first, last):
        p, q, u = places[t] - places[first], places[t + 1] - places[first], start[which[t]]
        d = delta[p:q]
        if valued:
            for k in range(dense[t], dense[t + 1]):
                g, v = row_gradient[row[k]], row_value[k]
                for i in range(q - p):
                    g[labels[u + i]] += v * d[i]
        elif q - p == size:
            for k in range(dense[t], dense[t + 1]):
                g = row_gradient[row[k]]
                for j in range(size):
                    g[j] += d[j]
        else:
            _scatter(delta, p, labels, u, q - p, row, dense[t], dense[t + 1], row_gradient)
        for k in range(sparse[t], sparse[t + 1]):
            gradient[pair[k]] += d[number[k]] * (pair_value[k] if valued else 1.0)
