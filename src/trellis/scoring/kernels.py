"""Compiled loops of the scoring room. `width` is the number of labels rounded up to whole vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel

Array = Any


@kernel
def mark_pairs(indptr: Array, ids: Array, gold: Array, attributes: int, labels: int) -> Array:
    """A bit for each (attribute, label) seen at one token: U64[attributes, words of 64 labels]."""
    seen = np.zeros((attributes, (labels + 63) // 64), np.uint64)
    for t in range(len(gold)):
        word, bit = gold[t] // 64, np.uint64(1) << np.uint64(gold[t] % 64)
        for k in range(indptr[t], indptr[t + 1]):
            seen[ids[k], word] |= bit
    return seen


@kernel
def list_pairs(seen: Array, labels: int) -> Array:
    """Bits -> where each attribute's labels begin, I64[attributes + 1], and the labels, I32[pairs]."""
    start = np.zeros(len(seen) + 1, np.int64)
    for a in range(len(seen)):
        count = 0
        for word in seen[a]:
            while word:
                word &= word - np.uint64(1)
                count += 1
        start[a + 1] = start[a] + count
    label = np.empty(start[-1], np.int32)
    for a in range(len(seen)):
        k = start[a]
        for j in range(labels):
            if seen[a, j // 64] >> np.uint64(j % 64) & np.uint64(1):
                label[k] = j
                k += 1
    return start, label


@kernel
def number_by_appearance(ids: Array, attributes: int) -> Array:
    """New numbers for the attributes that occur, in order of appearance: I32[occurrences], and the old number of
    each, I64[distinct]. Weights of rare attributes are then read one after the other."""
    number = np.full(attributes, -1, np.int32)
    old = np.empty(attributes, np.int64)
    new = np.empty(len(ids), np.int32)
    distinct = 0
    for k in range(len(ids)):
        a = ids[k]
        if number[a] < 0:
            number[a] = distinct
            old[distinct] = a
            distinct += 1
        new[k] = number[a]
    return new, old[:distinct].copy()


@kernel
def count_occurrences(indptr: Array, ids: Array, row_of: Array, pair_start: Array) -> Array:
    """Per token how many attributes have a row, and how many weights the others have, as running sums."""
    tokens = len(indptr) - 1
    dense, sparse = np.zeros(tokens + 1, np.int64), np.zeros(tokens + 1, np.int64)
    for t in range(tokens):
        rows, pairs = 0, 0
        for k in range(indptr[t], indptr[t + 1]):
            a = ids[k]
            if a >= 0:
                if row_of[a] >= 0:
                    rows += 1
                else:
                    pairs += pair_start[a + 1] - pair_start[a]
        dense[t + 1], sparse[t + 1] = dense[t] + rows, sparse[t] + pairs
    return dense, sparse


@kernel
def split_occurrences(
    indptr: Array,
    ids: Array,
    values: Array,
    row_of: Array,
    pair_start: Array,
    pair_label: Array,
    dense: Array,
    sparse: Array,
    row: Array,
    row_value: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
) -> None:
    """Sorts each token's attributes into those with a row and the single weights of the others."""
    valued = len(values) > 0
    for t in range(len(indptr) - 1):
        d, s = dense[t], sparse[t]
        for k in range(indptr[t], indptr[t + 1]):
            a = ids[k]
            if a < 0:
                continue
            if row_of[a] >= 0:
                row[d] = row_of[a]
                if valued:
                    row_value[d] = values[k]
                d += 1
            else:
                for p in range(pair_start[a], pair_start[a + 1]):
                    pair[s] = p
                    label[s] = pair_label[p]
                    if valued:
                        pair_value[s] = values[k]
                    s += 1


@kernel
def add_scores(
    first: int,
    last: int,
    labels: int,
    rows: Array,
    weights: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
    out: Array,
) -> None:
    """out[t - first, j] = sum of the weights of token t's attributes with label j; -inf in the padding.

    Four rows are added in one sweep, so that the sums are loaded and stored a quarter as often.
    """
    width = rows.shape[1]
    valued = len(row_value) > 0 or len(pair_value) > 0
    for t in range(first, last):
        s = out[t - first]
        for j in range(labels):
            s[j] = 0.0
        for j in range(labels, width):
            s[j] = -np.inf
        k, end = dense[t], dense[t + 1]
        if valued:
            for k in range(dense[t], end):
                w, v = rows[row[k]], row_value[k]
                for j in range(width):
                    s[j] += v * w[j]
            for k in range(sparse[t], sparse[t + 1]):
                s[label[k]] += pair_value[k] * weights[pair[k]]
            continue
        while k + 4 <= end:
            w0, w1, w2, w3 = rows[row[k]], rows[row[k + 1]], rows[row[k + 2]], rows[row[k + 3]]
            for j in range(width):
                s[j] += (w0[j] + w1[j]) + (w2[j] + w3[j])
            k += 4
        while k < end:
            w0 = rows[row[k]]
            for j in range(width):
                s[j] += w0[j]
            k += 1
        for k in range(sparse[t], sparse[t + 1]):
            s[label[k]] += weights[pair[k]]


@kernel
def score_packed(
    indptr: Array,
    ids: Array,
    values: Array,
    code: Array,
    pair_label: Array,
    rows: Array,
    weights: Array,
    out: Array,
) -> None:
    """out[t, j] = sum of the weights of token t's attributes with label j, straight from packed attributes; 0 in the
    padding of out: F64[tokens, width].

    `code: I64[attributes]` is a row, or -1 - (4096 * first single weight + their number). All codes are looked up
    first: those loads do not wait for one another, as they would between branches that depend on them.
    """
    width = out.shape[1]
    valued = len(values) > 0
    found = np.empty(len(ids), np.int64)
    for k in range(len(ids)):
        found[k] = code[ids[k]] if ids[k] >= 0 else -1
    most = 0
    for t in range(len(out)):
        most = max(most, indptr[t + 1] - indptr[t])
    at = np.empty(most + 1, np.int64)
    for t in range(len(out)):
        s = out[t]
        for j in range(width):
            s[j] = 0.0
        dense = 0
        for k in range(indptr[t], indptr[t + 1]):
            at[dense] = k
            dense += found[k] >= 0
        k = 0
        while k + 4 <= dense and not valued:
            w0, w1, w2, w3 = rows[found[at[k]]], rows[found[at[k + 1]]], rows[found[at[k + 2]]], rows[found[at[k + 3]]]
            for j in range(width):
                s[j] += (w0[j] + w1[j]) + (w2[j] + w3[j])
            k += 4
        while k < dense:
            w0 = rows[found[at[k]]]
            v = values[at[k]] if valued else 1.0
            for j in range(width):
                s[j] += v * w0[j]
            k += 1
    for t in range(len(out)):
        for k in range(indptr[t], indptr[t + 1]):
            if found[k] < 0:
                single = -1 - found[k]
                for p in range(single // 4096, single // 4096 + single % 4096):
                    out[t, pair_label[p]] += weights[p] * (values[k] if valued else 1.0)


@kernel
def add_gradient(
    first: int,
    last: int,
    delta: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
    row_gradient: Array,
    gradient: Array,
) -> None:
    """The transpose of add_scores: delta[t - first, j] goes to every weight that was added to that score."""
    width = delta.shape[1]
    valued = len(row_value) > 0 or len(pair_value) > 0
    for t in range(first, last):
        d = delta[t - first]
        for k in range(dense[t], dense[t + 1]):
            g = row_gradient[row[k]]
            if valued:
                v = row_value[k]
                for j in range(width):
                    g[j] += v * d[j]
            else:
                for j in range(width):
                    g[j] += d[j]
        for k in range(sparse[t], sparse[t + 1]):
            gradient[pair[k]] += d[label[k]] * (pair_value[k] if valued else 1.0)


@kernel
def take(values: Array, index: Array, out: Array) -> None:
    """out[k] = values[index[k]]."""
    for k in range(len(index)):
        out[k] = values[index[k]]


@kernel
def put(values: Array, index: Array, out: Array) -> None:
    """out[index[k]] = values[k]."""
    for k in range(len(index)):
        out[index[k]] = values[k]


@kernel
def move(values: Array, index: Array, out: Array, to: Array) -> None:
    """out[to[k]] = values[index[k]]."""
    for k in range(len(index)):
        out[to[k]] = values[index[k]]


@kernel
def add_at(values: Array, index: Array, out: Array) -> None:
    """out[index[k]] += values[k]."""
    for k in range(len(index)):
        out[index[k]] += values[k]
