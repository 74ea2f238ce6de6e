"""The distribution over the paths of one sentence that log-potentials give: marginals and entropy.

Forward-backward in the probability domain, rescaled at each position: see `lattice.kernels.scaled` for the formulas and
for when they are exact. Here all transitions are finite, and sentences come one at a time. A sentence whose potentials
spread too far is not done at all, and its caller is told.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.lattice.kernels.scaled import log_product, spread_of
from trellis.lattice.kernels.vector import exp_into
from trellis.rows import PAD

Array = Any

_MOST_SPREAD, _MOST_OF_TRANSITIONS = 600.0, 330.0  # see `scaled`


class Room(NamedTuple):
    """Memory for sentences up to some length. psi and alpha have one row more than a multiple of four. What is padding
    is 0, or -inf where potentials are."""

    scores: Array  # F64[longest, width]
    potentials: Array  # F64[longest, width]
    block: Array  # F64[width, width]: potentials of transitions
    psi: Array  # F64[rows, width]
    alpha: Array  # F64[rows, width]
    scale: Array  # F64[longest]
    across: Array  # F64[width, width]: E[i, j]
    down: Array  # F64[width, width]: E[j, i]
    step: Array  # F64[width]
    nodes: Array  # F64[2, longest, width]: marginals before and after
    arcs: Array  # F64[2, width, width]: expected numbers of transitions


@part
def room_for_sentence(tokens: Array, labels: int) -> Array:
    longest, width = 0, (labels + PAD - 1) // PAD * PAD
    for s in range(len(tokens.offsets) - 1):
        longest = max(longest, tokens.offsets[s + 1] - tokens.offsets[s])
    rows = (longest + 3) // 4 * 4 + 1
    return Room(
        np.zeros((longest, width)), np.full((longest, width), -np.inf), np.full((width, width), -np.inf),
        np.zeros((rows, width)), np.zeros((rows, width)), np.ones(longest),
        np.zeros((width, width)), np.zeros((width, width)), np.zeros(width),
        np.zeros((2, longest, width)), np.zeros((2, width, width)),
    )  # fmt: skip


@part
def solve(room: Array, length: int, labels: int, side: int) -> Array:
    """Marginals of the distribution that potentials and block give, into nodes[side] and arcs[side]; returns whether
    that was possible, its entropy, log Z - E[potentials of a path], and log Z."""
    top, bottom, _ = spread_of(room.block)
    if not top - bottom <= _MOST_OF_TRANSITIONS:
        return False, 0.0, 0.0
    fits, log_z = _enter(room, length, _MOST_SPREAD - (top - bottom))
    if not fits:
        return False, 0.0, 0.0
    for i in range(labels):
        exp_into(room.block[i], top, room.across[i])
    for i in range(labels):
        for j in range(labels):
            room.down[j, i] = room.across[i, j]
    _forward(room, length)
    log_z += top * (length - 1) - log_product(room.scale, 0, 1, length)
    _backward(room, length, room.nodes[side])
    _sum_arcs(room, length, room.arcs[side])
    return True, log_z - _expected(room, length, labels, side), log_z


@part
def _enter(room: Array, length: int, limit: float) -> Array:
    """psi, and the sum of what was taken off; false where the potentials of a position spread further than `limit`."""
    total, fits = 0.0, True
    for t in range(length):
        row = room.potentials[t]
        high, low = -np.inf, np.inf
        for j in range(len(row)):
            high = max(high, row[j])
            low = min(low, row[j] if row[j] > -np.inf else np.inf)
        fits = fits and high > -np.inf and high - low <= limit
        if fits:
            exp_into(row, high, room.psi[t])
        total += high
    return fits, total


@part
def _forward(room: Array, length: int) -> None:
    psi, alpha, step = room.psi, room.alpha, room.step
    width = len(step)
    for t in range(length):
        if t == 0:
            for j in range(width):
                step[j] = 1.0
        else:
            weighted_rows(alpha[t - 1], room.across, step)
        for j in range(width):
            alpha[t, j] = step[j] * psi[t, j]
        total = 0.0
        for j in range(width):
            total += alpha[t, j]
        c = 1.0 / total
        room.scale[t] = c
        for j in range(width):
            alpha[t, j] *= c


@part
def _backward(room: Array, length: int, nodes: Array) -> None:
    """Node marginals, and q_t in the place of psi_t."""
    psi, alpha, step = room.psi, room.alpha, room.step
    width = len(step)
    for t in range(length - 1, -1, -1):
        if t == length - 1:
            for j in range(width):
                step[j] = 1.0
        else:
            weighted_rows(psi[t + 1], room.down, step)
        c = room.scale[t]
        for j in range(width):
            psi[t, j] *= c * step[j]
        for j in range(width):
            nodes[t, j] = alpha[t, j] * step[j]


@part
def weighted_rows(x: Array, rows: Array, out: Array) -> None:
    """out[j] = sum_i x[i] rows[i, j]; a multiple of four rows."""
    width = len(out)
    for j in range(width):
        out[j] = 0.0
    for i in range(0, len(rows), 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(width):
            out[j] += (x0 * rows[i, j] + x1 * rows[i + 1, j]) + (x2 * rows[i + 2, j] + x3 * rows[i + 3, j])


@part
def _sum_arcs(room: Array, length: int, arcs: Array) -> None:
    """arcs[i, j] = E[i, j] sum_t alpha_(t-1)[i] q_t[j], four positions at a time."""
    alpha, q, width = room.alpha, room.psi, len(arcs)
    end = (length + 2) // 4 * 4  # what is behind the last position has q = 0
    for t in range(length, end + 1):
        for j in range(width):
            q[t, j] = 0.0
    for i in range(width):
        for j in range(width):
            arcs[i, j] = 0.0
    for t in range(0, end, 4):
        for i in range(width):
            a0, a1, a2, a3 = alpha[t, i], alpha[t + 1, i], alpha[t + 2, i], alpha[t + 3, i]
            for j in range(width):
                arcs[i, j] += (a0 * q[t + 1, j] + a1 * q[t + 2, j]) + (a2 * q[t + 3, j] + a3 * q[t + 4, j])
    for i in range(width):
        for j in range(width):
            arcs[i, j] *= room.across[i, j]


@part
def _expected(room: Array, length: int, labels: int, side: int) -> float:
    """E[potentials of a path]."""
    nodes, arcs = room.nodes[side], room.arcs[side]
    total = 0.0
    for t in range(length):
        for j in range(labels):
            total += nodes[t, j] * room.potentials[t, j] if nodes[t, j] > 0.0 else 0.0
    for i in range(labels):
        for j in range(labels):
            total += arcs[i, j] * room.block[i, j]
    return total
