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
    """Numbers distinct keys in order of first appearance: `I32[n]` and the distinct keys `I64[distinct]`."""
    n = len(keys)
    bits = 10
    slots = np.full(1 << bits, -1, np.int32)
    ids = np.empty(n, np.int32)
    distinct_keys = np.empty(1 << bits, np.int64)
    distinct = 0
    for t in range(n):
        key = keys[t]
        slot = _spread(key, 64 - bits)
        while slots[slot] >= 0 and distinct_keys[slots[slot]] != key:
            slot = (slot + 1) & ((1 << bits) - 1)
        if slots[slot] < 0:
            slots[slot] = distinct
            distinct_keys[distinct] = key
            distinct += 1
        ids[t] = slots[slot]
        if 2 * distinct > 1 << bits:
            bits += 2
            slots = np.full(1 << bits, -1, np.int32)
            longer = np.empty(1 << bits, np.int64)
            longer[:distinct] = distinct_keys[:distinct]
            distinct_keys = longer
            for i in range(distinct):
                slot = _spread(distinct_keys[i], 64 - bits)
                while slots[slot] >= 0:
                    slot = (slot + 1) & ((1 << bits) - 1)
                slots[slot] = i
    return ids, distinct_keys[:distinct].copy()


@kernel
def rank_ids(ids: Array, rank: Array, base: int, out: Array, k: int) -> None:
    """out[t, k] = base + rank[ids[t]]."""
    for t in range(len(ids)):
        out[t, k] = base + rank[ids[t]]


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
def find_keys(keys: Array, slots: Array, bits: int, wanted: Array, base: int, out: Array, k: int) -> None:
    """out[t, k] = base + position of wanted[t] among the keys, -1 when it is not there."""
    for t in range(len(wanted)):
        key = wanted[t]
        out[t, k] = -1
        if key < 0:
            continue
        slot = _spread(key, 64 - bits)
        while slots[slot] >= 0:
            i = slots[slot]
            if keys[i] == key:
                out[t, k] = base + i
                break
            slot = (slot + 1) & ((1 << bits) - 1)
