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
    Cov[H, 1_(i,j)] = E[i, j] ((u_(t-1)[i] - E[H] alpha_(t-1)[i]) q_t[j] + alpha_(t-1)[i] v_t[j]) + P(i, j) g[i, j]

(Tsuboi's A and B times alpha and q: then the conditional probabilities need no division.)

For Hessian-vector products alpha, beta and k are kept in single precision, and the covariance pass is done in it: half
the memory, and twice as many numbers in a register. No gradient comes from them; a direction of Newton's method that is
off by one part in a million is as good. Three things see to it that it is no more:

    h_t has its mean over P(y_t) taken away first, and g is given with about its mean over arcs taken away. This adds
    the same to all paths, so that no covariance changes, and u_t does not grow with t only to cancel against E[H].
    Sums over more than four sentences, of arcs and of gradients, are in double precision.
    Numbers below 1e-25 are kept as 0. None above 1e15 are kept at all (the lattices stay as they are), so that what is
    lost had a probability below 1e-10.

(Products on CoNLL-2000 after 20 iterations of L-BFGS: off by 5e-7 of the largest entry. Nodes of a sentence of 1300
tokens, with h and g that have means of their own: 2e-5; without taking them away 2e-3.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.vector import add_outer_products, add_product, four_sums_of_products

Array = Any

_BUFFER, _STRIDE = 512, 520  # as in `scaled`
SMALLEST, LARGEST = 1e-25, 1e15  # numbers that are kept in single precision


@kernel
def narrow(values: Array, out: Array) -> bool:
    """values >= 0: F64[n], into out: F32[n], with zeros for those that are too small or too large; false if there are
    such that are too large."""
    beyond = False
    for k in range(len(out)):
        large = values[k] > LARGEST
        beyond |= large
        out[k] = 0.0 if large | (values[k] < SMALLEST) else values[k]
    return not beyond


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
    more_h: Array,
    weights: Array,
    want_arcs: bool,
    node_cov: Array,
    arc_cov: Array,
    expectation: Array,
) -> None:
    """weights[s] Cov[H, 1_node] into node_cov: F64[tokens, width] (may be node_h: F64[tokens, width], itself); the
    same of arcs added to arc_cov: F64[labels, labels], but for P(i, j) g[i, j], which is left out (it is g times
    `kept_arcs`); E[H] into expectation: F64[sentences]. Rows of `order` below zero are no sentences.

    g is arc_h: F64[labels, labels], and at some tokens more on some arcs, `ArcEntries` (none, if that is empty).

    alpha, beta, step and across may all be F32, node_h and node_cov either."""
    width, labels, kind = across.shape[0], len(arc_h), alpha.dtype
    behind, changed = across.T.copy(), np.zeros((width, width), kind)  # E[j, i], E'[i, j]
    for i in range(labels):
        for j in range(labels):
            changed[i, j] = across[i, j] * arc_h[i, j]
    changed_behind = changed.T.copy()
    longest = 0
    for n in range(len(base) - 1):
        longest = max(longest, base[n + 1] - base[n])
    h, u = np.empty((longest, width), kind), np.empty((longest, width), kind)
    mean, weight = np.empty((4, width), kind), np.empty((4, width), kind)  # all columns alike
    start, length, shift = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4)
    sums, products = np.empty((width, width), kind), np.zeros((width, width))
    for n in range(len(base) - 1):
        first, steps = base[n], (base[n + 1] - base[n]) // 4
        for w in range(4):
            s = order[4 * n + w] if 4 * n + w < len(order) else -1
            start[w], length[w] = (offsets[s], offsets[s + 1] - offsets[s]) if s >= 0 else (0, 0)
            weight[w] = weights[s] if s >= 0 else 0.0
            shift[w] = _enter(node_h, alpha, beta, start[w], length[w], first, steps, w, h)
        _from_the_left(alpha, step, h, behind, changed_behind, across, more_h, first, steps, start, length, u)
        for w in range(4):
            last = 4 * length[w] - 4 + w
            mean[w] = _dot(u, last, beta, first + last) if length[w] > 0 else 0.0
            if 4 * n + w < len(order) and order[4 * n + w] >= 0:
                expectation[order[4 * n + w]] = shift[w] + mean[w, 0]
        _centre(u, mean, alpha, first, steps)
        sums[:, :] = 0.0
        _from_the_right(
            alpha, beta, step, h, u, weight, across, changed, more_h, first, steps, start, length,
            want_arcs, node_cov, sums, arc_cov,
        )  # fmt: skip
        for i in range(width):
            for j in range(width):
                products[i, j] += sums[i, j]
    for i in range(labels):
        for j in range(labels):
            arc_cov[i, j] += across[i, j] * products[i, j]


@part
def _enter(
    node_h: Array, alpha: Array, beta: Array, start: int, length: int, first: int, steps: int, w: int, h: Array
) -> float:
    """h_t - E[h_t] of a sentence into the w-th place of its group, with zeros where it has ended; sum_t E[h_t]."""
    shift = 0.0
    for t in range(length):
        r, token, mean = 4 * t + w, start + t, h.dtype.type(0)
        for j in range(h.shape[1]):
            mean += alpha[first + r, j] * beta[first + r, j] * h.dtype.type(node_h[token, j])
        for j in range(h.shape[1]):
            h[r, j] = node_h[token, j] - mean
        shift += mean
    for t in range(length, steps):
        for j in range(h.shape[1]):
            h[4 * t + w, j] = 0.0
    return shift


