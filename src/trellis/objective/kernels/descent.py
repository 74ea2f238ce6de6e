"""A pass of stochastic gradient descent in which every attribute a has a rate of its own, eta_a.

Four sentences of about the same length make one update (see `in_step`). The prior is taken at the occurrences of an
attribute, in n_a equal parts of an epoch,

    theta_a <- (1 - eta_a l2 / n_a) theta_a - eta_a x dL/ds        at each token with the value x of attribute a

so that nothing is done for attributes that do not occur.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trellis.jit import kernel, part
from trellis.lanes import LANES, load, store, where_bits
from trellis.objective.kernels.in_step import room_in_step, slopes_in_step

Array = Any


class Rates(NamedTuple):
    """Of each row and single weight the rate eta_a and what the prior leaves of it at an occurrence, 1 - eta_a l2 /
    n_a; of each transition the rate and what the prior leaves of it in an update."""

    rows: Array  # F64[rows]
    rows_kept: Array
    singles: Array  # F64[local]
    singles_kept: Array
    transitions: Array  # F64[labels, labels]
    transitions_kept: Array


@kernel
def rates_at(step: float, gain: Array, pull: Array, rate: Array, kept: Array) -> None:
    """rate = step gain, but at most 1 / pull, and kept = 1 - rate pull, F64[n] each.

    With the rate 1 / pull = n / l2, a step already ends at the minimum that its slope and the prior have."""
    for k in range(len(gain)):
        eta = step * gain[k]
        over = eta * pull[k] > 1.0
        rate[k] = 1.0 / pull[k] if over else eta
        kept[k] = 0.0 if over else 1.0 - eta * pull[k]


@kernel
def descent_pass(tokens: Array, groups: Array, theta: Array, rates: Array) -> Array:
    """One update of theta for each group I64[groups, 4] of sentences (-1: none). Returns the log loss of the sentences,
    each before its own update, and how many were left out."""
    room = room_in_step(tokens, theta)
    value, missing = 0.0, 0
    for g in range(len(groups)):
        loss, _, left_out = slopes_in_step(tokens, groups[g], theta, 1.0, room)
        value, missing = value + loss, missing + left_out
        for w in range(4):
            for t in range(room.length[w]):
                _update(tokens, room.start[w] + t, room.nodes, room.first[w] + t, theta, rates)
        for i in range(len(room.arcs)):
            for j in range(len(room.arcs)):
                v = rates.transitions_kept[i, j] * theta.transitions[i, j]
                theta.transitions[i, j] = v - rates.transitions[i, j] * room.arcs[i, j]
    return value, missing


@part
def _update(tokens: Array, t: int, nodes: Array, n: int, theta: Array, rates: Array) -> None:
    """Changes every weight that bears on token t, where the gradient in the scores is d = nodes[n]."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    for k in range(tokens.dense[t], tokens.dense[t + 1]):
        r = tokens.row[k]
        kept, rate = rates.rows_kept[r], rates.rows[r] * (tokens.row_value[k] if valued else 1.0)
        for j in range(0, nodes.shape[1], LANES):
            d = where_bits(tokens.bits[r, j // 8] >> (j % 8), load(nodes, n, j))
            store(theta.rows, r, j, load(theta.rows, r, j) * kept - d * rate)
    for k in range(tokens.sparse[t], tokens.sparse[t + 1]):
        p = tokens.pair[k]
        rate = rates.singles[p] * (tokens.pair_value[k] if valued else 1.0)
        theta.singles[p] = rates.singles_kept[p] * theta.singles[p] - rate * nodes[n, tokens.label[k]]
