"""SAGA (Defazio et al. 2014) for sparse features: the slopes that sentences had when they were last seen take the noise
out of those that they have now.

With e = g - g_old, the change of the slope of an attribute at one of its n occurrences in an epoch, and mu the sum of
the last slopes of all occurrences,

    theta <- theta - eta (e + (mu + l2 theta) / n);   mu <- mu + e

which on average over the occurrences is the gradient, and comes to rest where that is 0, with a rate eta that does not
fall. Rates are smaller for what occurs often in one update, where slopes add up. (mu is dense, but taken in n parts, as
Leblond et al. 2017 do: nothing is done for attributes that do not occur.)
What is stored are marginals, a number for each token and label, not gradients.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, part
from trellis.objective.kernels.in_step import room_in_step, slopes_in_step

Array = Any


@kernel
def saga_pass(
    tokens: Array, fours: Array, order: Array, theta: Array, mu: Array, share: Array, gain: Array, nodes: Array,
    arcs: Array, eta: float, l2: float,
) -> Array:  # fmt: skip
    """Fours of sentences in the order given. `share` is 1 / n and `gain` the rate over eta; `nodes: F64[tokens, width]`
    and `arcs: F64[fours, labels, labels]` are the slopes when last seen. theta, mu, nodes and arcs are changed. Returns
    the log loss of the sentences, each before its own update, and how many were left out, which keep their last
    slopes."""
    room = room_in_step(tokens, theta)
    value, missing = 0.0, 0
    for n in range(len(order)):
        loss, _, left_out = slopes_in_step(tokens, fours[order[n]], theta, 1.0, room)
        value, missing = value + loss, missing + left_out
        _move_tokens(tokens, theta, mu, share, gain, nodes, eta, l2, room)
        if left_out == 0:
            _move_transitions(theta, mu, share, gain, arcs[order[n]], eta, l2, room)
    return value, missing


@part
def _move_tokens(
    tokens: Array, theta: Array, mu: Array, share: Array, gain: Array, nodes: Array, eta: float, l2: float, room: Array
) -> None:
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    for w in range(4):
        for t in range(room.length[w]):
            k, d = room.start[w] + t, room.nodes[room.first[w] + t]
            old = nodes[k]
            for j in range(len(d)):
                new = d[j]
                d[j] = new - old[j]
                old[j] = new
            for o in range(tokens.dense[k], tokens.dense[k + 1]):
                r = tokens.row[o]
                row, mean, part_of, mask, rate = theta.rows[r], mu.rows[r], share.rows[r], tokens.mask[r], gain.rows[r]
                x = tokens.row_value[o] if valued else 1.0
                for j in range(len(d)):
                    e = x * d[j] * mask[j]
                    row[j] -= eta * rate[j] * (e + part_of[j] * (mean[j] + l2 * row[j]))
                    mean[j] += e
            for o in range(tokens.sparse[k], tokens.sparse[k + 1]):
                p = tokens.pair[o]
                e = d[tokens.label[o]] * (tokens.pair_value[o] if valued else 1.0)
                pull = share.singles[p] * (mu.singles[p] + l2 * theta.singles[p])
                theta.singles[p] -= eta * gain.singles[p] * (e + pull)
                mu.singles[p] += e


@part
def _move_transitions(
    theta: Array, mu: Array, share: Array, gain: Array, old: Array, eta: float, l2: float, room: Array
) -> None:
    for i in range(len(old)):
        for j in range(len(old)):
            if theta.seen[i, j]:
                e = room.arcs[i, j] - old[i, j]
                pull = share.transitions[i, j] * (mu.transitions[i, j] + l2 * theta.transitions[i, j])
                theta.transitions[i, j] -= eta * gain.transitions[i, j] * (e + pull)
                mu.transitions[i, j] += e
                old[i, j] = room.arcs[i, j]