# Below, the four rows of a position are also seen as one that is four times as wide: fewer and longer loops.


@part
def _from_the_left(
    alpha: Array,
    k: Array,
    h: Array,
    behind: Array,
    changed: Array,
    across: Array,
    more_h: Array,
    first: int,
    steps: int,
    start: Array,
    length: Array,
    u: Array,
) -> None:
    """u of the group whose rows begin at `first`."""
    four, at = 4 * u.shape[1], first // 4
    left = np.zeros((4, u.shape[1]), u.dtype)
    a4, k4, h4 = alpha.reshape(-1, four), k.reshape(-1, four), h.reshape(-1, four)
    left4, u4 = left.reshape(four), u.reshape(-1, four)
    for t in range(steps):
        if t > 0:
            four_sums_of_products(u, 4 * t - 4, alpha, first + 4 * t - 4, behind, changed, left)
        if t > 0 and len(more_h.value) > 0:
            for w in range(4):
                if t < length[w]:
                    _add_entries_left(more_h, start[w] + t, alpha[first + 4 * t - 4 + w], across, left[w])
        for j in range(four):
            u4[t, j] = a4[at + t, j] * h4[t, j] + k4[at + t, j] * left4[j]


@part
def _dot(x: Array, r: int, y: Array, s: int) -> Any:
    total = x.dtype.type(0)
    for j in range(x.shape[1]):
        total += x[r, j] * y[s, j]
    return total


@part
def _centre(u: Array, mean: Array, alpha: Array, first: int, steps: int) -> None:
    """u - E[H] alpha in the place of u."""
    four, at = 4 * u.shape[1], first // 4
    u4, mean4, a4 = u.reshape(-1, four), mean.reshape(four), alpha.reshape(-1, four)
    for t in range(steps):
        for j in range(four):
            u4[t, j] -= mean4[j] * a4[at + t, j]


@part
def _from_the_right(
    alpha: Array,
    beta: Array,
    k: Array,
    h: Array,
    u: Array,
    weight: Array,
    across: Array,
    changed: Array,
    more_h: Array,
    first: int,
    steps: int,
    start: Array,
    length: Array,
    want_arcs: bool,
    node_cov: Array,
    sums: Array,
    arc_cov: Array,
) -> None:
    """Covariances of a group whose u is centred, as they come; q, v and `right` of one position at a time, all times
    the weights of their sentences."""
    width, four, at = u.shape[1], 4 * u.shape[1], first // 4
    q, v = np.empty((4, width), u.dtype), np.empty((4, width), u.dtype)
    right, cov = np.zeros((4, width), u.dtype), np.empty((4, width), u.dtype)
    a4, b4, k4 = alpha.reshape(-1, four), beta.reshape(-1, four), k.reshape(-1, four)
    h4, u4, weight4 = h.reshape(-1, four), u.reshape(-1, four), weight.reshape(four)
    q4, v4, right4, cov4 = q.reshape(four), v.reshape(four), right.reshape(four), cov.reshape(four)
    for t in range(steps - 1, -1, -1):
        if t < steps - 1:
            four_sums_of_products(v, 0, q, 0, across, changed, right)
            if want_arcs:
                add_outer_products(u, 4 * t, alpha, first + 4 * t, q, v, sums)
            if len(more_h.value) > 0:
                for w in range(4):
                    if t + 1 < length[w]:
                        _add_entries_right(
                            more_h, start[w] + t + 1, q[w], across, alpha[first + 4 * t + w], want_arcs, right[w],
                            arc_cov,
                        )  # fmt: skip
        for j in range(four):
            cov4[j] = weight4[j] * b4[at + t, j] * u4[t, j] + a4[at + t, j] * right4[j]
        for w in range(4):
            if t < length[w]:
                token = start[w] + t
                for j in range(width):
                    node_cov[token, j] = cov[w, j]
        for j in range(four):
            q4[j] = weight4[j] * (b4[at + t, j] * k4[at + t, j])
        for j in range(four):
            v4[j] = q4[j] * h4[t, j] + k4[at + t, j] * right4[j]


@part
def _add_entries_left(more_h: Array, token: int, alpha: Array, across: Array, left: Array) -> None:
    """left_t[j] += alpha_(t-1)[i] E[i, j] g[i, j] for what is listed of g at the token."""
    before, here, value = more_h.before, more_h.here, more_h.value
    for e in range(more_h.start[token], more_h.start[token + 1]):
        i, j = before[e], here[e]
        left[j] += alpha[i] * across[i, j] * value[e]


@part
def _add_entries_right(
    more_h: Array, token: int, q: Array, across: Array, alpha: Array, want_arcs: bool, right: Array, arc_cov: Array
) -> None:
    """right_(t-1)[i] += E[i, j] q_t[j] g[i, j], and P(i, j) g[i, j] to the covariance of the arc."""
    before, here, value = more_h.before, more_h.here, more_h.value
    for e in range(more_h.start[token], more_h.start[token + 1]):
        i, j = before[e], here[e]
        added = across[i, j] * q[j] * value[e]
        right[i] += added
        if want_arcs:
            arc_cov[i, j] += alpha[i] * added
