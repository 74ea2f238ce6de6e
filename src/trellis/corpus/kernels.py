"""Compiled loops of the corpus room."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

Array = Any

_MULTIPLIER = 11400714819323198485  # 2^64 over the golden ratio


@kernel
def cut_tokens(buffer: Array, blank: Array, first: int, last: int, comments: bool, width: int, most: int) -> Array:
    """Finds the fields of `buffer[first:last]`, whole lines; `blank: BOOL[256]` marks the bytes between fields.

    `width` columns, or if it is negative as many as the first token has. Returns where fields are, `start, end:
    I64[tokens, width]`; each token's line, from 0 on, `I64[tokens]`; the first token of each sentence,
    `I64[sentences]`; the number of lines; and whether all is well. Where not (a NUL, a line of more than `most` bytes,
    a token with another number of columns), nothing else is of use.

    The loop over bytes writes at every byte what might begin or end there, and goes on to the next place if it does:
    branches would be as hard to foretell as the lengths of words.
    """
    lines = 1
    for i in range(first, last):
        lines += buffer[i] == 10
    room = (last - first) // 2 + 2
    start, end = np.empty(room, np.int64), np.empty(room, np.int64)
    line_end, fields = np.empty(lines + 1, np.int64), np.empty(lines + 1, np.int64)  # fields up to the end of each line
    begun, ended, n = 0, 0, 0
    ink, commented, fresh, well = False, False, True, True
    for i in range(first, last):
        c = buffer[i]
        newline = c == 10
        commented = (commented and not newline) or (comments and fresh and c == 35)
        here = not blank[c] and not commented
        start[begun], end[ended] = i, i
        begun += here and not ink
        ended += ink and not here
        line_end[n], fields[n] = i, ended
        n += newline
        well = well and c != 0
        ink, fresh = here, newline
    if not fresh:  # the last line has no end
        end[ended] = last
        line_end[n], fields[n] = last, begun
        n += 1
    numbers, sentence = np.empty(n, np.int64), np.empty(n, np.int64)
    tokens, sentences, before, at, apart = 0, 0, 0, first, True
    for k in range(n):
        count = fields[k] - before
        well = well and line_end[k] - at <= most
        if count > 0:
            width = count if width < 0 else width
            well = well and count == width
            numbers[tokens], sentence[sentences] = k, tokens
            tokens += 1
            sentences += apart
            apart = False
        elif not (comments and at < last and buffer[at] == 35):
            apart = True
        before, at = fields[k], line_end[k] + 1
    shape = (tokens if well else 0, max(width, 0))
    size = shape[0] * shape[1]
    return start[:size].reshape(shape), end[:size].reshape(shape), numbers[:tokens], sentence[:sentences], n, well


@part
def _eight(words: Array, at: int, count: int) -> Any:
    """The bytes from `at` on, one to eight of them, as one number; `words`: all bytes, eight a number."""
    shift = np.uint64(8 * (at & 7))
    low = words[at >> 3] >> shift
    high = words[(at >> 3) + 1] << (np.uint64(63) - shift) << np.uint64(1)
    return (low | high) << np.uint64(8 * (8 - min(count, 8)))


@part
def _same(words: Array, a: int, b: int, length: int) -> Any:
    """Whether so many bytes are the same from a and from b on."""
    k = 0
    while k < length and _eight(words, a + k, length - k) == _eight(words, b + k, length - k):
        k += 8
    return k >= length


@part
def _intern_some(
    words: Array, start: Array, end: Array, column: int, bits: int,
    hashes: Array, found: Array, ids: Array, first: Array, t: int, distinct: int,
) -> Any:  # fmt: skip
    """Numbers fields from t on until the table is half full: how far it came, and how many distinct ones there are."""
    while t < len(start) and 2 * distinct < 1 << bits:
        a, length = start[t, column], end[t, column] - start[t, column]
        h, k = np.uint64(length), 0
        while k < length:
            h = (h ^ (h >> np.uint64(32)) ^ _eight(words, a + k, length - k)) * np.uint64(_MULTIPLIER)
            k += 8
        slot = np.int64(h >> np.uint64(64 - bits))
        while found[slot] >= 0:
            number = found[slot] & 0xFFFFFFFF
            if (
                hashes[slot] == h
                and found[slot] >> 32 == length
                and _same(words, a, start[first[number], column], length)
            ):
                break
            slot = (slot + 1) & ((1 << bits) - 1)
        if found[slot] < 0:
            hashes[slot], found[slot], first[distinct] = h, length << 32 | distinct, t
            distinct += 1
        ids[t] = found[slot] & 0xFFFFFFFF
        t += 1
    return t, distinct


@kernel
def intern_fields(words: Array, start: Array, end: Array, column: int) -> Array:
    """Numbers the distinct fields of one column of `start, end: I64[fields, columns]` in order of first appearance:
    `I32[fields]`, and where each was first seen, I64[distinct]. `words: U64[...]` are the bytes (see `intern.Bytes`).

    Open addressing over hashes of eight bytes at a time; a slot has the hash, and length and number in one.
    """
    bits, t, distinct = 11, 0, 0
    hashes, found = np.empty(1 << bits, np.uint64), np.full(1 << bits, -1, np.int64)
    ids, first = np.empty(len(start), np.int32), np.empty(1 << bits, np.int64)
    while True:
        t, distinct = _intern_some(words, start, end, column, bits, hashes, found, ids, first, t, distinct)
        if t == len(start):
            return ids, first[:distinct]
        old_hashes, old_found, old_first = hashes, found, first
        bits += 1
        hashes, found = np.empty(1 << bits, np.uint64), np.full(1 << bits, -1, np.int64)
        for i in range(len(old_found)):
            if old_found[i] >= 0:
                slot = np.int64(old_hashes[i] >> np.uint64(64 - bits))
                while found[slot] >= 0:
                    slot = (slot + 1) & ((1 << bits) - 1)
                hashes[slot], found[slot] = old_hashes[i], old_found[i]
        first = np.empty(1 << bits, np.int64)
        for i in range(distinct):
            first[i] = old_first[i]


@kernel
def append_fields(
    buffer: Array, first: int, last: int, lines: Array, ids: Array, values: Array, start: Array, separator: int,
    out: Array,
) -> int:  # fmt: skip
    """Writes the lines of `buffer[first:last]` without the blanks at their ends; token t's, which has the number
    `lines[t]` from 0 on, goes on with the separator and the bytes of value `ids[t]`, which begin at `start[ids[t]]`.
    Returns how many bytes were written."""
    at, a, n, t = 0, first, 0, 0
    while a < last:
        b = a
        while b < last and buffer[b] != 10:
            out[at + b - a] = buffer[b]
            b += 1
        end = b
        while end > a and (buffer[end - 1] == 32 or 9 <= buffer[end - 1] <= 13):
            end -= 1
        at += end - a
        if t < len(lines) and lines[t] == n:
            out[at] = separator
            at += 1
            for k in range(start[ids[t]], start[ids[t] + 1]):
                out[at] = values[k]
                at += 1
            t += 1
        out[at] = 10
        at += 1
        a, n = b + 1, n + 1
    return at
