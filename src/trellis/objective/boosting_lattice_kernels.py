"""Forward-backward over the sentences that a round of boosting has changed, and what becomes of the sums U and W.

What every sentence adds to the sums is kept: for each token the weight of the sentence times P(y_t = j), or for the
gold label times 1 - P, and the same for transitions. So the sums change by differences, token by token. Four sentences
go in step as in `lattice.kernels.scaled`; one whose scores spread too far for that is done in the log domain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.logdomain import arc_marginals, backward, forward, node_marginals
from trellis.lattice.kernels.scaled import enter, forward_in_step, log_product, spread_of
from trellis.lattice.kernels.vector import exp_into, four_products

Array = Any


class Text(NamedTuple):
    """The sentences, by length. Occurrences of token t, `start[t]:start[t + 1]`, have `count` cells each."""

    offsets: Array  # I64[sentences + 1]
    gold: Array  # I64[tokens]
    arc: Array  # I64[tokens]: the transition into the token that the labels have; -1 where it has no weight
    arc_cell: Array  # I64[sentences]: the first cell of transitions
    arc_number: Array  # I64[labels, labels]: of transitions, -1 for those without a weight
    log_weight: Array  # F64[sentences]
    start: Array  # I64[tokens + 1]
    unit: Array  # I32[occurrences]
    cell: Array  # I32[occurrences]
    count: Array  # I32[occurrences]
    value: Array  # F64[occurrences]; empty when all are 1
    label: Array  # I32[cells]: of cells of pairs


class Running(NamedTuple):
    """What changes from round to round."""

    scores: Array  # F64[tokens, width], -inf in the padding
    transitions: Array  # F64[labels, labels]
    excess: Array  # F64[sentences]: log Z - S(y)
    loss: Array  # F64[sentences]
    mass: Array  # F64[sentences]: the sentence's weight times the probability of wrong paths
    nodes: Array  # F64[tokens, width]: what is in the sums
    arcs: Array  # F64[sentences, transitions]: the same of transitions, at tokens where the labels have others
    gold_arcs: Array  # F64[tokens]: and of those that the labels have
    sums: Array  # F64[cells, 2]: U and W
    stale: Array  # U8[units]: whose sums have changed


@kernel
def rerun(text: Array, now: Array, which: Array, straight_from: float, shift: float, ignored: float) -> None:
    """Forward-backward over the sentences `which`, I64[...], and what follows from it.

    A sentence has the weight exp(log_weight + min(excess, straight_from) - shift). Tokens where nothing has changed by
    more than `ignored` stay in the sums as they are."""
    width, labels = now.scores.shape[1], len(now.transitions)
    top, bottom, _ = spread_of(now.transitions)
    limit = 600.0 if top - bottom <= 330.0 else -1.0
    across = np.zeros((width, width))
    for i in range(labels):
        exp_into(now.transitions[i], top, across[i, :labels])
    down = across.T.copy()
    longest = 0
    for s in which:
        longest = max(longest, text.offsets[s + 1] - text.offsets[s])
    psi, alpha, both = np.ones((4 * longest, width)), np.ones((4 * longest, width)), np.ones((4 * longest, width))
    nodes = np.empty((longest, width))
    scale, step, arcs = np.ones(4 * longest), np.empty((4, width)), np.empty((width, width))
    gold_arcs, change = np.empty(longest), np.empty(width)
    length, log_z, too_far = np.zeros(4, np.int64), np.empty(4), np.zeros(4, np.bool_)
    for first in range(0, len(which), 4):
        longest = _enter_four(text, now, which, first, limit - (top - bottom), top, psi, length, log_z, too_far)
        forward_in_step(psi, down, longest, step, alpha, scale)
        _backward(psi, across, alpha, scale, longest, length, step, both)
        for w in range(min(4, len(which) - first)):
            s = which[first + w]
            if too_far[w]:
                log_z[w] = _in_log_domain(text, now, s, nodes, arcs, gold_arcs)
            else:
                log_z[w] -= log_product(scale, w, 4, length[w])
                _marginals(text, s, w, length[w], labels, across, alpha, psi, both, nodes, arcs, gold_arcs)
            _account(text, now, s, log_z[w], straight_from, shift, ignored, nodes, arcs, gold_arcs, change)


@kernel
def loss_of(text: Array, now: Array, which: Array, straight_from: float, shift: float) -> float:
    """The loss of the sentences `which`, added up, by forward passes alone; nothing is changed."""
    width, labels = now.scores.shape[1], len(now.transitions)
    top, bottom, _ = spread_of(now.transitions)
    limit = 600.0 if top - bottom <= 330.0 else -1.0
    down = np.zeros((width, width))
    for i in range(labels):
        exp_into(now.transitions[i], top, down[i, :labels])
    down = down.T.copy()
    longest = 0
    for s in which:
        longest = max(longest, text.offsets[s + 1] - text.offsets[s])
    psi, alpha, scale = np.ones((4 * longest, width)), np.ones((4 * longest, width)), np.ones(4 * longest)
    step = np.empty((4, width))
    length, log_z, too_far = np.zeros(4, np.int64), np.empty(4), np.zeros(4, np.bool_)
    total = 0.0
    for first in range(0, len(which), 4):
        longest = _enter_four(text, now, which, first, limit - (top - bottom), top, psi, length, log_z, too_far)
        forward_in_step(psi, down, longest, step, alpha, scale)
        for w in range(min(4, len(which) - first)):
            s = which[first + w]
            if too_far[w]:
                rows = now.scores[text.offsets[s] : text.offsets[s + 1]]
                log_z[w] = forward(rows, now.transitions.reshape(1, labels, labels), 0, np.empty((len(rows), labels)))
            else:
                log_z[w] -= log_product(scale, w, 4, length[w])
            excess = max(log_z[w] - _gold_score(text, now, s), 0.0)
            total += _loss(excess, text.log_weight[s] - shift, straight_from)[0]
    return total


@part
def _enter_four(
    text: Array,
    now: Array,
    which: Array,
    first: int,
    limit: float,
    top: float,
    psi: Array,
    length: Array,
    log_z: Array,
    too_far: Array,
) -> int:
    """Four sentences in step, of which those that spread too far have no length; returns the longest length."""
    longest = 0
    for w in range(4):
        length[w] = 0
        if first + w < len(which):
            s = which[first + w]
            a, b = text.offsets[s], text.offsets[s + 1]
            too_far[w] = enter(now.scores, a, b, limit, psi, w, log_z, w)
            log_z[w] += top * (b - a - 1)
            length[w] = 0 if too_far[w] else b - a
            longest = max(longest, length[w])
    for w in range(4):
        psi[4 * length[w] + w : 4 * longest : 4, :] = 1.0
    return longest


@part
def _gold_score(text: Array, now: Array, s: int) -> float:
    total = 0.0
    for t in range(text.offsets[s], text.offsets[s + 1]):
        total += now.scores[t, text.gold[t]]
        if t > text.offsets[s]:
            total += now.transitions[text.gold[t - 1], text.gold[t]]
    return total


@part
def _loss(excess: float, log_weight: float, straight_from: float) -> Array:
    """The loss, the sentence's weight, and that times the probability of wrong paths."""
    weight = np.exp(log_weight + min(excess, straight_from))
    mass = -weight * np.expm1(-excess)
    loss = mass
    if excess >= straight_from:
        loss = weight * (excess - straight_from) + (weight - np.exp(log_weight))
    return loss, weight, mass


