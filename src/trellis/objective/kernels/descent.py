"""A pass of stochastic gradient descent over the sentences of a shard, compiled as a whole.

Four sentences of about the same length go in step as in `lattice.kernels.scaled` and make one update. Every attribute a
has a rate of its own, eta_a, and the prior is taken at its occurrences, in n_a equal parts of an epoch,

    theta_a <- (1 - eta_a l2 / n_a) theta_a - eta_a x dL/ds        at each token with the value x of attribute a

so that nothing is done for attributes that do not occur. The weights of a shard lie as its scoring has them: rows of
those attributes that are seen with many labels, single weights, transitions. Cells of rows without a weight stay 0:
`mask` says which have one.

Probabilities are rescaled but never redone in the log domain: a sentence whose scores spread too far for that (see
`scaled`) is left out of the update, and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.scaled import enter, forward_in_step, log_product, spread_of
from trellis.lattice.kernels.vector import add_product, exp_into, four_products

Array = Any

_MOST_SPREAD, _BUFFER, _STRIDE = 600.0, 512, 520  # see `scaled`


@kernel
def rates_at(step: float, gain: Array, pull: Array, rate: Array, kept: Array) -> None:
    """rate = step gain, but at most 1 / pull, and kept = 1 - rate pull, all of any one shape.

    With the rate 1 / pull = n / l2, a step already ends at the minimum that its slope and the prior have."""
    gains, pulls, rates, left = gain.ravel(), pull.ravel(), rate.ravel(), kept.ravel()
    for k in range(len(gains)):
        eta = step * gains[k]
        over = eta * pulls[k] > 1.0
        rates[k] = 1.0 / pulls[k] if over else eta
        left[k] = 0.0 if over else 1.0 - eta * pulls[k]


@kernel
def descent_pass(
    groups: Array,
    offsets: Array,
    gold: Array,
    rows: Array,
    weights: Array,
    transitions: Array,
    mask: Array,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
    row_rate: Array,
    row_kept: Array,
    pair_rate: Array,
    pair_kept: Array,
    arc_rate: Array,
    arc_kept: Array,
) -> Array:
    """One update for each group I64[groups, 4] of sentences (-1: none).

    Given are of each row and single weight the rate eta_a and what the prior leaves of it at an occurrence, 1 - eta_a
    l2 / n_a; of each transition the rate and what the prior leaves of it in an update, F64[labels, labels] both.
    rows, weights and transitions are changed; returns the log loss of the sentences, each before its own update, and
    how many were left out.
    """
    width, labels = rows.shape[1], len(transitions)
    valued = len(row_value) > 0 or len(pair_value) > 0
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    psi, alpha, nodes = np.ones((4 * longest, width)), np.ones((4 * longest, width)), np.empty((4 * longest, width))
    scale, step = np.ones(4 * longest), np.empty((4, width))
    across, down, products = np.zeros((width, width)), np.zeros((width, width)), np.zeros((width, width))
    start, length, first = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4, np.int64)
    before, after = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    log_z, left_out = np.empty(4), np.zeros(4, np.bool_)
    value, missing = 0.0, 0
    for g in range(len(groups)):
        top, bottom, _ = spread_of(transitions)
        for i in range(labels):
            exp_into(transitions[i], top, across[i, :labels])
        for i in range(labels):
            for j in range(labels):
                down[j, i] = across[i, j]
        longest, used = 0, 0
        for w in range(4):
            s = groups[g, w]
            start[w], length[w], first[w] = 0, 0, used
            if s < 0:
                continue
            start[w], length[w] = offsets[s], offsets[s + 1] - offsets[s]
            for t in range(length[w]):
                _score(
                    start[w] + t, labels, rows, weights, valued,
                    dense, row, row_value, sparse, pair, label, pair_value, nodes[used + t],
                )  # fmt: skip
            left_out[w] = enter(nodes, used, used + length[w], _MOST_SPREAD - (top - bottom), psi, w, log_z, w)
            for t in range(length[w]):
                y = gold[start[w] + t]
                log_z[w] -= nodes[used + t, y]
                if t > 0:
                    log_z[w] += top - transitions[gold[start[w] + t - 1], y]
            used += length[w]
            if left_out[w]:
                missing += 1
                length[w] = 0
                continue
            longest = max(longest, length[w])
        for w in range(4):
            psi[4 * length[w] + w : 4 * longest : 4, :] = 1.0
        forward_in_step(psi, down, longest, step, alpha, scale)
        _backward(psi, across, alpha, scale, longest, first, length, step, nodes)
        for w in range(4):
            if length[w] > 0:
                value += log_z[w] - log_product(scale, w, 4, length[w])
        _sum_arcs(alpha, psi, length, before, after, products)
        for w in range(4):
            for t in range(length[w]):
                k, d = start[w] + t, nodes[first[w] + t]
                d[gold[k]] -= 1.0
                if t > 0:
                    # the gold transition's own gradient, which the product below takes off again
                    i, j = gold[k - 1], gold[k]
                    products[i, j] -= 1.0 / across[i, j]
                _update(
                    k, d, rows, weights, mask, valued, dense, row, row_value, sparse, pair, label, pair_value,
                    row_rate, row_kept, pair_rate, pair_kept,
                )  # fmt: skip
        for i in range(labels):
            for j in range(labels):
                v = arc_kept[i, j] * transitions[i, j]
                transitions[i, j] = v - arc_rate[i, j] * (across[i, j] * products[i, j])
    return value, missing


@part
def _score(
    t: int,
    labels: int,
    rows: Array,
    weights: Array,
    valued: bool,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
    out: Array,
) -> None:
    """As `scoring.kernels.add_scores`, for one token."""
    width = len(out)
    for j in range(width):
        out[j] = 0.0
    k, end = dense[t], dense[t + 1]
    while k + 4 <= end and not valued:
        w0, w1, w2, w3 = rows[row[k]], rows[row[k + 1]], rows[row[k + 2]], rows[row[k + 3]]
        for j in range(width):
            out[j] += (w0[j] + w1[j]) + (w2[j] + w3[j])
        k += 4
    while k < end:
        w0 = rows[row[k]]
        v = row_value[k] if valued else 1.0
        for j in range(width):
            out[j] += v * w0[j]
        k += 1
    for k in range(sparse[t], sparse[t + 1]):
        out[label[k]] += weights[pair[k]] * (pair_value[k] if valued else 1.0)
    for j in range(labels, width):
        out[j] = -np.inf


@part
def _update(
    t: int,
    d: Array,
    rows: Array,
    weights: Array,
    mask: Array,
    valued: bool,
    dense: Array,
    row: Array,
    row_value: Array,
    sparse: Array,
    pair: Array,
    label: Array,
    pair_value: Array,
    row_rate: Array,
    row_kept: Array,
    pair_rate: Array,
    pair_kept: Array,
) -> None:
    """Changes every weight that bears on token t, where the gradient in the scores is d."""
    for k in range(dense[t], dense[t + 1]):
        r = row[k]
        w, m, kept = rows[r], mask[r], row_kept[r]
        rate = row_rate[r] * (row_value[k] if valued else 1.0)
        for j in range(len(d)):
            w[j] = kept * w[j] - rate * d[j] * m[j]
    for k in range(sparse[t], sparse[t + 1]):
        p = pair[k]
        rate = pair_rate[p] * (pair_value[k] if valued else 1.0)
        weights[p] = pair_kept[p] * weights[p] - rate * d[label[k]]


@part
def _backward(
    psi: Array,
    across: Array,
    alpha: Array,
    scale: Array,
    longest: int,
    first: Array,
    length: Array,
    step: Array,
    nodes: Array,
) -> None:
    """Node marginals of the w-th sentence from row first[w] on, and q_t in the place of psi_t."""
    width = psi.shape[1]
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            four_products(psi, 4 * t + 4, 4 * t + 5, 4 * t + 6, 4 * t + 7, across, step)
        for w in range(4):
            if t >= length[w] - 1:
                step[w, :] = 1.0
            r = 4 * t + w
            c = scale[r]
            for j in range(width):
                psi[r, j] = psi[r, j] * c * step[w, j]
            if t < length[w]:
                out = nodes[first[w] + t]
                for j in range(width):
                    out[j] = alpha[r, j] * step[w, j]


@part
def _sum_arcs(alpha: Array, q: Array, length: Array, before: Array, after: Array, products: Array) -> None:
    """products[i, j] = sum_t alpha_(t-1)[i] q_t[j] over all four sentences."""
    products[:, :] = 0.0
    waiting = 0
    for w in range(4):
        for r in range(4 + w, 4 * length[w], 4):
            if waiting == _BUFFER:
                add_product(before, after, waiting, products)
                waiting = 0
            for j in range(len(products)):
                before[j, waiting] = alpha[r - 4, j]
                after[j, waiting] = q[r, j]
            waiting += 1
    add_product(before, after, waiting, products)
