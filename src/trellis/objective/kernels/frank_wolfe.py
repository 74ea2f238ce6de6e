"""Block-coordinate Frank-Wolfe for the hinge loss (Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013).

    minimise  sum over i of max over y of [cost(y) - theta' psi_i(y)] + l2/2 |theta|^2,    psi_i(y) = F(y_i) - F(y)

In the dual every sentence has a distribution over its paths, which matters only by expectations: of labels at tokens
and of pairs of labels, both kept as the gold path's counts minus theirs, so that they are 0 at the start, and of the
cost, l_i. With Psi_i = E[psi_i],

    theta = 1/l2 sum of Psi_i,    dual = sum of l_i - l2/2 |theta|^2

A step goes from sentence i's distribution towards the path y* that is best with costs, by the part gamma of the way
that makes the dual largest; d = psi_i(y*) - Psi_i = E[F] - F(y*):

    gap_i = cost(y*) - l_i - theta' d >= 0,    gamma = min(1, l2 gap_i / |d|^2)

(Keeping up to 16 paths a sentence, with the shares that make the dual largest, needs half as many epochs for the same
dual; but each takes more than twice as long, and the objective falls more slowly.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, part
from trellis.objective.kernels.paths import best_path, room_for_search

Array = Any


class Direction(NamedTuple):
    """d of one sentence: each of its rows and single weights once. `at_row` and `at_single` are 0 wherever nothing is
    being gathered, and 1 + where a row or weight is in the lists while it is."""

    nodes: Array  # F64[longest, width]: expected labels, minus those of the best path
    arcs: Array  # F64[labels, labels]: the same for pairs of labels
    row: Array  # I64[most]
    amount: Array  # F64[most, width]
    single: Array  # I64[most]
    single_amount: Array  # F64[most]
    count: Array  # I64[2]: of rows, of single weights
    at_row: Array  # I32[rows]
    at_single: Array  # I32[singles]


@part
def room_for_direction(tokens: Array, theta: Array) -> Array:
    most, longest = 0, 0
    labels, width = len(theta.transitions), theta.rows.shape[1]
    for s in range(len(tokens.offsets) - 1):
        a, b = tokens.offsets[s], tokens.offsets[s + 1]
        most = max(most, tokens.dense[b] - tokens.dense[a], tokens.sparse[b] - tokens.sparse[a])
        longest = max(longest, b - a)
    return Direction(
        np.zeros((longest, width)), np.zeros((labels, labels)), np.zeros(most, np.int64), np.zeros((most, width)),
        np.zeros(most, np.int64), np.zeros(most), np.zeros(2, np.int64),
        np.zeros(len(theta.rows), np.int32), np.zeros(len(theta.singles), np.int32),
    )  # fmt: skip


@part
def subtract_path(tokens: Array, s: int, path: Array, nodes: Array, arcs: Array, theta: Array, d: Array) -> None:
    """d.nodes and d.arcs: what is expected, minus a path."""
    first, labels = tokens.offsets[s], len(theta.transitions)
    for i in range(labels):
        for j in range(labels):
            d.arcs[i, j] = -arcs[i * labels + j]
    for t in range(tokens.offsets[s + 1] - first):
        g = tokens.gold[first + t]
        for j in range(labels):
            d.nodes[t, j] = -nodes[first + t, j]
        d.nodes[t, g] += 1.0
        d.nodes[t, path[t]] -= 1.0
        if t > 0:
            d.arcs[tokens.gold[first + t - 1], g] += 1.0
            d.arcs[path[t - 1], path[t]] -= 1.0
    for i in range(labels):
        for j in range(labels):
            d.arcs[i, j] = d.arcs[i, j] if theta.seen[i, j] else 0.0


@part
def gather_direction(tokens: Array, s: int, labels: int, d: Array) -> None:
    """What the shares at each token make of each row and single weight."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    width, rows, singles = d.amount.shape[1], 0, 0
    for t in range(tokens.offsets[s + 1] - tokens.offsets[s]):
        token, nodes = tokens.offsets[s] + t, d.nodes[t]
        moves = False
        for j in range(labels):
            moves = moves or nodes[j] != 0.0
        if not moves:
            continue
        for k in range(tokens.dense[token], tokens.dense[token + 1]):
            r, v = tokens.row[k], tokens.row_value[k] if valued else 1.0
            n = d.at_row[r] - 1
            if n < 0:
                n = rows
                rows += 1
                d.at_row[r], d.row[n] = rows, r
                for j in range(width):
                    d.amount[n, j] = 0.0
            amount = d.amount[n]
            for j in range(width):
                amount[j] += v * nodes[j]
        for k in range(tokens.sparse[token], tokens.sparse[token + 1]):
            p, v = tokens.pair[k], tokens.pair_value[k] if valued else 1.0
            n = d.at_single[p] - 1
            if n < 0:
                n = singles
                singles += 1
                d.at_single[p], d.single[n], d.single_amount[n] = singles, p, 0.0
            d.single_amount[n] += v * nodes[tokens.label[k]]
    for n in range(rows):
        mask, amount = tokens.mask[d.row[n]], d.amount[n]
        d.at_row[d.row[n]] = 0
        for j in range(width):
            amount[j] *= mask[j]
    for n in range(singles):
        d.at_single[d.single[n]] = 0
    d.count[0], d.count[1] = rows, singles


