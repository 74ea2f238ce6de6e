"""Compiled loops of the features room: numbering and finding 64-bit keys by open addressing."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

Array = Any


@part
def _spread(key: int, shift: int) -> Any:
    """Fibonacci hashing: the high bits of key * 2^64 / golden ratio."""
    return np.int64((np.uint64(key) * np.uint64(11400714819323198485)) >> np.uint64(shift))


@kernel
def number_keys(keys: Array) -> Array:
    """Numbers distinct keys in order of first appearance, -1 for negative ones: `I32[n]`, the distinct keys
    `I64[distinct]` and how often each occurs, `I64[distinct]`."""
    n = len(keys)
    bits = 10
    slots = np.full(1 << bits, -1, np.int32)
    ids = np.empty(n, np.int32)
    distinct_keys = np.empty(1 << bits, np.int64)
    counts = np.zeros(1 << bits, np.int64)
    distinct = 0
    for t in range(n):
        key = keys[t]
        if key < 0:
            ids[t] = -1
            continue
        slot = _spread(key, 64 - bits)
        while slots[slot] >= 0 and distinct_keys[slots[slot]] != key:
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot] = distinct
            distinct_keys[distinct] = key
            distinct += 1
        ids[t] = slots[slot]
        counts[slots[slot]] += 1
        if 2 * distinct > 1 << bits:
            bits += 2
            slots = np.full(1 << bits, -1, np.int32)
            longer = np.empty(1 << bits, np.int64)
            longer[:distinct] = distinct_keys[:distinct]
            distinct_keys = longer
            more = np.zeros(1 << bits, np.int64)
            more[:distinct] = counts[:distinct]
            counts = more
            for i in range(distinct):
                slot = _spread(distinct_keys[i], 64 - bits)
                while slots[slot] >= 0:
                    slot = (slot + 1) & ((1 << bits) - 1)
                slots[slot] = i
    return ids, distinct_keys[:distinct].copy(), counts[:distinct].copy()


@kernel
def rank_ids(ids: Array, rank: Array, out: Array) -> None:
    """out[t] = rank[ids[t]]; -1 stays -1."""
    for t in range(len(ids)):
        out[t] = rank[ids[t]] if ids[t] >= 0 else -1


@kernel
def build_table(keys: Array, bits: int) -> Array:
    """A hash table of 2^bits slots over sorted keys; a slot holds the key's position or -1."""
    slots = np.full(1 << bits, -1, np.int32)
    for i in range(len(keys)):
        slot = _spread(keys[i], 64 - bits)
        while slots[slot] >= 0:
            slot = (slot + 1) & ((1 << bits) - 1)
        slots[slot] = i
    return slots


@kernel
def find_keys(keys: Array, slots: Array, bits: int, wanted: Array, base: int, out: Array) -> None:
    """out[t] = base + position of wanted[t] among the keys, -1 when it is not there."""
    for t in range(len(wanted)):
        key = wanted[t]
        out[t] = -1
        if key < 0:
            continue
        slot = _spread(key, 64 - bits)
        while slots[slot] >= 0:
            i = slots[slot]
            if keys[i] == key:
                out[t] = base + i
                break
            slot = (slot + 1) & ((1 << bits) - 1)


@kernel
def count_every(matrix: Array, drop: bool, counts: Array) -> None:
    """counts[t + 1] += occurrences at token t in matrix: I32[templates, tokens]."""
    for k in range(matrix.shape[0]):
        for t in range(matrix.shape[1]):
            counts[t + 1] += 1 if matrix[k, t] >= 0 or not drop else 0


@kernel
def place_every(matrix: Array, drop: bool, cursor: Array, out: Array) -> None:
    """Writes each occurrence where its token's cursor stands; `out` has room for one more."""
    templates, tokens = matrix.shape
    for t in range(tokens):
        at = cursor[t]
        for k in range(templates):
            out[at] = matrix[k, t]  # the next one overwrites it if it is dropped
            at += 1 if matrix[k, t] >= 0 or not drop else 0
        cursor[t] = at


@kernel
def count_some(ids: Array, token: Array, drop: bool, counts: Array) -> None:
    """The same for a list of occurrences, `ids[n]` at `token[n]`."""
    for n in range(len(ids)):
        counts[token[n] + 1] += 1 if ids[n] >= 0 or not drop else 0


@kernel
def place_some(ids: Array, token: Array, weight: Array, drop: bool, cursor: Array, out: Array, values: Array) -> None:
    """The same with values, which are written only when there is room for them."""
    valued = len(values) > 0
    for n in range(len(ids)):
        if ids[n] >= 0 or not drop:
            at = cursor[token[n]]
            out[at] = ids[n]
            if valued:
                values[at] = weight[n]
            cursor[token[n]] = at + 1


@kernel
def take_matches(start: Array, end: Array, kind: Array, taken: Array) -> None:
    """Marks, from left to right, the matches (sorted by kind, start and longest first) that begin inside none taken
    before of their kind."""
    before, free = -1, 0
    for k in range(len(start)):
        if kind[k] != before or start[k] >= free:
            taken[k] = True
            before, free = kind[k], end[k]
