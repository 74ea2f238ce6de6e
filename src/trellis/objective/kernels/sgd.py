"""Stochastic gradient descent as Tsuboi et al. 2011 have it: one rate for all weights, and the prior at every update.

    theta <- (1 - eta m l2 / N) theta - eta * gradient of the log loss of m sentences

With theta = a v the prior is a product of one number (Shalev-Shwartz et al. 2007): a <- (1 - eta m l2 / N) a, and
v <- v - (eta / a) gradient, which touches only what occurs.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, part
from trellis.objective.kernels.in_step import room_in_step, slopes_in_step

Array = Any

_SMALL = 1e-6  # a: then v takes it over
_MOST_PULL = 0.5  # of the prior in one update


@kernel
def sgd_pass(
    tokens: Array, fours: Array, order: Array, theta: Array, done: float, per_epoch: float, step: float, decay: float,
    l2: float,
) -> Array:  # fmt: skip
    """Fours of sentences in the order given. Of N = `per_epoch` sentences in an epoch, `done` were seen since training
    began: eta = step decay^(k/N) after k of them, or step / (1 + k/N) where decay is 0. theta is changed; returns
    what the prior has left of weights that do not occur here, the log loss of the sentences, each before its own
    update, and how many were left out."""
    room = room_in_step(tokens, theta)
    a, kept, value, missing = 1.0, 1.0, 0.0, 0
    for n in range(len(order)):
        loss, count, left_out = slopes_in_step(tokens, fours[order[n]], theta, a, room)
        value, missing = value + loss, missing + left_out
        epochs = done / per_epoch
        done += count
        eta = step * decay**epochs if decay > 0.0 else step / (1.0 + epochs)
        pull = count * l2 / per_epoch
        eta = min(eta, _MOST_PULL / pull) if pull > 0.0 else eta
        a, kept = a * (1.0 - eta * pull), kept * (1.0 - eta * pull)
        _descend(tokens, eta / a, theta, room)
        if a < _SMALL:
            times(a, theta)
            a = 1.0
    times(a, theta)
    return kept, value, missing


@part
def _descend(tokens: Array, rate: float, v: Array, room: Array) -> None:
    """v <- v - rate * gradient."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    for w in range(4):
        for t in range(room.length[w]):
            k, d = room.start[w] + t, room.nodes[room.first[w] + t]
            for o in range(tokens.dense[k], tokens.dense[k + 1]):
                r = tokens.row[o]
                row, mask = v.rows[r], tokens.mask[r]
                x = rate * (tokens.row_value[o] if valued else 1.0)
                for j in range(len(d)):
                    row[j] -= x * d[j] * mask[j]
            for o in range(tokens.sparse[k], tokens.sparse[k + 1]):
                x = rate * (tokens.pair_value[o] if valued else 1.0)
                v.singles[tokens.pair[o]] -= x * d[tokens.label[o]]
    for i in range(len(room.arcs)):
        for j in range(len(room.arcs)):
            v.transitions[i, j] -= rate * room.arcs[i, j] if v.seen[i, j] else 0.0


@part
def times(a: float, v: Array) -> None:
    """v <- a v."""
    for r in range(len(v.rows)):
        for j in range(v.rows.shape[1]):
            v.rows[r, j] *= a
    for p in range(len(v.singles)):
        v.singles[p] *= a
    for i in range(len(v.transitions)):
        for j in range(len(v.transitions)):
            v.transitions[i, j] *= a
