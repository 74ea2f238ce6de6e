"""A shard's tokens and weights as compiled passes read and change them.

The weights of a shard lie as its scoring has them: rows of those attributes that are seen with many labels, single
weights of the others, a matrix of transitions, and the weights of attributes on arcs. Any vector that is as long as
theta (sums for averages, variances, gradients) is laid out in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.scoring.kernels import sum_rows

Array = Any


class Tokens(NamedTuple):
    """What does not change. Token t has rows `row[dense[t]:dense[t + 1]]`, single weights `pair[sparse[t]:sparse[t +
    1]]` with their labels, and arc attributes `arc_id[arc[t]:arc[t + 1]]`, none at first tokens; arc attribute a has
    weights `arc_start[a]:arc_start[a + 1]` for the label pairs `arc_pair` there. Values are empty when all are 1."""

    offsets: Array  # I64[sentences + 1]
    gold: Array  # I32[tokens]
    dense: Array
    row: Array
    row_value: Array
    sparse: Array
    pair: Array
    label: Array
    pair_value: Array
    mask: Array  # U8[rows, width]: where a row has a weight; elsewhere it stays 0
    bits: Array  # U8[rows, width / 8]: the same, a bit each
    nothing: Array  # F64[1, width]: the scores of a token without attributes, -inf in the padding
    forbidden: Array  # BOOL[tokens, labels], or BOOL[0, labels] where no label is
    arc: Array
    arc_id: Array
    arc_value: Array
    arc_start: Array
    arc_pair: Array


class Vector(NamedTuple):
    """Numbers, one for each weight of a shard. A transition without a weight is 0 in the matrix `transitions:
    F64[labels, labels]`, and `seen: BOOL[labels, labels]` says which have one."""

    rows: Array  # F64[rows, width]
    singles: Array  # F64[local]: the numbers of rows are not read here
    transitions: Array
    arcs: Array  # F64[arc weights]
    seen: Array


@part
def score_token(tokens: Array, t: int, theta: Array, out: Array, r: int) -> None:
    """out[r, j]: the score of label j at token t, out: F64[rows, width]; -inf where it is forbidden, and in the
    padding."""
    labels, valued = len(theta.transitions), len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    sum_rows(
        theta.rows, tokens.row, tokens.row_value, tokens.dense[t], tokens.dense[t + 1], tokens.nothing, 0, out, r
    )  # fmt: skip
    for k in range(tokens.sparse[t], tokens.sparse[t + 1]):
        out[r, tokens.label[k]] += theta.singles[tokens.pair[k]] * (tokens.pair_value[k] if valued else 1.0)
    if len(tokens.forbidden):
        for j in range(labels):
            out[r, j] = -np.inf if tokens.forbidden[t, j] else out[r, j]


@part
def add_to_label(tokens: Array, t: int, j: int, amount: float, vector: Array) -> None:
    """vector += amount F, where F counts what bears on label j at token t."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    for k in range(tokens.dense[t], tokens.dense[t + 1]):
        r = tokens.row[k]
        vector.rows[r, j] += amount * tokens.mask[r, j] * (tokens.row_value[k] if valued else 1.0)
    for k in range(tokens.sparse[t], tokens.sparse[t + 1]):
        if tokens.label[k] == j:
            vector.singles[tokens.pair[k]] += amount * (tokens.pair_value[k] if valued else 1.0)


@part
def add_to_arc(tokens: Array, t: int, i: int, j: int, amount: float, vector: Array) -> None:
    """vector += amount F, where F counts what bears on the transition from label i to label j, into token t."""
    vector.transitions[i, j] += amount if vector.seen[i, j] else 0.0
    cell = i * len(vector.transitions) + j
    for k in range(tokens.arc[t], tokens.arc[t + 1]):
        p = place_of_arc(tokens, tokens.arc_id[k], cell)
        if p >= 0:
            vector.arcs[p] += amount * (tokens.arc_value[k] if len(tokens.arc_value) else 1.0)


@part
def place_of_arc(tokens: Array, attribute: int, cell: int) -> int:
    """Which weight an arc attribute has for a pair of labels; -1 for none. (Pairs ascend.)"""
    low, high = tokens.arc_start[attribute], tokens.arc_start[attribute + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if tokens.arc_pair[middle] < cell:
            low = middle + 1
        else:
            high = middle
    return low if low < end and tokens.arc_pair[low] == cell else -1


@part
def patch(tokens: Array, t: int, theta: Array, block: Array) -> None:
    """Adds to the transitions F64[width, width] into token t what its arc attributes do."""
    labels = len(theta.transitions)
    for k in range(tokens.arc[t], tokens.arc[t + 1]):
        a, v = tokens.arc_id[k], tokens.arc_value[k] if len(tokens.arc_value) else 1.0
        for p in range(tokens.arc_start[a], tokens.arc_start[a + 1]):
            block[tokens.arc_pair[p] // labels, tokens.arc_pair[p] % labels] += v * theta.arcs[p]


@part
def unpatch(tokens: Array, t: int, theta: Array, block: Array) -> None:
    """Puts the transitions back that `patch` has changed."""
    labels = len(theta.transitions)
    for k in range(tokens.arc[t], tokens.arc[t + 1]):
        a = tokens.arc_id[k]
        for p in range(tokens.arc_start[a], tokens.arc_start[a + 1]):
            i, j = tokens.arc_pair[p] // labels, tokens.arc_pair[p] % labels
            block[i, j] = theta.transitions[i, j]
