"""Compiled loops for scores of allowed labels only. Places, sets and labels as in `lattice.Allowed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_part
from trellis.scoring.kernels import singles_of

Array = Any


@kernel
def list_entries(
    indptr: Array,
    ids: Array,
    values: Array,
    pair_start: Array,
    pair_label: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
) -> Array:
    """The weights that each place's score adds up: where they begin, I64[places + 1], their numbers I32[entries], and
    values F64[entries] (none when all are 1). Tokens with one label have none, nor have those with all labels."""
    valued = len(values) > 0
    first = np.zeros(places[-1] + 1, np.int64)
    number = np.full(start[1], -1, np.int64)  # of a label in the token's set
    for t in range(len(which)):
        u, v = start[which[t]], start[which[t] + 1]
        if v - u == 1 or v - u == start[1]:
            continue
        for k in range(u, v):
            number[labels[k]] = k - u
        for k in range(indptr[t], indptr[t + 1]):
            for pair in range(pair_start[ids[k]], pair_start[ids[k] + 1]):
                i = number[pair_label[pair]]
                if i >= 0:
                    first[places[t] + i + 1] += 1
        for k in range(u, v):
            number[labels[k]] = -1
    for k in range(places[-1]):
        first[k + 1] += first[k]
    entry, entry_value = np.empty(first[-1], np.int32), np.empty(first[-1] if valued else 0)
    at = first[:-1].copy()
    for t in range(len(which)):
        u, v = start[which[t]], start[which[t] + 1]
        if v - u == 1 or v - u == start[1]:
            continue
        for k in range(u, v):
            number[labels[k]] = k - u
        for k in range(indptr[t], indptr[t + 1]):
            for pair in range(pair_start[ids[k]], pair_start[ids[k] + 1]):
                i = number[pair_label[pair]]
                if i >= 0:
                    place = places[t] + i
                    entry[at[place]] = pair
                    if valued:
                        entry_value[at[place]] = values[k]
                    at[place] += 1
        for k in range(u, v):
            number[labels[k]] = -1
    return first, entry, entry_value


@kernel
def entry_scores(begin: int, end: int, weights: Array, first: Array, entry: Array, value: Array, out: Array) -> None:
    """out[place - begin] = sum of the weights of the place's entries, for places begin..end."""
    _add_up(begin, end, weights, first, entry, value, out)


@ordered_part  # two sums, by hand: vector gathers take longer for so few
def _add_up(begin: int, end: int, weights: Array, first: Array, entry: Array, value: Array, out: Array) -> None:
    valued = len(value) > 0
    for place in range(begin, end):
        even, odd = 0.0, 0.0
        k, stop = first[place], first[place + 1]
        if valued:
            for n in range(k, stop):
                even += value[n] * weights[entry[n]]
        else:
            while k + 2 <= stop:
                even += weights[entry[k]]
                odd += weights[entry[k + 1]]
                k += 2
            if k < stop:
                even += weights[entry[k]]
        out[place - begin] = even + odd


@kernel
def entry_gradient(
    begin: int, end: int, delta: Array, first: Array, entry: Array, value: Array, gradient: Array
) -> None:
    """The transpose of entry_scores: delta[place - begin] goes to the weights of the place's entries."""
    valued = len(value) > 0
    for place in range(begin, end):
        d = delta[place - begin]
        if valued:
            for k in range(first[place], first[place + 1]):
                gradient[entry[k]] += value[k] * d
        else:
            for k in range(first[place], first[place + 1]):
                gradient[entry[k]] += d


@kernel
def rows_to_places(rows: Array, at: Array, size: int, out: Array) -> None:
    """out[at[k] + j] = rows[k, j] for j < size."""
    for k in range(len(at)):
        row, to = rows[k], out[at[k] : at[k] + size]
        for j in range(size):
            to[j] = row[j]


@kernel
def places_to_rows(values: Array, at: Array, size: int, rows: Array) -> None:
    """rows[k, j] = values[at[k] + j] for j < size, 0 in the padding."""
    for k in range(len(at)):
        row, given = rows[k], values[at[k] : at[k] + size]
        for j in range(size):
            row[j] = given[j]
        row[size:] = 0.0


@kernel
def score_packed_places(
    indptr: Array,
    ids: Array,
    values: Array,
    code: Array,
    pair_label: Array,
    rows: Array,
    weights: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    out: Array,
) -> None:
    """As `kernels.score_packed`, for the allowed labels only: out: F64[places]. 0 for tokens with one label."""
    valued = len(values) > 0
    size = start[1]
    number = np.full(size, -1, np.int64)  # of a label in the token's set
    for t in range(len(which)):
        n, u = places[t + 1] - places[t], start[which[t]]
        s = out[places[t] : places[t + 1]]
        s[:] = 0.0
        if n == 1:
            continue
        for i in range(n):
            number[labels[u + i]] = i
        for k in range(indptr[t], indptr[t + 1]):
            if ids[k] < 0:
                continue
            v = values[k] if valued else 1.0
            found = code[ids[k]]
            if found < 0:
                first, last, _ = singles_of(found)
                for pair in range(first, last):
                    i = number[pair_label[pair]]
                    if i >= 0:
                        s[i] += v * weights[pair]
                continue
            row = rows[found]
            if n == size:
                for j in range(n):
                    s[j] += v * row[j]
            else:
                for i in range(n):
                    s[i] += v * row[labels[u + i]]
        for i in range(n):
            number[labels[u + i]] = -1
