"""Single paths over the allowed labels of each token: the best one, and given ones. Packed as in `restricted`."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part

Array = Any


@kernel
def restricted_best_paths(
    scores: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    transitions: Array,
    offsets: Array,
    paths: Array,
    totals: Array,
) -> None:
    """scores: F64[places], transitions: F64[labels, labels]. Written: paths I32[tokens], totals F64[sentences].

    As `best.best_paths`, also in which of equal paths wins.
    """
    down = transitions.T.copy()
    delta = np.empty(len(scores))
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        totals[s] = 0.0
        if a == b:
            continue
        for k in range(places[a], places[a + 1]):
            delta[k] = scores[k]
        for t in range(a + 1, b):
            p, q, r = places[t - 1], places[t], places[t + 1]
            _step(delta[p:q], labels, start[which[t - 1]], transitions, down, start[which[t]], delta[q:r])
            for k in range(q, r):
                delta[k] += scores[k]
        p, q = places[b - 1], places[b]
        at = 0
        for k in range(1, q - p):
            if delta[p + k] > delta[p + at]:
                at = k
        totals[s] = delta[p + at]
        paths[b - 1] = labels[start[which[b - 1]] + at]
        for t in range(b - 1, a, -1):
            row = down[paths[t]]
            p, q, u = places[t - 1], places[t], start[which[t - 1]]
            before, high = labels[u], delta[p] + row[labels[u]]
            for k in range(1, q - p):
                value = delta[p + k] + row[labels[u + k]]
                if value > high:
                    before, high = labels[u + k], value
            paths[t - 1] = before


@part
def _step(x: Array, labels: Array, u: int, m: Array, mt: Array, v: int, y: Array) -> None:
    """y[j] = max_i (x[i] + m[label of i, label of j]), laid out as in `restricted`."""
    if len(y) == len(m):
        y[:] = -np.inf
        for i in range(len(x)):
            value, row = x[i], m[labels[u + i]]
            for j in range(len(y)):
                y[j] = max(y[j], value + row[j])
    else:
        for j in range(len(y)):
            row = mt[labels[v + j]]
            high = -np.inf
            for i in range(len(x)):
                high = max(high, x[i] + row[labels[u + i]])
            y[j] = high


@kernel
def restricted_path_scores(
    scores: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    transitions: Array,
    offsets: Array,
    paths: Array,
    totals: Array,
) -> None:
    """totals[s] = S(y) for the path I32[tokens]; -inf where it takes a label that is not allowed."""
    for s in range(len(offsets) - 1):
        total = 0.0
        for t in range(offsets[s], offsets[s + 1]):
            at = _place(places, which, start, labels, t, paths[t])
            total += scores[at] if at >= 0 else -np.inf
            if t > offsets[s]:
                total += transitions[paths[t - 1], paths[t]]
        totals[s] = total


@kernel
def subtract_restricted_path(
    nodes: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    arcs: Array,
    offsets: Array,
    paths: Array,
    weights: Array,
) -> None:
    """nodes F64[places] and arcs F64[labels, labels] -= weights[s] on the path, whose labels are all allowed."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            nodes[_place(places, which, start, labels, t, paths[t])] -= weights[s]
            if t > offsets[s]:
                arcs[paths[t - 1], paths[t]] -= weights[s]


@kernel
def places_on_path(places: Array, which: Array, start: Array, labels: Array, paths: Array, out: Array) -> None:
    """out: I64[tokens], the place of each label on the path, -1 when it is not allowed there."""
    for t in range(len(paths)):
        out[t] = _place(places, which, start, labels, t, paths[t])


@part
def _place(places: Array, which: Array, start: Array, labels: Array, t: int, label: int) -> Any:
    """The place of a label at token t, -1 when it is not allowed there."""
    p, u = places[t], start[which[t]]
    if places[t + 1] - p == start[1]:
        return p + label
    for k in range(places[t + 1] - p):
        if labels[u + k] == label:
            return p + k
    return -1
