"""Forward-backward over the sentences that a round of boosting has changed.

Four sentences go in step as in `lattice.kernels.scaled`; one whose scores spread too far for that is done in the log
domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.logdomain import arc_marginals, backward, forward, node_marginals
from trellis.lattice.kernels.scaled import enter, forward_in_step, log_product, spread_of
from trellis.lattice.kernels.vector import exp_into, four_products
from trellis.objective.boosting_sums_kernels import account, gold_score, loss_at

Array = Any


@kernel
def rerun(text: Array, now: Array, which: Array, straight_from: float, shift: float, ignored: float) -> None:
    """Forward-backward over the sentences `which`, I64[...], and what follows from it.

    A sentence has the weight exp(log_weight + min(excess, straight_from) - shift). Tokens where nothing has changed by
    more than `ignored` stay in the sums as they are."""
    width, labels = now.scores.shape[1], len(now.transitions)
    across, top, most = _transitions(now.transitions, width)
    down, longest = across.T.copy(), _longest(text, which)
    psi, alpha, both = np.ones((4 * longest, width)), np.ones((4 * longest, width)), np.ones((4 * longest, width))
    nodes = np.empty((longest, width))
    scale, step, arcs = np.ones(4 * longest), np.empty((4, width)), np.empty((width, width))
    gold_arcs, change = np.empty(longest), np.empty(width)
    length, log_z, too_far = np.zeros(4, np.int64), np.empty(4), np.zeros(4, np.bool_)
    for first in range(0, len(which), 4):
        longest = _enter_four(text, now, which, first, most, top, psi, length, log_z, too_far)
        forward_in_step(psi, down, longest, step, alpha, scale)
        _backward(psi, across, alpha, scale, longest, length, step, both)
        for w in range(min(4, len(which) - first)):
            s = which[first + w]
            if too_far[w]:
                log_z[w] = _in_log_domain(text, now, s, nodes, arcs, gold_arcs)
            else:
                log_z[w] -= log_product(scale, w, 4, length[w])
                _marginals(text, s, w, length[w], labels, across, alpha, psi, both, nodes, arcs, gold_arcs)
            account(text, now, s, log_z[w], straight_from, shift, ignored, nodes, arcs, gold_arcs, change)


@kernel
def loss_of(text: Array, now: Array, which: Array, straight_from: float, shift: float) -> float:
    """The loss of the sentences `which`, added up, by forward passes alone; nothing is changed."""
    width, labels = now.scores.shape[1], len(now.transitions)
    across, top, most = _transitions(now.transitions, width)
    down, longest = across.T.copy(), _longest(text, which)
    psi, alpha, scale = np.ones((4 * longest, width)), np.ones((4 * longest, width)), np.ones(4 * longest)
    step = np.empty((4, width))
    length, log_z, too_far = np.zeros(4, np.int64), np.empty(4), np.zeros(4, np.bool_)
    total = 0.0
    for first in range(0, len(which), 4):
        longest = _enter_four(text, now, which, first, most, top, psi, length, log_z, too_far)
        forward_in_step(psi, down, longest, step, alpha, scale)
        for w in range(min(4, len(which) - first)):
            s = which[first + w]
            if too_far[w]:
                rows = now.scores[text.offsets[s] : text.offsets[s + 1]]
                log_z[w] = forward(rows, now.transitions.reshape(1, labels, labels), 0, np.empty((len(rows), labels)))
            else:
                log_z[w] -= log_product(scale, w, 4, length[w])
            excess = max(log_z[w] - gold_score(text, now, s), 0.0)
            total += loss_at(excess, text.log_weight[s] - shift, straight_from)[0]
    return total


@part
def _transitions(scores: Array, width: int) -> Array:
    """exp(scores - top), F64[width, width]; the top; how far the scores of a token may spread, below 0 for not at all,
    before sums of paths would leave the range of numbers."""
    top, bottom, _ = spread_of(scores)
    across = np.zeros((width, width))
    for i in range(len(scores)):
        exp_into(scores[i], top, across[i, : len(scores)])
    return across, top, (600.0 if top - bottom <= 330.0 else -1.0) - (top - bottom)


@part
def _longest(text: Array, which: Array) -> int:
    longest = 0
    for s in which:
        longest = max(longest, text.offsets[s + 1] - text.offsets[s])
    return longest


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
