"""The gradient of the log loss for up to four sentences of about the same length, which go in step.

Forward-backward as in `lattice.kernels.scaled`. Probabilities are rescaled but never redone in the log domain: a
sentence whose scores spread too far for that is left out, and counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.lanes import LANES, exp, load, store
from trellis.lattice.kernels.in_step import (
    add_arcs,
    enter_group,
    fill_rows,
    forward_group,
    leave,
    line_up,
    log_scales,
    room_for_groups,
    step_back,
)
from trellis.lattice.kernels.products import in_panels
from trellis.objective.kernels.places import score_token
from trellis.rows import PAD

Array = Any

_MOST_SPREAD = 600.0  # see `scaled`


class InStep(NamedTuple):
    """Memory for four sentences, and what came of them: of the w-th, which begins at token start[w], the slopes
    P - 1(y) of token t are `nodes[first[w] + t]`, F64[width], for t < length[w] (0 if it is left out); those of
    transitions, added up, are `arcs: F64[labels, labels]`."""

    nodes: Array
    arcs: Array
    start: Array
    length: Array
    first: Array
    gold: Array  # F64[4]: the score of the labels there are
    group: Array
    own: Array  # I64[4]: which of the four each sentence of the group is
    factors: Array  # E, F64[width, width], and the same turned round; both in panels
    turned: Array
    across: Array
    down: Array
    sums: Array


@part
def room_in_step(tokens: Array, theta: Array) -> Array:
    longest, labels = 0, len(theta.transitions)
    width = (labels + PAD - 1) // PAD * PAD
    for s in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[s + 1] - tokens.offsets[s])
    square, panels = (width, width), (width * width // LANES, LANES)
    return InStep(
        np.zeros((4 * longest, width)), np.zeros((labels, labels)), np.zeros(4, np.int64), np.zeros(4, np.int64),
        np.zeros(4, np.int64), np.zeros(4), room_for_groups(4, longest, 4 * longest, width), np.zeros(4, np.int64),
        np.zeros(square), np.zeros(square), np.zeros(panels), np.zeros(panels), np.zeros(square),
    )  # fmt: skip


@part
def slopes_in_step(tokens: Array, four: Array, theta: Array, factor: float, room: Array) -> Array:
    """For the sentences `four: I64[4]` (-1: none) with the weights factor * theta. Returns their log loss, how many of
    them there are, and how many of those were left out."""
    labels, nodes, group = len(theta.transitions), room.nodes, room.group
    start, length, first = room.start, room.length, room.first
    top, bottom = _matrices(theta.transitions, factor, room)
    used, value, count, missing = 0, 0.0, 0, 0
    for w in range(4):
        s = four[w]
        start[w], length[w], first[w] = 0, 0, used
        if s < 0:
            continue
        start[w], length[w] = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s]
        for t in range(length[w]):
            score_token(tokens, start[w] + t, theta, nodes, used + t)
            if factor != 1.0:
                for j in range(labels):
                    nodes[used + t, j] *= factor
        room.gold[w] = _gold_score(tokens, theta, factor, room, w)
        used += length[w]
        n = count  # its place in the group, which begins with the longest
        while n > 0 and group.length[n - 1] < length[w]:
            group.start[n], group.length[n] = group.start[n - 1], group.length[n - 1]
            room.own[n] = room.own[n - 1]
            n -= 1
        group.start[n], group.length[n], room.own[n] = first[w], length[w], w
        count += 1
    positions = line_up(group, count)
    enter_group(group, positions, nodes, _MOST_SPREAD - (top - bottom))
    forward_group(group, positions, room.across)
    for t in range(positions - 1, -1, -1):
        step_back(group, t, room.down)
        leave(group, t, nodes)
    for n in range(count):
        w = room.own[n]
        if group.far[n]:
            missing += 1
            fill_rows(group, n, group.alpha, 0.0)
            fill_rows(group, n, group.psi, 0.0)
            length[w] = 0
        else:
            value += group.peaks[n] + top * max(length[w] - 1, 0) - log_scales(group, n) - room.gold[w]
    for i in range(len(room.sums)):
        for j in range(len(room.sums)):
            room.sums[i, j] = 0.0
    add_arcs(group, positions, room.sums)
    for i in range(labels):
        for j in range(labels):
            room.arcs[i, j] = room.factors[i, j] * room.sums[i, j]
    for w in range(4):
        for t in range(length[w]):
            k = start[w] + t
            nodes[first[w] + t, tokens.gold[k]] -= 1.0
            if t > 0:
                room.arcs[tokens.gold[k - 1], tokens.gold[k]] -= 1.0
    return value, count, missing


@part
def _gold_score(tokens: Array, theta: Array, factor: float, room: Array, w: int) -> float:
    score, k, n = 0.0, room.start[w], room.first[w]
    for t in range(room.length[w]):
        score += room.nodes[n + t, tokens.gold[k + t]]
    for t in range(1, room.length[w]):
        score += factor * theta.transitions[tokens.gold[k + t - 1], tokens.gold[k + t]]
    return score


@part
def _matrices(transitions: Array, factor: float, room: Array) -> Array:
    """E for the transitions times the factor, in all its forms; their largest and smallest."""
    labels, factors = len(transitions), room.factors
    top, bottom = -np.inf, np.inf
    for i in range(labels):
        for j in range(labels):
            v = factor * transitions[i, j]
            factors[i, j] = v
            top, bottom = max(top, v), min(bottom, v)
    for i in range(labels):
        for j in range(0, len(factors), LANES):
            store(factors, i, j, exp(load(factors, i, j) - top))
        for j in range(labels, len(factors)):
            factors[i, j] = 0.0
    for i in range(len(factors)):
        for j in range(len(factors)):
            room.turned[j, i] = factors[i, j]
    in_panels(factors, room.across)
    in_panels(room.turned, room.down)
    return top, bottom
