"""Delta = F(y) - F(path) of one sentence as a list of places, each of which is there once.

An attribute that bears on several wrong labels of a sentence counts as often, and what both paths have cancels out: so
|Delta|^2 is not a sum over tokens, and Delta has to be gathered before it can be squared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.objective.kernels.places import place_of_arc

Array = Any

ROWS, SINGLES, TRANSITIONS, ARCS = 0, 1, 2, 3  # the kinds of numbers that a vector has
KINDS = 4


class Change(NamedTuple):
    """`amount[kind, n]` at `place[kind, n]` of the vector's flat numbers of that kind, for n < count[kind]. `at`, one
    array a kind, is 0 wherever nothing is being gathered."""

    place: Array  # I64[kinds, room]
    amount: Array  # F64[kinds, room]
    count: Array  # I64[kinds]
    at: Array  # I32[numbers] four times: 1 + where a place is in the list


@part
def room_for_change(tokens: Array, theta: Array) -> Array:
    most = 0
    for s in range(len(tokens.offsets) - 1):
        a, b = tokens.offsets[s], tokens.offsets[s + 1]
        most = max(most, tokens.dense[b] - tokens.dense[a], tokens.sparse[b] - tokens.sparse[a], b - a)
        most = max(most, tokens.arc[b] - tokens.arc[a])
    rows, transitions = theta.rows.size, theta.transitions.size
    at = (
        np.zeros(rows, np.int32),
        np.zeros(len(theta.singles), np.int32),
        np.zeros(transitions, np.int32),
        np.zeros(len(theta.arcs), np.int32),
    )
    shape = (KINDS, 2 * most)
    return Change(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(KINDS, np.int64), at)


@part
def note(change: Array, kind: int, place: int, amount: float) -> None:
    """Adds an amount at a place, which is new to the list or in it already."""
    at = change.at[kind]
    n = at[place]
    if n == 0:
        change.count[kind] += 1
        n = change.count[kind]
        at[place] = n
        change.place[kind, n - 1] = place
        change.amount[kind, n - 1] = 0.0
    change.amount[kind, n - 1] += amount


@part
def note_label(tokens: Array, t: int, j: int, sign: float, theta: Array, change: Array) -> None:
    """What bears on label j at token t."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    width = theta.rows.shape[1]
    for k in range(tokens.dense[t], tokens.dense[t + 1]):
        r = tokens.row[k]
        if tokens.mask[r, j]:
            note(change, ROWS, r * width + j, sign * (tokens.row_value[k] if valued else 1.0))
    for k in range(tokens.sparse[t], tokens.sparse[t + 1]):
        if tokens.label[k] == j:
            note(change, SINGLES, tokens.pair[k], sign * (tokens.pair_value[k] if valued else 1.0))


@part
def note_arc(tokens: Array, t: int, i: int, j: int, sign: float, theta: Array, change: Array) -> None:
    """What bears on the transition from label i to label j, into token t."""
    cell = i * len(theta.transitions) + j
    if theta.seen[i, j]:
        note(change, TRANSITIONS, cell, sign)
    for k in range(tokens.arc[t], tokens.arc[t + 1]):
        p = place_of_arc(tokens, tokens.arc_id[k], cell)
        if p >= 0:
            note(change, ARCS, p, sign * (tokens.arc_value[k] if len(tokens.arc_value) else 1.0))


@part
def gather(tokens: Array, s: int, path: Array, theta: Array, change: Array) -> None:
    """F(y) - F(path) of sentence s; theta is looked at for its shape alone."""
    first = tokens.offsets[s]
    for kind in range(KINDS):
        change.count[kind] = 0
    for t in range(tokens.offsets[s + 1] - first):
        g, b = tokens.gold[first + t], path[t]
        g0, b0 = (tokens.gold[first + t - 1], path[t - 1]) if t > 0 else (g, b)
        for side in range(2):  # written once, so that it is compiled once
            j, i, sign = (g, g0, 1.0) if side == 0 else (b, b0, -1.0)
            if g != b:
                note_label(tokens, first + t, j, sign, theta, change)
            if t > 0 and (g != b or g0 != b0):
                note_arc(tokens, first + t, i, j, sign, theta, change)
    for kind in range(KINDS):
        at = change.at[kind]
        for n in range(change.count[kind]):
            at[change.place[kind, n]] = 0


@part
def flat(vector: Array) -> Array:
    """A vector's numbers by kind, each without shape: the same memory."""
    return vector.rows.ravel(), vector.singles, vector.transitions.ravel(), vector.arcs


@part
def square(change: Array) -> float:
    """|Delta|^2."""
    total = 0.0
    for kind in range(KINDS):
        for n in range(change.count[kind]):
            total += change.amount[kind, n] ** 2
    return total


@part
def move_along(change: Array, amount: float, step: float, theta: Array, late: Array) -> None:
    """theta += amount Delta, and late += step times that (see `perceptron`)."""
    here, sums = flat(theta), flat(late)
    for kind in range(KINDS):
        weights, late_weights = here[kind], sums[kind]
        for n in range(change.count[kind]):
            p, by = change.place[kind, n], amount * change.amount[kind, n]
            weights[p] += by
            late_weights[p] += step * by
