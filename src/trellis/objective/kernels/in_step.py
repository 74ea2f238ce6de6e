"""The gradient of the log loss for up to four sentences of about the same length, which go in step.

Forward-backward as in `lattice.kernels.scaled`. Probabilities are rescaled but never redone in the log domain: a
sentence whose scores spread too far for that is left out, and counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.lattice.kernels.scaled import enter, forward_in_step, log_product, spread_of
from trellis.lattice.kernels.vector import add_product, exp_into, four_products
from trellis.objective.kernels.places import score_token

Array = Any

_MOST_SPREAD, _BUFFER, _STRIDE = 600.0, 512, 520  # see `scaled`


class InStep(NamedTuple):
    """Memory for four sentences, and what came of them: of the w-th, which begins at token start[w], the slopes
    P - 1(y) of token t are `nodes[first[w] + t]`, F64[width], for t < length[w] (0 if it is left out); those of
    transitions, added up, are `arcs: F64[labels, labels]`."""

    nodes: Array
    arcs: Array
    start: Array
    length: Array
    first: Array
    psi: Array
    alpha: Array
    scale: Array
    step: Array
    matrix: Array
    across: Array
    down: Array
    products: Array
    before: Array
    after: Array
    log_z: Array


@part
def room_in_step(tokens: Array, theta: Array) -> Array:
    longest, labels = 0, len(theta.transitions)
    width = (labels + 3) // 4 * 4
    for s in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[s + 1] - tokens.offsets[s])
    size = (4 * longest, width)
    square, wide = (width, width), (width, _STRIDE)
    return InStep(
        np.empty(size), np.zeros((labels, labels)), np.empty(4, np.int64), np.empty(4, np.int64),
        np.empty(4, np.int64), np.ones(size), np.ones(size), np.ones(4 * longest), np.empty((4, width)),
        np.zeros((labels, labels)), np.zeros(square), np.zeros(square), np.zeros(square),
        np.empty(wide), np.empty(wide), np.empty(4),
    )  # fmt: skip


@part
def slopes_in_step(tokens: Array, four: Array, theta: Array, factor: float, room: Array) -> Array:
    """For the sentences `four: I64[4]` (-1: none) with the weights factor * theta. Returns their log loss, how many of
    them there are, and how many of those were left out."""
    labels, psi, nodes, matrix = len(theta.transitions), room.psi, room.nodes, room.matrix
    start, length, first, log_z = room.start, room.length, room.first, room.log_z
    for i in range(labels):
        for j in range(labels):
            matrix[i, j] = factor * theta.transitions[i, j]
    top, bottom, _ = spread_of(matrix)
    for i in range(labels):
        exp_into(matrix[i], top, room.across[i, :labels])
    for i in range(labels):
        for j in range(labels):
            room.down[j, i] = room.across[i, j]
    longest, used, value, count, missing = 0, 0, 0.0, 0, 0
    for w in range(4):
        s = four[w]
        start[w], length[w], first[w] = 0, 0, used
        if s < 0:
            continue
        count += 1
        start[w], length[w] = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s]
        for t in range(length[w]):
            score_token(tokens, start[w] + t, theta, nodes[used + t])
            if factor != 1.0:
                for j in range(labels):
                    nodes[used + t, j] *= factor
        too_far = enter(nodes, used, used + length[w], _MOST_SPREAD - (top - bottom), psi, w, log_z, w)
        for t in range(length[w]):
            y = tokens.gold[start[w] + t]
            log_z[w] -= nodes[used + t, y]
            if t > 0:
                log_z[w] += top - matrix[tokens.gold[start[w] + t - 1], y]
        used += length[w]
        if too_far:
            missing += 1
            length[w] = 0
            continue
        longest = max(longest, length[w])
    for w in range(4):
        for t in range(length[w], longest):
            for j in range(psi.shape[1]):
                psi[4 * t + w, j] = 1.0
    forward_in_step(psi, room.down, longest, room.step, room.alpha, room.scale)
    _backward(longest, room)
    for w in range(4):
        if length[w] > 0:
            value += log_z[w] - log_product(room.scale, w, 4, length[w])
    _sum_arcs(room)
    for i in range(labels):
        for j in range(labels):
            room.arcs[i, j] = room.across[i, j] * room.products[i, j]
    for w in range(4):
        for t in range(length[w]):
            k = start[w] + t
            nodes[first[w] + t, tokens.gold[k]] -= 1.0
            if t > 0:
                room.arcs[tokens.gold[k - 1], tokens.gold[k]] -= 1.0
    return value, count, missing


@part
def _backward(longest: int, room: Array) -> None:
    """Node marginals of the w-th sentence from row first[w] on, and q_t in the place of psi_t."""
    psi, alpha, scale, step = room.psi, room.alpha, room.scale, room.step
    width = psi.shape[1]
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            four_products(psi, 4 * t + 4, 4 * t + 5, 4 * t + 6, 4 * t + 7, room.across, step)
        for w in range(4):
            if t >= room.length[w] - 1:
                for j in range(width):
                    step[w, j] = 1.0
            r = 4 * t + w
            c = scale[r]
            for j in range(width):
                psi[r, j] = psi[r, j] * c * step[w, j]
            if t < room.length[w]:
                out = room.nodes[room.first[w] + t]
                for j in range(width):
                    out[j] = alpha[r, j] * step[w, j]


@part
def _sum_arcs(room: Array) -> None:
    """products[i, j] = sum_t alpha_(t-1)[i] q_t[j] over all four sentences."""
    products, before, after = room.products, room.before, room.after
    for i in range(len(products)):
        for j in range(len(products)):
            products[i, j] = 0.0
    waiting = 0
    for w in range(4):
        for r in range(4 + w, 4 * room.length[w], 4):
            if waiting == _BUFFER:
                add_product(before, after, waiting, products)
                waiting = 0
            for j in range(len(products)):
                before[j, waiting] = room.alpha[r - 4, j]
                after[j, waiting] = room.psi[r, j]
            waiting += 1
    add_product(before, after, waiting, products)
