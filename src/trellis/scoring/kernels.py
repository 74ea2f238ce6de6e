"""Compiled loops of the scoring room. `width` is the number of labels rounded up to whole vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lanes import LANES, load, load_doubles, multiply_add, prefetch, store

Array = Any

_AHEAD = 64  # tokens whose attributes are looked up before they are used
# So many occurrences before they are used, rows and single weights are fetched into the nearest cache: most are no
# nearer than the cache that all processors share, and a branch that goes another way than expected (the end of a token,
# most often) stops the processor from asking for the next ones by itself.
_ROWS_AHEAD, _SINGLES_AHEAD = 48, 64


@kernel
def mark_pairs(indptr: Array, ids: Array, gold: Array, seen: Array) -> None:
    """A bit for each (attribute, label) seen at one token into seen: U64[attributes, words of 64 labels]."""
    for t in range(len(gold)):
        word, bit = gold[t] // 64, np.uint64(1) << np.uint64(gold[t] % 64)
        for k in range(indptr[t], indptr[t + 1]):
            seen[ids[k], word] |= bit


@kernel
def list_pairs(seen: Array, labels: int) -> Array:
    """Bits -> where each attribute's labels begin, I64[attributes + 1], and the labels, U16[pairs]."""
    start = np.zeros(len(seen) + 1, np.int64)
    for a in range(len(seen)):
        count = 0
        for word in seen[a]:
            while word:
                word &= word - np.uint64(1)
                count += 1
        start[a + 1] = start[a] + count
    label = np.empty(start[-1], np.uint16)
    for a in range(len(seen)):
        k = start[a]
        for j in range(labels):
            if seen[a, j // 64] >> np.uint64(j % 64) & np.uint64(1):
                label[k] = j
                k += 1
    return start, label


@kernel
def note_appearances(ids: Array, number: Array, old: Array, new: Array, distinct: int) -> int:
    """new[k] = number[ids[k]], which is the next one from `distinct` on where it is -1; then old[it] = ids[k]. Returns
    the next number."""
    for k in range(len(ids)):
        a = ids[k]
        if number[a] < 0:
            number[a] = distinct
            old[distinct] = a
            distinct += 1
        new[k] = number[a]
    return distinct


@kernel
def count_occurrences(indptr: Array, ids: Array, row_of: Array, pair_start: Array) -> Array:
    """Per token how many attributes have a row, and how many weights the others have, as running sums."""
    tokens = len(indptr) - 1
    dense, sparse = np.zeros(tokens + 1, np.int32), np.zeros(tokens + 1, np.int32)
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
    run: int,
    width: int,
    row: Array,
    row_value: Array,
    pair: Array,
    cell: Array,
    pair_value: Array,
) -> None:
    """Sorts each token's attributes into those with a row and the single weights of the others; see
    `occurrences.Occurrences`."""
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
                    cell[s] = t % run * width + np.int64(pair_label[p])
                    if valued:
                        pair_value[s] = values[k]
                    s += 1


