"""Compiled loops of the features room: numbering and finding 64-bit keys by open addressing."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

Array = Any

_BLOCK = 128  # tokens whose attributes are found at a time


@part
def _spread(key: int, shift: int) -> Any:
    """Fibonacci hashing: the high bits of key * 2^64 / golden ratio."""
    return np.int64((np.uint64(key) * np.uint64(11400714819323198485)) >> np.uint64(shift))


@part
def _number_some(keys: Array, bits: int, slots: Array, ids: Array, known: Array, counts: Array, t: int, n: int) -> Any:
    """Numbers keys from t on until the table is half full: how far it came, and how many distinct ones there are."""
    while t < len(keys) and 2 * n < 1 << bits:
        key = keys[t]
        ids[t] = -1
        if key >= 0:
            slot = _spread(key, 64 - bits)
            while slots[slot] >= 0 and known[slots[slot]] != key:
                slot = (slot + 1) & ((1 << bits) - 1)
            if slots[slot] < 0:
                slots[slot], known[n], counts[n] = n, key, 0
                n += 1
            ids[t] = slots[slot]
            counts[slots[slot]] += 1
        t += 1
    return t, n


@kernel
def number_keys(keys: Array) -> Array:
    """Numbers distinct keys in order of first appearance, -1 for negative ones: `I32[n]`, the distinct keys
    `I64[distinct]` and how often each occurs, `I64[distinct]`."""
    bits, t, distinct = 10, 0, 0
    slots, ids = np.full(1 << bits, -1, np.int32), np.empty(len(keys), np.int32)
    known, counts = np.empty(1 << bits, np.int64), np.empty(1 << bits, np.int64)
    while True:
        t, distinct = _number_some(keys, bits, slots, ids, known, counts, t, distinct)
        if t == len(keys):
            return ids, known[:distinct], counts[:distinct]
        bits += 2
        slots, old_known, old_counts = np.full(1 << bits, -1, np.int32), known, counts
        known, counts = np.empty(1 << bits, np.int64), np.empty(1 << bits, np.int64)
        for i in range(distinct):
            known[i], counts[i] = old_known[i], old_counts[i]
            slot = _spread(known[i], 64 - bits)
            while slots[slot] >= 0:
                slot = (slot + 1) & ((1 << bits) - 1)
            slots[slot] = i


@kernel
def rank_ids(ids: Array, rank: Array, out: Array) -> None:
    """out[t] = rank[ids[t]]; -1 stays -1."""
    for t in range(len(ids)):
        out[t] = rank[ids[t]] if ids[t] >= 0 else -1


@kernel
def fill_table(values: Array, base: int, region: int, bits: int, hashed: Array) -> None:
    """Writes a table of 2^bits slots from `region` on: keys, and their numbers from `base` on."""
    for i in range(len(values)):
        slot = _spread(values[i], 64 - bits)
        while hashed[region + slot, 0] >= 0:
            slot = (slot + 1) & ((1 << bits) - 1)
        hashed[region + slot, 0], hashed[region + slot, 1] = values[i], base + i


@part
def _look_up(hashed: Array, placed: Array, region: int, bits: int, wanted: Array, count: int, found: Array) -> None:
    """found[n] = the number of the key wanted[n] in a table of `lookup.Lookup`, -1 if it is not there or negative.

    What the first slots hold is read before it is looked at: these reads do not wait for one another, as they would
    behind branches that depend on them.
    """
    if bits == 0:
        for n in range(count):
            number = placed[region + max(wanted[n], 0)]
            found[n] = number if wanted[n] >= 0 else -1
        return
    there = np.empty(count, np.int64)
    for n in range(count):
        slot = region + _spread(wanted[n], 64 - bits)
        there[n], found[n] = hashed[slot, 0], hashed[slot, 1]
    for n in range(count):
        if there[n] != wanted[n]:
            found[n] = -1
            if there[n] >= 0 and wanted[n] >= 0:
                slot = _spread(wanted[n], 64 - bits)
                while hashed[region + slot, 0] >= 0:
                    if hashed[region + slot, 0] == wanted[n]:
                        found[n] = hashed[region + slot, 1]
                        break
                    slot = (slot + 1) & ((1 << bits) - 1)


@kernel
def find_keys(hashed: Array, placed: Array, region: int, bits: int, wanted: Array, out: Array) -> None:
    """out[n] = the number of the key wanted[n], -1 when it is not there."""
    _look_up(hashed, placed, region, bits, wanted, len(wanted), out)


@part
def _type_at(types: Array, source: int, first: int, length: int, here: int, known: int, reach: int) -> Any:
    """The type at position `here` of a sentence; positions outside have types of their own."""
    if here < 0:
        return known - 1 - here
    if here >= length:
        return known + reach + here - length
    return np.int64(types[source, first + here])


@kernel
def find_attributes(
    offsets: Array, types: Array, known: Array, reach: int, places: Array, operands: Array, table: Array,
    parts: Array, templates: Array, hashed: Array, placed: Array, indptr: Array, out: Array,
) -> None:  # fmt: skip
    """out[indptr[t] + k] = the number of template k's attribute at token t; see `quick.Quick`.

    Some tokens at a time, so that what is found on the way stays in the fastest cache.
    """
    first, length = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    at, value = np.empty((len(places), _BLOCK), np.int64), np.empty((len(operands), _BLOCK), np.int32)
    key, found = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int32)
    s, tokens = 0, offsets[len(offsets) - 1]
    for begin in range(0, tokens, _BLOCK):
        count = min(_BLOCK, tokens - begin)
        for n in range(count):
            while offsets[s + 1] <= begin + n:
                s += 1
            first[n], length[n] = offsets[s], offsets[s + 1] - offsets[s]
        for p in range(len(places)):
            source, row = places[p, 0], places[p, 1]
            absolute = places[p, 2] != 0 and row != 0
            for n in range(count):
                here = begin + n - first[n] + row
                if absolute:
                    here = length[n] + row if row < 0 else row - 1
                at[p, n] = _type_at(types, source, first[n], length[n], here, known[source], reach)
        for o in range(len(operands)):
            p, start = operands[o, 0], operands[o, 1]
            for n in range(count):
                value[o, n] = table[start + at[p, n]]
        for k in range(len(templates)):
            a, b = templates[k, 0], templates[k, 1]
            if b == a + 1:
                o = parts[a, 0]
                for n in range(count):
                    out[indptr[begin + n] + k] = value[o, n]
                continue
            for n in range(count):
                key[n] = 0
            for j in range(a, b):
                o, radix = parts[j, 0], parts[j, 1]
                for n in range(count):
                    key[n] = key[n] * radix + value[o, n] if key[n] >= 0 and value[o, n] >= 0 else -1
            _look_up(hashed, placed, templates[k, 2], templates[k, 3], key, count, found)
            for n in range(count):
                out[indptr[begin + n] + k] = found[n]


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