@part
def _backward(
    psi: Array, across: Array, alpha: Array, scale: Array, longest: int, length: Array, step: Array, alpha_beta: Array
) -> None:
    """alpha_t beta_t, and q_t in the place of psi_t."""
    width = psi.shape[1]
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            four_products(psi, 4 * t + 4, 4 * t + 5, 4 * t + 6, 4 * t + 7, across, step)
        for w in range(4):
            if t >= length[w] - 1:
                step[w, :] = 1.0
            r = 4 * t + w
            for j in range(width):
                psi[r, j] *= scale[r] * step[w, j]
            for j in range(width):
                alpha_beta[r, j] = alpha[r, j] * step[w, j]


@part
def _marginals(
    text: Array,
    s: int,
    w: int,
    length: int,
    labels: int,
    across: Array,
    alpha: Array,
    q: Array,
    alpha_beta: Array,
    nodes: Array,
    arcs: Array,
    gold_arcs: Array,
) -> None:
    """nodes[t, j] = P(y_t = j); arcs[i, j] = sum of P(y_(t-1) = i, y_t = j) over tokens where the labels are others;
    gold_arcs[t] = 1 - P of the labels there."""
    a, width = text.offsets[s], alpha.shape[1]
    arcs[:, :] = 0.0
    for t in range(length):
        r = 4 * t + w
        for j in range(width):
            nodes[t, j] = alpha_beta[r, j]
        if t == 0:
            gold_arcs[0] = 0.0
            continue
        i, g = text.gold[a + t - 1], text.gold[a + t]
        left_out = arcs[i, g]
        for i2 in range(labels):
            before = alpha[r - 4, i2]
            for j in range(width):
                arcs[i2, j] += before * q[r, j]
        arcs[i, g] = left_out
        gold_arcs[t] = max(1.0 - alpha[r - 4, i] * across[i, g] * q[r, g], 0.0)
    for i in range(labels):
        for j in range(labels):
            arcs[i, j] *= across[i, j]