@kernel
def add_scores(
    first: int,
    last: int,
    labels: int,
    run: int,
    rows: Array,
    weights: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    runs: Array,
    pair: Array,
    cell: Array,
    pair_value: Array,
    out: Array,
) -> None:
    """out[t - first, j] = sum of the weights of token t's attributes with label j; -inf in the padding."""
    width = rows.shape[1]
    valued = len(row_value) > 0 or len(pair_value) > 0
    begin = np.zeros((1, width), out.dtype)
    begin[0, labels:] = -np.inf
    singles, flat = weights.reshape(1, -1), out.reshape(-1)
    for c in range(first // run, (last + run - 1) // run):
        a, b = max(first, c * run), min(last, (c + 1) * run)
        for t in range(a, b):
            sum_rows(rows, row, row_value, dense[t], dense[t + 1], begin, 0, out, t - first)
        base = (c * run - first) * width
        k, end = singles_between(runs, cell, c, (a - c * run) * width, (b - c * run) * width)
        for n in range(k, end):
            fetch_single(singles, pair, n)
            flat[base + np.int64(cell[n])] += weights[pair[n]] * (pair_value[n] if valued else 1.0)


@part
def singles_between(runs: Array, cell: Array, c: int, low: int, high: int) -> Array:
    """The first single weight of run c with a cell from `low` on, and the one behind the last below `high`."""
    first, end = runs[c], runs[c + 1]
    while first < end and cell[first] < low:
        first += 1
    while end > first and cell[end - 1] >= high:
        end -= 1
    return first, end


@part
def fetch_row(rows: Array, row: Array, k: int, j: int) -> None:
    """Three registers of the row that will soon be used, from column j on."""
    r = row[min(k + _ROWS_AHEAD, len(row) - 1)]
    prefetch(rows, r, j)
    prefetch(rows, r, j + LANES)
    prefetch(rows, r, j + 2 * LANES)


@part
def fetch_single(singles: Array, pair: Array, k: int) -> None:
    """The single weight that will soon be used; singles: F64[1, weights]."""
    prefetch(singles, 0, pair[min(k + _SINGLES_AHEAD, len(pair) - 1)])


@part
def sum_rows(
    rows: Array, row: Array, value: Array, begin: int, end: int, start: Array, s: int, out: Array, t: int
) -> None:
    """out[t] = start[s] + sum over begin <= k < end of value[k] rows[row[k]], value 1 if there are none. The sums of up
    to three registers' width stay in registers."""
    width, j = rows.shape[1], 0
    valued = len(value) > 0
    while j < width:
        if width - j >= 3 * LANES:
            a, b, c = load(start, s, j), load(start, s, j + LANES), load(start, s, j + 2 * LANES)
            for k in range(begin, end):
                r = row[k]
                fetch_row(rows, row, k, j)
                v = value[k] if valued else 1.0
                a = multiply_add(v, load(rows, r, j), a)
                b = multiply_add(v, load(rows, r, j + LANES), b)
                c = multiply_add(v, load(rows, r, j + 2 * LANES), c)
            store(out, t, j, a)
            store(out, t, j + LANES, b)
            store(out, t, j + 2 * LANES, c)
            j += 3 * LANES
        else:
            a = load(start, s, j)
            for k in range(begin, end):
                a = multiply_add(value[k] if valued else 1.0, load(rows, row[k], j), a)
            store(out, t, j, a)
            j += LANES


@part
def singles_of(code: int) -> Array:
    """The first of the single weights that an attribute has, the one behind its last, and the label of the first. The
    code is -1 - (label * 2^44 + first * 2^12 + count): 16, 32 and 12 bits; -1 is an attribute without weights."""
    bits = -1 - code
    first = (bits >> 12) & 0xFFFFFFFF
    return first, first + (bits & 0xFFF), bits >> 44


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

    `code: I64[attributes]` is a row, or says where single weights are (`singles_of`). Some tokens' codes and first
    single weights are looked up before they are used: those loads do not wait for one another, as they would between
    branches that depend on them.
    """
    valued, tokens = len(values) > 0, len(out)
    most = 0
    for t in range(tokens):
        most = max(most, indptr[t + 1] - indptr[t])
    row, single = np.empty(_AHEAD * most + 1, np.int64), np.empty(_AHEAD * most + 1, np.int64)
    first_weight = np.empty(len(single))  # of each attribute with single weights; most have no more
    value, single_value = np.empty(len(row) if valued else 0), np.empty(len(row) if valued else 0)
    rows_at, singles_at = np.zeros(_AHEAD + 1, np.int64), np.zeros(_AHEAD + 1, np.int64)
    zeros = np.zeros((1, out.shape[1]))
    for first in range(0, tokens, _AHEAD):
        count, dense, sparse = min(_AHEAD, tokens - first), 0, 0
        for n in range(count):
            for k in range(indptr[first + n], indptr[first + n + 1]):
                found = code[ids[k]] if ids[k] >= 0 else -1
                row[dense], single[sparse] = found, found
                if valued:
                    value[dense], single_value[sparse] = values[k], values[k]
                dense += found >= 0
                sparse += found < -1
            rows_at[n + 1], singles_at[n + 1] = dense, sparse
        for k in range(sparse):
            first_weight[k] = weights[singles_of(single[k])[0]]
        for n in range(count):
            t = first + n
            sum_rows(rows, row, value, rows_at[n], rows_at[n + 1], zeros, 0, out, t)
            for k in range(singles_at[n], singles_at[n + 1]):
                begin, end, label = singles_of(single[k])
                v = single_value[k] if valued else 1.0
                out[t, label] += first_weight[k] * v
                for p in range(begin + 1, end):
                    out[t, pair_label[p]] += weights[p] * v


@kernel
def add_gradient(
    first: int,
    last: int,
    run: int,
    delta: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    runs: Array,
    pair: Array,
    cell: Array,
    pair_value: Array,
    row_gradient: Array,
    gradient: Array,
) -> None:
    """The transpose of add_scores: delta[t - first, j] goes to every weight that was added to that score."""
    valued = len(row_value) > 0 or len(pair_value) > 0
    singles, flat, width = gradient.reshape(1, -1), delta.reshape(-1), delta.shape[1]
    for c in range(first // run, (last + run - 1) // run):
        a, b = max(first, c * run), min(last, (c + 1) * run)
        for t in range(a, b):
            _add_to_rows(delta, t - first, row, row_value, dense[t], dense[t + 1], row_gradient)
        base = (c * run - first) * width
        k, end = singles_between(runs, cell, c, (a - c * run) * width, (b - c * run) * width)
        for n in range(k, end):
            fetch_single(singles, pair, n)
            gradient[pair[n]] += flat[base + np.int64(cell[n])] * (pair_value[n] if valued else 1.0)


@part
def _add_to_rows(delta: Array, t: int, row: Array, value: Array, begin: int, end: int, rows: Array) -> None:
    """rows[row[k]] += value[k] delta[t] for begin <= k < end: the transpose of `sum_rows`."""
    width, j = rows.shape[1], 0
    valued = len(value) > 0
    while j < width:
        if width - j >= 3 * LANES:
            a, b, c = (
                load_doubles(delta, t, j),
                load_doubles(delta, t, j + LANES),
                load_doubles(delta, t, j + 2 * LANES),
            )
            for k in range(begin, end):
                r = row[k]
                fetch_row(rows, row, k, j)
                v = value[k] if valued else 1.0
                a_sum = multiply_add(v, a, load(rows, r, j))
                b_sum = multiply_add(v, b, load(rows, r, j + LANES))
                c_sum = multiply_add(v, c, load(rows, r, j + 2 * LANES))
                store(rows, r, j, a_sum)
                store(rows, r, j + LANES, b_sum)
                store(rows, r, j + 2 * LANES, c_sum)
            j += 3 * LANES
        else:
            a = load_doubles(delta, t, j)
            for k in range(begin, end):
                store(rows, row[k], j, multiply_add(value[k] if valued else 1.0, a, load(rows, row[k], j)))
            j += LANES


@kernel
def take(values: Array, index: Array, out: Array) -> None:
    """out[k] = values[index[k]]."""
    for k in range(len(index)):
        out[k] = values[index[k]]


@kernel
def spread_rows(weights: Array, first: Array, size: Array, label: Array, rows: Array) -> None:
    """The size[r] weights from first[r] on into rows[r], where `label` says, which has the labels of all rows one after
    the other; 0 elsewhere."""
    n = 0
    for r in range(len(first)):
        for j in range(rows.shape[1]):
            rows[r, j] = 0.0
        for k in range(size[r]):
            rows[r, label[n + k]] = weights[first[r] + k]
        n += size[r]


@kernel
def gather_rows(rows: Array, first: Array, size: Array, label: Array, out: Array) -> None:
    """The way back."""
    n = 0
    for r in range(len(first)):
        for k in range(size[r]):
            out[first[r] + k] = rows[r, label[n + k]]
        n += size[r]


@kernel
def put(values: Array, index: Array, out: Array) -> None:
    """out[index[k]] = values[k]."""
    for k in range(len(index)):
        out[index[k]] = values[k]


@kernel
def add_at(values: Array, index: Array, out: Array) -> None:
    """out[index[k]] += values[k]."""
    for k in range(len(index)):
        out[index[k]] += values[k]