@part
def measure(theta: Array, d: Array) -> Array:
    """theta' d, and |d|^2."""
    along, norm, width, labels = 0.0, 0.0, d.amount.shape[1], len(theta.transitions)
    for n in range(d.count[0]):
        weights, amount = theta.rows[d.row[n]], d.amount[n]
        for j in range(width):
            along += weights[j] * amount[j]
            norm += amount[j] * amount[j]
    for n in range(d.count[1]):
        along += theta.singles[d.single[n]] * d.single_amount[n]
        norm += d.single_amount[n] ** 2
    for i in range(labels):
        for j in range(labels):
            along += theta.transitions[i, j] * d.arcs[i, j]
            norm += d.arcs[i, j] ** 2
    return along, norm


@part
def add_direction(d: Array, amount: float, vector: Array) -> None:
    """vector += amount d."""
    width, labels = d.amount.shape[1], len(vector.transitions)
    for n in range(d.count[0]):
        weights, own = vector.rows[d.row[n]], d.amount[n]
        for j in range(width):
            weights[j] += amount * own[j]
    for n in range(d.count[1]):
        vector.singles[d.single[n]] += amount * d.single_amount[n]
    for i in range(labels):
        for j in range(labels):
            vector.transitions[i, j] += amount * d.arcs[i, j]


@part
def mix(tokens: Array, s: int, path: Array, way: float, nodes: Array, arcs: Array, labels: int) -> None:
    """What is expected after a part of the way to the path."""
    first, kept = tokens.offsets[s], 1.0 - way
    for c in range(labels * labels):
        arcs[c] *= kept
    for t in range(tokens.offsets[s + 1] - first):
        g = tokens.gold[first + t]
        for j in range(labels):
            nodes[first + t, j] *= kept
        nodes[first + t, g] += way
        nodes[first + t, path[t]] -= way
        if t > 0:
            arcs[tokens.gold[first + t - 1] * labels + g] += way
            arcs[path[t - 1] * labels + path[t]] -= way


@part
def cost_of(tokens: Array, s: int, path: Array, costs: Array) -> float:
    total, first = 0.0, tokens.offsets[s]
    for t in range(tokens.offsets[s + 1] - first):
        g = tokens.gold[first + t]
        total += costs[g] if path[t] != g else 0.0
    return total


@kernel
def frank_wolfe_pass(
    tokens: Array, order: Array, costs: Array, theta: Array, late: Array, nodes: Array, arcs: Array, expected: Array,
    l2: float, step: int,
) -> Array:  # fmt: skip
    """`nodes: F64[tokens, labels]` and `arcs: F64[sentences, labels^2]`, the gold path's counts minus those expected;
    `expected: F64[sentences, 1]`, the costs l_i; `late` adds up each change times c (c - 1) / 2 for the step c >= 1 it
    was made at. Returns the sum of gaps, each before its step, and how many of them were above 0."""
    search, d = room_for_search(tokens, theta), room_for_direction(tokens, theta)
    labels = len(theta.transitions)
    for j in range(labels):
        search.share[j] = costs[j]
    gaps, moved = 0.0, 0
    for n in range(len(order)):
        s = order[n]
        best_path(tokens, s, theta, 1.0, search)
        cost = cost_of(tokens, s, search.path, costs)
        subtract_path(tokens, s, search.path, nodes, arcs[s], theta, d)
        gather_direction(tokens, s, labels, d)
        along, norm = measure(theta, d)
        gap = cost - expected[s, 0] - along
        if gap > 0.0:
            gaps, moved = gaps + gap, moved + 1
            way = min(1.0, l2 * gap / norm) if norm > 0.0 else 1.0
            mix(tokens, s, search.path, way, nodes, arcs[s], labels)
            expected[s, 0] += way * (cost - expected[s, 0])
            c = float(step + n + 1)
            both = (theta, late)
            for v in range(2):
                add_direction(d, way / l2 if v == 0 else way / l2 * (0.5 * c * (c - 1.0)), both[v])
    return gaps, moved