@part
def _in_log_domain(text: Array, now: Array, s: int, nodes: Array, arcs: Array, gold_arcs: Array) -> float:
    """The same; returns log Z."""
    a, b = text.offsets[s], text.offsets[s + 1]
    labels = len(now.transitions)
    rows, blocks = now.scores[a:b], now.transitions.reshape(1, labels, labels)
    alpha, beta, pair = np.empty((b - a, labels)), np.empty((b - a, labels)), np.empty((labels, labels))
    log_z = forward(rows, blocks, 0, alpha)
    backward(rows, blocks, 0, beta)
    arcs[:, :] = 0.0
    gold_arcs[0] = 0.0
    for t in range(b - a):
        node_marginals(alpha, beta, t, nodes[t])
        if t > 0:
            arc_marginals(rows, blocks, 0, alpha, beta, t, pair)
            i, g = text.gold[a + t - 1], text.gold[a + t]
            gold_arcs[t] = max(1.0 - pair[i, g], 0.0)
            pair[i, g] = 0.0
            for i2 in range(labels):
                for j in range(labels):
                    arcs[i2, j] += pair[i2, j]
    return log_z


@part
def _account(
    text: Array,
    now: Array,
    s: int,
    log_z: float,
    straight_from: float,
    shift: float,
    ignored: float,
    nodes: Array,
    arcs: Array,
    gold_arcs: Array,
    change: Array,
) -> None:
    """The sentence's loss, and its part of the sums in the place of the part that it had."""
    a, b = text.offsets[s], text.offsets[s + 1]
    excess = max(log_z - _gold_score(text, now, s), 0.0)
    now.loss[s], weight, now.mass[s] = _loss(excess, text.log_weight[s] - shift, straight_from)
    now.excess[s] = excess
    first, kept = text.arc_cell[s], now.arcs[s]
    for i in range(len(now.transitions)):
        for j in range(len(now.transitions)):
            k = text.arc_number[i, j]
            if k >= 0:
                new = weight * arcs[i, j]
                if abs(new - kept[k]) > ignored:
                    now.sums[first + k, 0] += new - kept[k]
                    kept[k] = new
    for t in range(b - a):
        k, new = text.arc[a + t], weight * gold_arcs[t]
        if k >= 0 and abs(new - now.gold_arcs[a + t]) > ignored:
            now.sums[first + k, 1] += new - now.gold_arcs[a + t]
            now.gold_arcs[a + t] = new
        _account_token(text, now, a + t, weight, nodes[t], ignored, change)


@part
def _account_token(text: Array, now: Array, t: int, weight: float, node: Array, ignored: float, change: Array) -> None:
    g, kept = text.gold[t], now.nodes[t]
    node[g] = 0.0
    wrong = 0.0
    for j in range(len(node)):
        wrong += node[j]
    node[g] = wrong
    largest = 0.0
    for j in range(len(node)):
        change[j] = weight * node[j] - kept[j]
    for j in range(len(node)):
        largest = max(largest, abs(change[j]))
    if not largest > ignored:
        return
    for j in range(len(node)):
        kept[j] = weight * node[j]
    for n in range(text.start[t], text.start[t + 1]):
        x = text.value[n] if len(text.value) else 1.0
        now.stale[text.unit[n]] = 1
        for c in range(text.cell[n], text.cell[n] + text.count[n]):
            j = text.label[c]
            # a gold label that is missed makes u negative, unless x is
            now.sums[c, int((j == g) != (x < 0.0))] += abs(x) * change[j]
