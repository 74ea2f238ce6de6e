"""Forward-backward over the allowed labels of each token, in the probability domain.

The recursions and the rule for when they are exact are those of `scaled`, with sums over the labels that are allowed
on both sides of an arc. Most tokens have a handful of them, so sentences go one by one and arcs one by one.

Scores and answers are packed, one number a place: token t has places[t]:places[t + 1], for the labels
labels[start[k]:start[k + 1]] of its set k = which[t]. A set as large as the number of labels is all of them, in order;
loops over it are vector code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_part, part
from trellis.lattice.kernels.scaled import HUGE, TINY, log_product, spread_of
from trellis.lattice.kernels.vector import exp_into

Array = Any


@kernel
def restricted_marginals(
    scores: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    transitions: Array,
    offsets: Array,
    nodes: Array,
    arcs: Array,
    log_z: Array,
    redo: Array,
) -> None:
    """scores: F64[places], transitions: F64[labels, labels], offsets: I64[sentences + 1].

    Written: nodes F64[places], arcs F64[labels, labels] (expected transitions are added, over sentences not flagged),
    log_z F64[sentences], redo BOOL[sentences]: those to be answered in the log domain.
    """
    size = len(transitions)
    top, bottom, forbidden = spread_of(transitions)
    spread = top - bottom
    limit = 115.0 if forbidden else 600.0 if spread <= 330.0 else -1.0
    across = np.empty((size, size))  # E[i, j]
    for i in range(size):
        exp_into(transitions[i], top, across[i])
    down = across.T.copy()  # E[j, i]
    psi, alpha, beta = np.empty(len(scores)), np.empty(len(scores)), np.empty(size)
    scale = np.empty(len(which))
    products, turned = np.zeros((size, size)), np.zeros((size, size))
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        log_z[s] = 0.0
        redo[s] = False
        if a == b:
            continue
        total, too_far = _enter(scores, places, a, b, limit - spread, alpha)
        exp_into(alpha[places[a] : places[b]], 0.0, psi[places[a] : places[b]])
        dead = _forward(psi, places, which, start, labels, across, down, a, b, alpha, scale)
        redo[s] = too_far or dead
        if not redo[s]:
            redo[s] = _backward(
                psi, places, which, start, labels, across, down, a, b, alpha, scale, forbidden, beta, nodes
            )
        if not redo[s]:
            log_z[s] = total + top * (b - a - 1) - log_product(scale, a, 1, b - a)
            _add_arcs(alpha, psi, places, which, start, labels, a, b, products, turned)
    for i in range(size):
        for j in range(size):
            arcs[i, j] += across[i, j] * (products[i, j] + turned[j, i])


@part
def _enter(scores: Array, places: Array, a: int, b: int, limit: float, out: Array) -> Any:
    """out = scores minus the largest of their token; the sum of those, and whether a token's scores spread too far."""
    total, too_far = 0.0, False
    for t in range(a, b):
        p, q = places[t], places[t + 1]
        high, low = -np.inf, np.inf
        for k in range(p, q):
            v = scores[k]
            high = max(high, v)
            low = min(low, v if v > -np.inf else np.inf)
        if high == -np.inf or not high - low <= limit:
            too_far = True
            high = 0.0 if high == -np.inf else high
        for k in range(p, q):
            out[k] = scores[k] - high
        total += high
    return total, too_far


@part
def _forward(
    psi: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    across: Array,
    down: Array,
    a: int,
    b: int,
    alpha: Array,
    scale: Array,
) -> Any:
    """alpha and c; whether all paths have died."""
    dead = False
    for t in range(a, b):
        p, q = places[t], places[t + 1]
        total = 0.0
        if t == a:
            for k in range(p, q):
                alpha[k] = psi[k]
                total += psi[k]
        else:
            u, v, o = start[which[t - 1]], start[which[t]], places[t - 1]
            if q - p == len(across):
                _to_all(alpha, o, p - o, labels, u, across, alpha, p)
            elif p - o == len(across):
                _from_all(alpha, o, down, labels, v, alpha, p, q - p)
            else:
                _few_to_few(alpha, o, p - o, labels, u, down, v, alpha, p, q - p)
            for k in range(p, q):
                alpha[k] *= psi[k]
                total += alpha[k]
        c = 1.0 / total if total > 0.0 else 0.0
        scale[t] = c
        dead |= c == 0.0
        for k in range(p, q):
            alpha[k] *= c
    return dead


