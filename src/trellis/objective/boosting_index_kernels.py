"""Occurrences by attribute: where a weight bears on the sentences, and how much of it there may be in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel

Array = Any


@kernel
def list_by_unit(unit: Array, units: int) -> Array:
    """Where each unit's occurrences begin, I64[units + 1], and which they are, in their order, I64[occurrences]."""
    start = np.zeros(units + 1, np.int64)
    for u in unit:
        start[u + 1] += 1
    for u in range(units):
        start[u + 1] += start[u]
    free, place = start[:-1].copy(), np.empty(len(unit), np.int64)
    for n in range(len(unit)):
        place[free[unit[n]]] = n
        free[unit[n]] += 1
    return start, place


@kernel
def amounts(start: Array, sentence: Array, value: Array) -> Array:
    """The sum of |x| over all occurrences of the same unit in the same sentence, for each occurrence. They are listed
    by unit; those of a sentence are next to one another."""
    out = np.empty(len(sentence))
    for u in range(len(start) - 1):
        n = start[u]
        while n < start[u + 1]:
            end, total = n, 0.0
            while end < start[u + 1] and sentence[end] == sentence[n]:
                total += abs(value[end]) if len(value) else 1.0
                end += 1
            out[n:end] = total
            n = end
    return out


@kernel
def intervals(
    start: Array, sentence: Array, gold: Array, value: Array, count: Array, label: Array, labels: int
) -> Array:
    """The most and the least (as a positive number) that F_k(y') - F_k(y) can be in any sentence, F64[pairs] both; at
    least the largest |x|. Unit u has the next count[u] weights, of the labels `label` there."""
    most, least, first = np.zeros(len(label)), np.zeros(len(label)), 0
    risen, fallen = np.zeros(labels), np.zeros(labels)
    for u in range(len(start) - 1):
        last, n, largest = first + count[u], start[u], 0.0
        while n < start[u + 1]:
            end, plus, minus = n, 0.0, 0.0
            risen[:], fallen[:] = 0.0, 0.0
            while end < start[u + 1] and sentence[end] == sentence[n]:
                x = value[end] if len(value) else 1.0
                largest = max(largest, abs(x))
                plus, minus = plus + max(x, 0.0), minus + max(-x, 0.0)
                risen[gold[end]] += max(x, 0.0)
                fallen[gold[end]] += max(-x, 0.0)
                end += 1
            for k in range(first, last):
                r, f = risen[label[k]], fallen[label[k]]
                most[k] = max(most[k], plus - r + f)
                least[k] = max(least[k], r + minus - f)
            n = end
        for k in range(first, last):
            most[k], least[k] = max(most[k], largest), max(least[k], largest)
        first = last
    return most, least
