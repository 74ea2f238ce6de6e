"""AdaGrad (Duchi et al. 2011) with the priors l2 and l1: every weight has a rate of its own, which falls with the
slopes that it has met.

At each occurrence of an attribute with slope g, where n is how often it occurs in an epoch,

    G <- G + g^2;   eta = gain step / sqrt(G + d);   v = theta - eta g
    theta <- (v shrunk by eta l1 / n) / (1 + eta l2 / n)

that is the minimum of slope and prior within reach, with the prior in n parts, and nothing is done for attributes that
do not occur. With d, slopes far below 0.01 are not taken for large ones. A transition has its slopes added up over four
sentences, and n updates in an epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.objective.kernels.in_step import room_in_step, slopes_in_step

Array = Any

_NONE = 1e-4  # d


@kernel
def adagrad_pass(
    tokens: Array, fours: Array, order: Array, theta: Array, squares: Array, share: Array, gain: Array, step: float,
    l2: float, l1: float,
) -> Array:  # fmt: skip
    """Fours of sentences in the order given; `squares` is G and `share` 1 / n. theta and squares are changed. Returns
    the log loss of the sentences, each before its own update, and how many were left out."""
    room = room_in_step(tokens, theta)
    value, missing = 0.0, 0
    for n in range(len(order)):
        loss, _, left_out = slopes_in_step(tokens, fours[order[n]], theta, 1.0, room)
        value, missing = value + loss, missing + left_out
        if step > 0.0:
            _update(tokens, theta, squares, share, gain, step, l2, l1, room)
    return value, missing


@part
def _update(
    tokens: Array,
    theta: Array,
    squares: Array,
    share: Array,
    gain: Array,
    step: float,
    l2: float,
    l1: float,
    room: Array,
) -> None:
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    for w in range(4):
        for t in range(room.length[w]):
            k, d = room.start[w] + t, room.nodes[room.first[w] + t]
            for o in range(tokens.dense[k], tokens.dense[k + 1]):
                r = tokens.row[o]
                row, seen, part_of = theta.rows[r], squares.rows[r], share.rows[r]
                mask, rate = tokens.mask[r], gain.rows[r]
                x = tokens.row_value[o] if valued else 1.0
                for j in range(len(d)):
                    g = x * d[j] * mask[j]
                    s = seen[j] + g * g
                    seen[j] = s
                    eta = step * rate[j] / np.sqrt(s + _NONE)
                    v, less = row[j] - eta * g, eta * l1 * part_of[j]
                    row[j] = (max(v - less, 0.0) + min(v + less, 0.0)) / (1.0 + eta * l2 * part_of[j])
            for o in range(tokens.sparse[k], tokens.sparse[k + 1]):
                p = tokens.pair[o]
                g = d[tokens.label[o]] * (tokens.pair_value[o] if valued else 1.0)
                squares.singles[p] += g * g
                eta = step * gain.singles[p] / np.sqrt(squares.singles[p] + _NONE)
                theta.singles[p] = _moved(theta.singles[p], g, eta, share.singles[p], l2, l1)
    for i in range(len(room.arcs)):
        for j in range(len(room.arcs)):
            if theta.seen[i, j]:
                g = room.arcs[i, j]
                squares.transitions[i, j] += g * g
                eta = step * gain.transitions[i, j] / np.sqrt(squares.transitions[i, j] + _NONE)
                theta.transitions[i, j] = _moved(theta.transitions[i, j], g, eta, share.transitions[i, j], l2, l1)


@part
def _moved(weight: float, g: float, eta: float, share: float, l2: float, l1: float) -> float:
    v, less = weight - eta * g, eta * l1 * share
    return (max(v - less, 0.0) + min(v + less, 0.0)) / (1.0 + eta * l2 * share)