@part
def _backward(
    psi: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    across: Array,
    down: Array,
    a: int,
    b: int,
    alpha: Array,
    scale: Array,
    forbidden: bool,
    beta: Array,
    nodes: Array,
) -> Any:
    """Node marginals, and q_t in the place of psi_t; whether a number has left the range in which nothing is lost."""
    strays = False
    for t in range(b - 1, a - 1, -1):
        p, q = places[t], places[t + 1]
        if t == b - 1:
            beta[: q - p] = 1.0
        else:
            u, v, r = start[which[t + 1]], start[which[t]], places[t + 2]
            if q - p == len(across):
                _to_all(psi, q, r - q, labels, u, down, beta, 0)
            elif r - q == len(across):
                _from_all(psi, q, across, labels, v, beta, 0, q - p)
            else:
                _few_to_few(psi, q, r - q, labels, u, across, v, beta, 0, q - p)
        c = scale[t]
        for k in range(p, q):
            x, y = alpha[k], beta[k - p]
            nodes[k] = x * y
            psi[k] = psi[k] * c * y if x > 0.0 else 0.0
        if forbidden:
            for k in range(p, q):
                x, y = alpha[k], beta[k - p]
                strays |= x > 0.0 and (x < TINY or not y <= HUGE or (y > 0.0 and y < TINY))
    return strays


@part
def _to_all(x: Array, p: int, n: int, labels: Array, u: int, m: Array, y: Array, q: int) -> None:
    """y[q + j] = sum_i x[p + i] m[label i, j] for all labels j; the n labels i are listed from u on."""
    for j in range(len(m)):
        y[q + j] = 0.0
    for i in range(n):
        value, row = x[p + i], m[labels[u + i]]
        for j in range(len(m)):
            y[q + j] += value * row[j]


@part
def _from_all(x: Array, p: int, mt: Array, labels: Array, v: int, y: Array, q: int, n: int) -> None:
    """y[q + j] = sum_i x[p + i] mt[label j, i] over all labels i; the n labels j are listed from v on."""
    for j in range(n):
        row = mt[labels[v + j]]
        total = 0.0
        for i in range(len(row)):
            total += x[p + i] * row[i]
        y[q + j] = total


@ordered_part  # vector code would only be in the way of such short loops
def _few_to_few(
    x: Array, p: int, n: int, labels: Array, u: int, mt: Array, v: int, y: Array, q: int, count: int
) -> None:
    """y[q + j] = sum_i x[p + i] mt[label j, label i]; n labels i from u on, `count` labels j from v on."""
    for j in range(count):
        row = mt[labels[v + j]]
        total = 0.0
        for i in range(n):
            total += x[p + i] * row[labels[u + i]]
        y[q + j] = total


@part
def _add_arcs(
    alpha: Array,
    after: Array,
    places: Array,
    which: Array,
    start: Array,
    labels: Array,
    a: int,
    b: int,
    products: Array,
    turned: Array,
) -> None:
    """products[i, j] or turned[j, i] += alpha_(t-1)[i] q_t[j] for all arcs of a sentence: whichever has the longer
    list in its rows."""
    size = len(products)
    for t in range(a + 1, b):
        p, q, r = places[t - 1], places[t], places[t + 1]
        u, v = start[which[t - 1]], start[which[t]]
        if r - q == size:
            for i in range(q - p):
                x, row = alpha[p + i], products[labels[u + i]]
                for j in range(size):
                    row[j] += x * after[q + j]
        elif q - p == size:
            for j in range(r - q):
                y, row = after[q + j], turned[labels[v + j]]
                for i in range(size):
                    row[i] += alpha[p + i] * y
        else:
            for i in range(q - p):
                x, row = alpha[p + i], products[labels[u + i]]
                for j in range(r - q):
                    row[labels[v + j]] += x * after[q + j]
