"""Forward-backward on dual numbers: every quantity of `scaled` with its derivative along a direction of the scores.

This is forward-mode algorithmic differentiation of that program (Pearlmutter 1994), the way to Hessian-vector products
that Tsuboi et al. compare theirs with: it starts from the scores each time, where `kept` goes on from what an earlier
pass has left. With s' = h on nodes and g on arcs, x' for the derivative of x, and r_t = -c'_t / c_t:

    psi'_t = psi_t h_t                     E' = E g
    a_t[j] = psi_t[j] sum_i alpha_(t-1)[i] E[i, j]          and a'_t by the product rule
    r_t = c_t sum_j a'_t[j]                alpha'_t = c_t (a'_t - r_t a_t)
    q'_t = c_t ((psi'_t - r_t psi_t) beta_t + psi_t beta'_t)
    beta'_(t-1)[i] = sum_j (E[i, j] q'_t[j] + E'[i, j] q_t[j])
    P'(y_t = j) = alpha'_t[j] beta_t[j] + alpha_t[j] beta'_t[j]
    P'(i, j) = alpha'_(t-1)[i] E[i, j] q_t[j] + alpha_(t-1)[i] E'[i, j] q_t[j] + alpha_(t-1)[i] E[i, j] q'_t[j]

P' is Cov[H, 1_e] (MATH section 4), and (log Z)' = sum_t r_t is E[H]. The maxima that are subtracted before exponentials
count as constants: whatever they are, they cancel in every marginal. The scales c_t are differentiated like all else.

What is exact and what is flagged to be done in another way is as in `scaled`: a derivative is its value times a
conditional expectation of H, so it leaves the range of numbers only where the value is near its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.scaled import enter, has_zero, spread_of, strays
from trellis.lattice.kernels.vector import add_product, exp_into, four_products, four_sums_of_products

Array = Any

_BUFFER, _STRIDE = 512, 520  # as in `scaled`


@kernel
def dual_marginals(
    scores: Array,
    transitions: Array,
    offsets: Array,
    order: Array,
    node_h: Array,
    arc_h: Array,
    weights: Array,
    nodes: Array,
    arcs: Array,
    expectation: Array,
    redo: Array,
) -> None:
    """scores, node_h: F64[tokens, width], transitions, arc_h: F64[labels, labels], offsets: I64[sentences + 1],
    weights: F64[sentences]; width and order as for `scaled_marginals`; node_h is finite also in the padding.

    Written: weights[s] P'(node) into nodes F64[tokens, width] (may be node_h itself; rows of flagged sentences stay as
    they are), weights[s] P'(arc) added to arcs F64[labels, labels], E[H] into expectation F64[sentences], redo
    BOOL[sentences].
    """
    width, labels = scores.shape[1], len(transitions)
    top, bottom, forbidden = spread_of(transitions)
    spread = top - bottom
    limit = 115.0 if forbidden else 600.0 if spread <= 330.0 else -1.0
    across, across_d = np.zeros((width, width)), np.zeros((width, width))  # E[i, j], E'[i, j]
    for i in range(labels):
        exp_into(transitions[i], top, across[i, :labels])
        for j in range(labels):
            across_d[i, j] = across[i, j] * arc_h[i, j]
    down, down_d = across.T.copy(), across_d.T.copy()
    longest = 0
    for s in range(len(order)):
        longest = max(longest, offsets[s + 1] - offsets[s])
    # rows 4 t + w: position t of the w-th sentence in step
    psi, psi_d = np.ones((4 * longest, width)), np.zeros((4 * longest, width))
    alpha, alpha_d = np.ones((4 * longest, width)), np.zeros((4 * longest, width))
    scale, rate = np.ones(4 * longest), np.zeros(4 * longest)
    step, step_d, nodes_d = np.empty((4, width)), np.empty((4, width)), np.empty((4 * longest, width))
    before, before_d = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    after, after_d = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    products, products_d = np.zeros((width, width)), np.zeros((width, width))
    waiting = 0
    shifts = np.zeros(len(order))  # what maxima add to log Z: constants here
    group, length = np.empty(4, np.int64), np.empty(4, np.int64)
    for first in range(0, len(order), 4):
        longest = 0
        for w in range(4):
            s = order[first + w] if first + w < len(order) else -1
            group[w], length[w] = s, offsets[s + 1] - offsets[s] if s >= 0 else 0
            if s >= 0:
                redo[s] = enter(scores, offsets[s], offsets[s + 1], limit - spread, psi, w, shifts, s)
            for t in range(length[w]):
                p, d, h = psi[4 * t + w], psi_d[4 * t + w], node_h[offsets[s] + t]
                for j in range(width):
                    d[j] = p[j] * h[j]
            longest = max(longest, length[w])
        for w in range(4):  # sentences that have ended, and flagged ones, go over neutral rows
            neutral = 0 if length[w] and redo[group[w]] else length[w]
            psi[4 * neutral + w : 4 * longest : 4, :] = 1.0
            psi_d[4 * neutral + w : 4 * longest : 4, :] = 0.0

        _forward(psi, psi_d, down, down_d, longest, step, step_d, alpha, alpha_d, scale, rate)
        _backward(
            psi, psi_d, across, across_d, alpha, alpha_d, scale, rate, longest, forbidden, group, length,
            step, step_d, nodes_d, redo,
        )  # fmt: skip

        for w in range(4):
            s = group[w]
            if s < 0:
                continue
            redo[s] = redo[s] or has_zero(scale, w, length[w])
            if redo[s]:
                continue
            weight, mean = weights[s], 0.0
            for t in range(length[w]):
                r, out = 4 * t + w, nodes[offsets[s] + t]
                mean += rate[r]
                for j in range(width):
                    out[j] = weight * nodes_d[r, j]
            expectation[s] = mean
            for t in range(1, length[w]):
                if waiting == _BUFFER:
                    _add_products(before, before_d, after, after_d, waiting, products, products_d)
                    waiting = 0
                r = 4 * t + w
                for j in range(width):
                    before[j, waiting] = weight * alpha[r - 4, j]
                    before_d[j, waiting] = weight * alpha_d[r - 4, j]
                for j in range(width):
                    after[j, waiting] = psi[r, j]
                    after_d[j, waiting] = psi_d[r, j]
                waiting += 1
    _add_products(before, before_d, after, after_d, waiting, products, products_d)
    for i in range(labels):
        for j in range(labels):
            arcs[i, j] += across_d[i, j] * products[i, j] + across[i, j] * products_d[i, j]


@part
def _forward(
    psi: Array,
    psi_d: Array,
    down: Array,
    down_d: Array,
    longest: int,
    step: Array,
    step_d: Array,
    alpha: Array,
    alpha_d: Array,
    scale: Array,
    rate: Array,
) -> None:
    """alpha and alpha', c and r."""
    width = psi.shape[1]
    for t in range(longest):
        if t == 0:
            step[:, :] = 1.0
            step_d[:, :] = 0.0
        else:
            b = 4 * t - 4
            four_products(alpha, b, b + 1, b + 2, b + 3, down, step)
            four_sums_of_products(alpha_d, b, alpha, b, down, down_d, step_d)
        for w in range(4):
            r = 4 * t + w
            for j in range(width):
                alpha[r, j] = step[w, j] * psi[r, j]
                alpha_d[r, j] = step_d[w, j] * psi[r, j] + step[w, j] * psi_d[r, j]
            total, total_d = 0.0, 0.0
            for j in range(width):
                total += alpha[r, j]
                total_d += alpha_d[r, j]
            c = 1.0 / total if total > 0.0 else 0.0
            change = c * total_d
            scale[r], rate[r] = c, change
            for j in range(width):
                alpha_d[r, j] = c * (alpha_d[r, j] - change * alpha[r, j])
                alpha[r, j] *= c


