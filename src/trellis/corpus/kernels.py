"""Compiled loops of the corpus room."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel

Array = Any


@kernel
def intern_fields(buffer: Array, start: Array, end: Array) -> Array:
    """Open addressing over FNV-1a hashes; a hash that agrees is confirmed byte by byte."""
    n = len(start)
    size = 1024
    slots = np.full(size, -1, np.int32)
    hashes = np.empty(size, np.uint64)
    ids = np.empty(n, np.int32)
    first = np.empty(size, np.int64)
    distinct = 0
    for t in range(n):
        a, length = start[t], end[t] - start[t]
        h = np.uint64(14695981039346656037)
        for k in range(length):
            h = (h ^ np.uint64(buffer[a + k])) * np.uint64(1099511628211)
        slot = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(size - 1))
        while True:
            number = slots[slot]
            if number < 0:
                break
            if hashes[slot] == h:
                b = start[first[number]]
                same = end[first[number]] - b == length
                k = 0
                while same and k < length:
                    same = buffer[a + k] == buffer[b + k]
                    k += 1
                if same:
                    break
            slot = (slot + 1) & (size - 1)
        if number < 0:
            number = np.int32(distinct)
            slots[slot] = number
            hashes[slot] = h
            first[distinct] = t
            distinct += 1
        ids[t] = number
        if 2 * distinct > size:  # grow: reinsert by the stored hashes
            old_slots, old_hashes = slots, hashes
            size *= 4
            slots = np.full(size, -1, np.int32)
            hashes = np.empty(size, np.uint64)
            for i in range(len(old_slots)):
                if old_slots[i] >= 0:
                    g = old_hashes[i]
                    slot = np.int64((g ^ (g >> np.uint64(32))) & np.uint64(size - 1))
                    while slots[slot] >= 0:
                        slot = (slot + 1) & (size - 1)
                    slots[slot] = old_slots[i]
                    hashes[slot] = g
            longer = np.empty(size, np.int64)
            longer[:distinct] = first[:distinct]
            first = longer
    return ids, first[:distinct].copy()
