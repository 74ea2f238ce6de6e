"""Exponentiated gradient on the dual of the log loss (Collins et al. 2008), one sentence after the other.

The dual of  sum_i log-loss_i(theta) + l2/2 |theta|^2  has a distribution alpha_i over the paths of each sentence,

    D(alpha) = sum_i H(alpha_i) - |G|^2 / (2 l2)        G = sum_i (F_i(y_i) - E_alpha_i[F_i])        theta = G / l2

and alpha_i is kept as log-potentials phi_i of labels and transitions. A step of rate eta on sentence i:

    phi_i <- (1 - eta) phi_i + eta (theta . f_i)        theta <- theta - (change of E_alpha_i[F_i]) / l2

Where an expectation changes by d, the dual changes by theta d - d^2 / (2 l2): added up weight by weight as they are
changed, one after the other, that is exact. A step after which the dual is not higher is taken back, and tried again
with half the rate.

No array for each arc is needed: theta . f_i is a number for each token and label and one matrix, so phi_i is, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.objective.kernels.places import score_token
from trellis.objective.kernels.sentence import room_for_sentence, solve

Array = Any

_FASTER, _SLOWER = 1.05, 0.5
_FASTEST = 1.0
_MOST_TRIES = 40
_ROUNDING = 1e-13  # of the numbers that a gain is made of


@kernel
def eg_pass(
    tokens: Array,
    order: Array,
    theta: Array,
    source: Array,
    l2: float,
    nodes: Array,
    transitions: Array,
    rates: Array,
    fresh: bool,
    share: float,
    bonus: float,
) -> Array:
    """A step for each of the sentences `order: I64[...]`, none empty. phi is in nodes F64[tokens, labels] (0 where a
    label is forbidden) and transitions F64[sentences, labels, labels], rates are F64[sentences, 1]; all are changed.
    Scores are those of `source`, which is theta but for the first pass.

    `fresh`: theta comes from before these sentences, as if each were certain of its gold path (where its part of G and
    of the dual is 0), and is made what phi makes it: a `share` of the scores and `bonus` for gold labels is mixed into
    phi first, and nothing is taken back.

    Returns by how much the dual rose, how many steps failed, and how many sentences stayed as they were."""
    labels = len(theta.transitions)
    room = room_for_sentence(tokens, labels)
    risen, failed, unmoved = 0.0, 0, 0
    for n in range(len(order)):
        s = order[n]
        first, length = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s]
        for t in range(length):
            score_token(tokens, first + t, source, room.scores, t)
        before, size, moved = 0.0, 0.0, False
        rate = share if fresh else rates[s, 0]
        for k in range(_MOST_TRIES + 1):  # 0: as it is
            if k == 0 and fresh:
                _certain(tokens, first, length, room)
                continue
            _mix(tokens, s, source, nodes, transitions, 0.0 if k == 0 else rate, bonus, room)
            fits, entropy, log_z = solve(room, length, labels, min(k, 1))
            if k == 0:
                before, size = entropy, abs(log_z)
                continue
            if fits:
                _subtract(room, length)
                for side in range(2):  # there, and back if that was no good
                    fall = _move(tokens, first, length, room, 1.0 if side == 0 else -1.0, l2, theta)
                    if side == 1:
                        break
                    gain = entropy - before - fall
                    moved = fresh or gain >= -_ROUNDING * (1.0 + size + abs(log_z) + abs(fall))
                    if moved:
                        risen += gain
                        break
            if moved:
                break
            failed += 1
            rate = 0.0 if fresh and k == _MOST_TRIES - 1 else rate * _SLOWER
        if moved:
            _keep(first, length, s, room, nodes, transitions)
        unmoved += not moved
        if not fresh:
            rates[s, 0] = min(rate * _FASTER, _FASTEST) if moved else rate
    return risen, failed, unmoved


@part
def _certain(tokens: Array, first: int, length: int, room: Array) -> None:
    """All probability on the gold path, before."""
    nodes, arcs = room.nodes[0], room.arcs[0]
    for i in range(len(arcs)):
        for j in range(len(arcs)):
            arcs[i, j] = 0.0
    for t in range(length):
        for j in range(len(arcs)):
            nodes[t, j] = 0.0
        y = tokens.gold[first + t]
        nodes[t, y] = 1.0
        if t > 0:
            arcs[tokens.gold[first + t - 1], y] += 1.0


@part
def _mix(
    tokens: Array,
    s: int,
    source: Array,
    nodes: Array,
    transitions: Array,
    rate: float,
    bonus: float,
    room: Array,
) -> None:
    """(1 - rate) phi + rate scores, and the bonus."""
    first, length, labels = tokens.offsets[s], tokens.offsets[s + 1] - tokens.offsets[s], len(source.transitions)
    kept = 1.0 - rate
    for t in range(length):
        for j in range(labels):
            score = room.scores[t, j]
            room.potentials[t, j] = kept * nodes[first + t, j] + rate * score if score > -np.inf else -np.inf
        room.potentials[t, tokens.gold[first + t]] += bonus
    for i in range(labels):
        for j in range(labels):
            room.block[i, j] = kept * transitions[s, i, j] + rate * source.transitions[i, j]


@part
def _subtract(room: Array, length: int) -> None:
    """The change of marginals, in the place of those after."""
    for t in range(length):
        for j in range(room.nodes.shape[2]):
            room.nodes[1, t, j] -= room.nodes[0, t, j]
    for i in range(len(room.across)):
        for j in range(len(room.across)):
            room.arcs[1, i, j] -= room.arcs[0, i, j]


@part
def _move(tokens: Array, first: int, length: int, room: Array, sign: float, l2: float, theta: Array) -> float:
    """theta -= sign (change of expectations) / l2; returns by how much |G|^2 / (2 l2) rises."""
    valued = len(tokens.row_value) > 0 or len(tokens.pair_value) > 0
    fall, half, step, labels = 0.0, 0.5 / l2, 1.0 / l2, len(theta.transitions)
    for t in range(length):
        change = room.nodes[1, t]
        for k in range(tokens.dense[first + t], tokens.dense[first + t + 1]):
            r = tokens.row[k]
            w, mask = theta.rows[r], tokens.mask[r]
            v = sign * (tokens.row_value[k] if valued else 1.0)
            for j in range(len(change)):
                d = v * change[j] * mask[j]
                fall += d * (half * d - w[j])
            for j in range(len(change)):
                w[j] -= step * (v * change[j] * mask[j])
        for k in range(tokens.sparse[first + t], tokens.sparse[first + t + 1]):
            p = tokens.pair[k]
            d = sign * change[tokens.label[k]] * (tokens.pair_value[k] if valued else 1.0)
            fall = fall + d * (half * d - theta.singles[p])
            theta.singles[p] -= step * d
    for i in range(labels):
        for j in range(labels):
            d = sign * room.arcs[1, i, j] if theta.seen[i, j] else 0.0
            fall += d * (half * d - theta.transitions[i, j])
        for j in range(labels):
            theta.transitions[i, j] -= step * sign * room.arcs[1, i, j] if theta.seen[i, j] else 0.0
    return fall


@part
def _keep(first: int, length: int, s: int, room: Array, nodes: Array, transitions: Array) -> None:
    """The potentials are the new phi."""
    labels = transitions.shape[1]
    for t in range(length):
        for j in range(labels):
            value = room.potentials[t, j]
            nodes[first + t, j] = value if value > -np.inf else 0.0
    for i in range(labels):
        for j in range(labels):
            transitions[s, i, j] = room.block[i, j]
