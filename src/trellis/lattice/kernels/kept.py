"""More questions to sentences whose forward-backward pass has been kept: nothing here takes an exponential or divides.

Sentences went in step, four at a time (see `scaled`), and are kept that way: group n has the rows base[n]:base[n + 1],
row base[n] + 4 t + w for position t of its w-th sentence, all zeros where that has ended. Kept are alpha_t, beta_t and
k_t = c_t psi_t, all F64[rows, width], so that with E = exp(transitions - their maximum) and q_t = k_t beta_t

    alpha_t[j] = k_t[j] sum_i alpha_(t-1)[i] E[i, j]        P(y_t = j) = alpha_t[j] beta_t[j]
    beta_(t-1)[i] = sum_j E[i, j] q_t[j]                    P(y_(t-1) = i, y_t = j) = alpha_(t-1)[i] E[i, j] q_t[j]

The covariance pass (MATH section 4) has H add up h_t on nodes and g on arcs. With u_t = alpha_t A_t and v_t = q_t D_t,
where A_t and D_t are the expected sums of h up to and from node t on, given the node, and with E' = E g, it becomes

    u_t[j] = alpha_t[j] h_t[j] + k_t[j] left_t[j]     left_t[j] = sum_i (u_(t-1)[i] E[i, j] + alpha_(t-1)[i] E'[i, j])
    v_t[i] = q_t[i] h_t[i] + k_t[i] right_t[i]        right_t[i] = sum_j (E[i, j] v_(t+1)[j] + E'[i, j] q_(t+1)[j])
    E[H] = sum_j u_T[j]
    Cov[H, 1_(t,j)] = beta_t[j] (u_t[j] - E[H] alpha_t[j]) + alpha_t[j] right_t[j]
    Cov[H, 1_(i,j)] = P(i, j) g[i, j]
                      + sum_t E[i, j] ((u_(t-1)[i] - E[H] alpha_(t-1)[i]) q_t[j] + alpha_(t-1)[i] v_t[j])

(Tsuboi's A and B times alpha and q: then the conditional probabilities need no division.) Each pair of sums is one
product with rows of twice the width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.vector import add_product, four_sums_of_products

Array = Any

_BUFFER, _STRIDE = 512, 520  # as in `scaled`


@kernel
def kept_nodes(
    alpha: Array, beta: Array, offsets: Array, order: Array, base: Array, weights: Array, nodes: Array
) -> None:
    """weights[s] P(y_t = j) into nodes: F64[tokens, width], for the sentences `order` in which they were kept."""
    width = alpha.shape[1]
    for n in range(len(order)):
        s = order[n]
        weight, first = weights[s], base[n // 4] + n % 4
        for t in range(offsets[s + 1] - offsets[s]):
            a, b, out = alpha[first + 4 * t], beta[first + 4 * t], nodes[offsets[s] + t]
            for j in range(width):
                out[j] = weight * (a[j] * b[j])


@kernel
def kept_arcs(
    alpha: Array,
    beta: Array,
    step: Array,
    across: Array,
    offsets: Array,
    order: Array,
    base: Array,
    weights: Array,
    squared: bool,
    arcs: Array,
) -> None:
    """Adds sum_s weights[s] sum_t P(y_(t-1) = i, y_t = j), or the squares of these, to arcs: F64[labels, labels].

    weights: F64[sentences]; step: k; across: E, F64[width, width].
    """
    width, labels = across.shape[0], len(arcs)
    before, after = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    products = np.zeros((width, width))
    waiting = 0
    for n in range(len(order)):
        s = order[n]
        weight, first = weights[s], base[n // 4] + n % 4
        for t in range(1, offsets[s + 1] - offsets[s]):
            if waiting == _BUFFER:
                add_product(before, after, waiting, products)
                waiting = 0
            r = first + 4 * t
            for j in range(width):
                a, q = alpha[r - 4, j], step[r, j] * beta[r, j]
                before[j, waiting] = weight * (a * a if squared else a)
                after[j, waiting] = q * q if squared else q
            waiting += 1
    add_product(before, after, waiting, products)
    for i in range(labels):
        for j in range(labels):
            e = across[i, j]
            arcs[i, j] += (e * e if squared else e) * products[i, j]


@kernel
def kept_covariance(
    alpha: Array,
    beta: Array,
    step: Array,
    across: Array,
    offsets: Array,
    order: Array,
    base: Array,
    node_h: Array,
    arc_h: Array,
    weights: Array,
    want_arcs: bool,
    node_cov: Array,
    arc_cov: Array,
    expectation: Array,
) -> None:
    """weights[s] Cov[H, 1_node] into node_cov: F64[tokens, width] (may be node_h: F64[tokens, width], itself); the
    same of arcs added to arc_cov: F64[labels, labels], but for P(i, j) g[i, j], which is left out (it is g times
    `kept_arcs`); E[H] into expectation: F64[sentences]. Rows of `order` below zero are no sentences."""
    width, labels = across.shape[0], len(arc_h)
    behind, changed = across.T.copy(), np.zeros((width, width))  # E[j, i], E'[i, j]
    for i in range(labels):
        for j in range(labels):
            changed[i, j] = across[i, j] * arc_h[i, j]
    changed_behind = changed.T.copy()
    longest = 0
    for n in range(len(base) - 1):
        longest = max(longest, base[n + 1] - base[n])
    h, q, u = np.empty((longest, width)), np.empty((longest, width)), np.empty((longest, width))
    v, left, right = np.empty((longest, width)), np.empty((4, width)), np.empty((longest, width))
    before, after = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    products = np.zeros((width, width))
    waiting = 0
    mean, weight, sentence, length = np.zeros(4), np.zeros(4), np.zeros(4, np.int64), np.zeros(4, np.int64)
    for n in range(len(base) - 1):
        first, rows = base[n], base[n + 1] - base[n]
        a, b = alpha[first : first + rows], beta[first : first + rows]
        for w in range(4):
            s = order[4 * n + w] if 4 * n + w < len(order) else -1
            sentence[w], length[w] = s, offsets[s + 1] - offsets[s] if s >= 0 else 0
            weight[w] = weights[s] if s >= 0 else 0.0
            for t in range(length[w]):
                h[4 * t + w, :] = node_h[offsets[s] + t]
            for t in range(length[w], rows // 4):
                h[4 * t + w, :] = 0.0
        _from_the_left(alpha, step, h, behind, changed_behind, first, rows, left, u)
        _from_the_right(beta, step, h, across, changed, first, rows, q, right, v)
        for w in range(4):
            mean[w] = 0.0
            if length[w] > 0:
                for j in range(width):
                    mean[w] += u[4 * length[w] - 4 + w, j] * b[4 * length[w] - 4 + w, j]
            if sentence[w] >= 0:
                expectation[sentence[w]] = mean[w]
        for r in range(rows):
            e, f = mean[r % 4], weight[r % 4]
            for j in range(width):
                u[r, j] = f * (u[r, j] - e * a[r, j])
        for w in range(4):
            for t in range(length[w]):
                r, f, out = 4 * t + w, weight[w], node_cov[offsets[sentence[w]] + t]
                for j in range(width):
                    out[j] = b[r, j] * u[r, j] + f * (a[r, j] * right[r, j])
        for r in range(4, rows if want_arcs else 0):
            if waiting + 2 > _BUFFER:
                add_product(before, after, waiting, products)
                waiting = 0
            f = weight[r % 4]
            for j in range(width):
                before[j, waiting] = u[r - 4, j]
                before[j, waiting + 1] = f * a[r - 4, j]
            for j in range(width):
                after[j, waiting] = q[r, j]
                after[j, waiting + 1] = v[r, j]
            waiting += 2
    add_product(before, after, waiting, products)
    for i in range(labels):
        for j in range(labels):
            arc_cov[i, j] += across[i, j] * products[i, j]


@part
def _from_the_left(
    alpha: Array, k: Array, h: Array, behind: Array, changed: Array, first: int, rows: int, left: Array, u: Array
) -> None:
    """u of the group whose rows begin at `first`."""
    for r in range(0, rows, 4):
        if r > 0:
            four_sums_of_products(u, r - 4, alpha, first + r - 4, behind, changed, left, 0)
        else:
            left[:, :] = 0.0
        for w in range(4):
            a, c, hr, lr, out = alpha[first + r + w], k[first + r + w], h[r + w], left[w], u[r + w]
            for j in range(len(out)):
                out[j] = a[j] * hr[j] + c[j] * lr[j]


@part
def _from_the_right(
    beta: Array,
    k: Array,
    h: Array,
    across: Array,
    changed: Array,
    first: int,
    rows: int,
    q: Array,
    right: Array,
    v: Array,
) -> None:
    """q, right and v of the group whose rows begin at `first`."""
    for r in range(rows - 4, -1, -4):
        if r < rows - 4:
            four_sums_of_products(v, r + 4, q, r + 4, across, changed, right, r)
        else:
            right[r : r + 4] = 0.0
        for w in range(4):
            b, c, hr, qr, out = beta[first + r + w], k[first + r + w], h[r + w], q[r + w], v[r + w]
            rr = right[r + w]
            for j in range(len(out)):
                qr[j] = b[j] * c[j]
            for j in range(len(out)):
                out[j] = c[j] * (b[j] * hr[j] + rr[j])