@part
def _backward(
    psi: Array,
    psi_d: Array,
    across: Array,
    across_d: Array,
    alpha: Array,
    alpha_d: Array,
    scale: Array,
    rate: Array,
    longest: int,
    forbidden: bool,
    group: Array,
    length: Array,
    step: Array,
    step_d: Array,
    nodes_d: Array,
    redo: Array,
) -> None:
    """P' of nodes, and q_t and q'_t in the places of psi_t and psi'_t."""
    width = psi.shape[1]
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            b = 4 * t + 4
            four_products(psi, b, b + 1, b + 2, b + 3, across, step)
            four_sums_of_products(psi_d, b, psi, b, across, across_d, step_d)
        for w in range(4):
            if t >= length[w] - 1 or redo[group[w]]:
                step[w, :] = 1.0
                step_d[w, :] = 0.0
            r = 4 * t + w
            c, change = scale[r], rate[r]
            for j in range(width):
                nodes_d[r, j] = alpha_d[r, j] * step[w, j] + alpha[r, j] * step_d[w, j]
            for j in range(width):
                p, on = psi[r, j], alpha[r, j] > 0.0
                psi_d[r, j] = c * ((psi_d[r, j] - change * p) * step[w, j] + p * step_d[w, j]) if on else 0.0
                psi[r, j] = p * c * step[w, j] if on else 0.0
            if forbidden and t < length[w] and strays(step, w, alpha, r):
                redo[group[w]] = True


@part
def _add_products(
    before: Array, before_d: Array, after: Array, after_d: Array, n: int, products: Array, products_d: Array
) -> None:
    add_product(before, after, n, products)
    add_product(before_d, after, n, products_d)
    add_product(before, after_d, n, products_d)
