"""An epoch of the perceptron in the dual.

A mistake at a token is an *event*: the token, and the wrong label that it was given. The score of label j at token t is

    f_t(j) = sum over events e of ([gold_e = j] - [wrong_e = j]) K(x_t, x_e)

Every token keeps its scores, so that a visit only has to add the events since the last one. These are of this epoch or
the one before, counted through both. Inner products come from lists: `lists[k, start[a]:start[a] + filled[k, a]]`
are the events of the epoch before (k = 0) or of this one (k = 1) whose token has attribute a, ascending. A token is
visited once an epoch, so a list is never longer than the attribute is frequent. What is kept leaves out the kernel of
vectors that share nothing, which is the same for all: it comes in by `balance: F64[labels]`, the sum of all events'
factors with their signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.best import best_step

Array = Any


@kernel
def epoch(
    data: tuple[Array, Array, Array, Array, Array],
    start: Array,
    factors: Array,
    polynomial: tuple[int, float, float],
    order: Array,
    known: Array,
    events: tuple[Array, Array, Array, Array],
    count: int,
    lists: tuple[Array, Array, Array],
    visit: int,
    kept: Array,
    balance: Array,
    block: Array,
    sums: Array,
) -> tuple[int, float, int]:
    """Visits the sentences in this order, the first with the number `visit`; returns the number of events, the sum of
    S(best) - S(gold), and the sentence whose scores are not finite (-1: none).

    data: indptr, ids and values of the attributes (no values: all are 1), gold labels, offsets; polynomial: degree,
    offset, scale; known: I64[sentences], how many events each sentence has in its scores; events: tokens, gold labels,
    wrong labels and visits, of which the first `count` are of the epoch before; lists: these, the values beside them
    (if there are values), and how far they are filled. Written: events and lists, kept: F64[tokens, labels], balance,
    block: F64[width, width], the transitions with -inf in its padding, and the sums of its changes times their visits,
    which averages are made from.
    """
    indptr, ids, values, gold, offsets = data
    labels, longest, valued = len(balance), 0, len(values) > 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    width = len(block)
    scores, delta = np.zeros((longest, width)), np.full((longest, width), -np.inf)
    path = np.zeros(longest, np.int32)
    most = len(events[0])
    room = (np.zeros(most), np.zeros(most, np.uint8), np.zeros(most + 1, np.uint32))
    nothing, loss = power(polynomial[1], polynomial[0]), 0.0
    for s in order:
        first, last = offsets[s], offsets[s + 1]
        for t in range(first, last):
            noted = 0
            for p in range(indptr[t], indptr[t + 1]):
                a, value = ids[p], values[p] if valued else 1.0
                for k in range(2):
                    end = start[a] + lists[2][k, a]
                    begin = _first_from(lists[0][k], start[a], end, known[s])
                    noted = meet(lists[0][k], lists[1][k], begin, end, value, room, noted)
            _add_events(events, room, noted, polynomial, nothing, factors, kept[t])
            for j in range(labels):
                scores[t - first, j] = factors[t] * (kept[t, j] + nothing * balance[j])
        if last > first:
            gap = _best(scores, block, delta, labels, gold[first:last], path)
            if not gap < np.inf:  # nor for NaN
                return count, loss, s
            loss += gap
        for t in range(first, last):
            wrong = path[t - first]
            if wrong != gold[t]:
                events[0][count], events[1][count], events[2][count] = t, gold[t], wrong
                events[3][count] = visit
                _file(count, t, indptr, ids, values, start, lists[0][1], lists[1][1], lists[2][1])
                balance[gold[t]] += factors[t]
                balance[wrong] -= factors[t]
                count += 1
            if t > first:
                _change(block, sums, gold[t - 1], gold[t], 1.0, visit)
                _change(block, sums, path[t - first - 1], wrong, -1.0, visit)
        visit += 1
    return count, loss, -1


@kernel
def file_events(
    tokens: Array, indptr: Array, ids: Array, values: Array, start: Array, lists: Array, beside: Array, filled: Array
) -> None:
    """Fills the lists with the events of these tokens, in order."""
    for e in range(len(tokens)):
        _file(e, tokens[e], indptr, ids, values, start, lists, beside, filled)


@part
def _first_from(ascending: Array, begin: int, end: int, least: int) -> int:
    """The first place from `begin` to `end` that has `least` or more."""
    while begin < end:
        middle = (begin + end) // 2
        if ascending[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def meet(
    lists: Array, beside: Array, begin: int, end: int, value: float, room: tuple[Array, Array, Array], count: int
) -> int:
    """Adds what an attribute with this value has in common with those on its list, places `begin` to `end`; those that
    are met for the first time are noted behind the first `count`. Returns how many there are then.

    Without values beside the list every product is a sum of ones, so that 0 means not met. No branch that a processor
    could guess wrong: with one this takes three times as long."""
    products, met, noted = room
    if len(beside) > 0:
        for at in range(begin, end):
            e = lists[at]
            noted[count] = e
            count += 1 - int(met[e])
            met[e] = 1
            products[e] += value * beside[at]
    else:
        for at in range(begin, end):
            e = lists[at]
            noted[count] = e
            count += int(products[e] == 0.0)
            products[e] += value
    return count


@part
def _add_events(
    events: tuple[Array, ...],
    room: tuple[Array, Array, Array],
    count: int,
    polynomial: tuple[int, float, float],
    nothing: float,
    factors: Array,
    scores: Array,
) -> None:
    """Adds the kernels of the events that were met to the scores of a token; the room is empty again."""
    degree, offset, scale = polynomial
    tokens, gold, wrong = events[0], events[1], events[2]
    products, met, noted = room
    for k in range(count):
        e = noted[k]
        kernel_of = factors[tokens[e]] * (power(offset + scale * products[e], degree) - nothing)
        scores[gold[e]] += kernel_of
        scores[wrong[e]] -= kernel_of
        products[e] = 0.0
        met[e] = 0


@part
def _best(scores: Array, block: Array, delta: Array, labels: int, gold: Array, path: Array) -> float:
    """The best path as in `lattice.kernels.best`; returns how much more it scores than the gold one."""
    length = len(gold)
    for j in range(labels):
        delta[0, j] = scores[0, j]
    own = scores[0, gold[0]]
    for t in range(1, length):
        best_step(delta, t, block)
        for j in range(labels):
            delta[t, j] += scores[t, j]
    for t in range(1, length):
        own += block[gold[t - 1], gold[t]] + scores[t, gold[t]]
    label = 0
    for j in range(1, labels):
        if delta[length - 1, j] > delta[length - 1, label]:
            label = j
    gap: float = delta[length - 1, label] - own
    path[length - 1] = label
    for t in range(length - 1, 0, -1):
        before, high = 0, delta[t - 1, 0] + block[0, label]
        for i in range(1, labels):
            value = delta[t - 1, i] + block[i, label]
            if value > high:
                before, high = i, value
        label = before
        path[t - 1] = label
    return gap


@part
def _file(
    e: int, t: int, indptr: Array, ids: Array, values: Array, start: Array, lists: Array, beside: Array, filled: Array
) -> None:
    """Appends an event to the lists of its token's attributes."""
    for p in range(indptr[t], indptr[t + 1]):
        at = start[ids[p]] + filled[ids[p]]
        lists[at] = e
        if len(beside) > 0:
            beside[at] = values[p]
        filled[ids[p]] += 1


@part
def _change(block: Array, sums: Array, i: int, j: int, by: float, visit: int) -> None:
    block[i, j] += by
    sums[i, j] += by * visit


@part
def power(base: float, degree: int) -> float:
    """base^degree."""
    if degree == 2:
        return base * base
    out: float = base
    for _ in range(degree - 1):
        out *= base
    return out
