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

from trellis.jit import kernel, part
from trellis.lattice.kernels.places import few_to_few, from_all, lower, meet, to_all, weigh
from trellis.lattice.kernels.scaled import log_product, spread_of
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
    psi, alpha = np.empty(len(scores)), np.empty(len(scores))
    scale = np.empty(len(which))
    products, turned = np.zeros((size, size)), np.zeros((size, size))
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        log_z[s] = 0.0
        redo[s] = False
        if a == b:
            continue
        total, too_far = _enter(scores, places, a, b, size, limit - spread, alpha)
        exp_into(alpha[places[a] : places[b]], 0.0, psi[places[a] : places[b]])
        dead = _forward(psi, places, which, start, labels, across, down, a, b, alpha, scale)
        redo[s] = too_far or dead
        if not redo[s]:
            redo[s] = _backward(psi, places, which, start, labels, across, down, a, b, alpha, scale, forbidden, nodes)
        if not redo[s]:
            log_z[s] = total + top * (b - a - 1) - log_product(scale, a, 1, b - a)
            _add_arcs(alpha, psi, places, which, start, labels, a, b, products, turned)
    for i in range(size):
        for j in range(size):
            arcs[i, j] += across[i, j] * (products[i, j] + turned[j, i])


@part
def _enter(scores: Array, places: Array, a: int, b: int, size: int, limit: float, out: Array) -> Any:
    """out = scores minus the largest of their token; the sum of those, and whether a token's scores spread too far."""
    total, too_far = 0.0, False
    for t in range(a, b):
        p, q = places[t], places[t + 1]
        if q - p == size:
            high, far = lower(scores[p:q], 0, size, limit, out[p:q])
        else:
            high, far = lower(scores, p, q, limit, out)
        total += high
        too_far |= far
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
    size, dead = len(across), False
    for t in range(a, b):
        p, q = places[t], places[t + 1]
        o, u, v = places[max(t - 1, a)], start[which[max(t - 1, a)]], start[which[t]]
        if t == a:
            alpha[p:q] = 1.0
        elif q - p == size:
            to_all(alpha[o:p], labels, u, across, alpha[p:q])
        elif p - o == size:
            from_all(alpha[o:p], down, labels, v, alpha, p, q - p)
        else:
            few_to_few(alpha, o, p - o, labels, u, down, v, alpha, p, q - p)
        c = weigh(alpha[p:q], psi[p:q], 0, size) if q - p == size else weigh(alpha, psi, p, q)
        scale[t] = c
        dead |= c == 0.0
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
    nodes: Array,
) -> Any:
    """Node marginals, and q_t in the place of psi_t; whether a number has left the range in which nothing is lost."""
    size, strays = len(across), False
    for t in range(b - 1, a - 1, -1):
        p, q = places[t], places[t + 1]
        n, u, v = places[min(t + 2, b)] - q, start[which[min(t + 1, b - 1)]], start[which[t]]
        if t == b - 1:
            nodes[p:q] = 1.0
        elif q - p == size:
            to_all(psi[q : q + n], labels, u, down, nodes[p:q])
        elif n == size:
            from_all(psi[q : q + n], across, labels, v, nodes, p, q - p)
        else:
            few_to_few(psi, q, n, labels, u, across, v, nodes, p, q - p)
        if q - p == size:
            strays |= meet(alpha[p:q], nodes[p:q], psi[p:q], 0, size, scale[t], forbidden)
        else:
            strays |= meet(alpha, nodes, psi, p, q, scale[t], forbidden)
    return strays


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
            y = after[q:r]
            for i in range(q - p):
                value, row = alpha[p + i], products[labels[u + i]]
                for j in range(size):
                    row[j] += value * y[j]
        elif q - p == size:
            x = alpha[p:q]
            for j in range(r - q):
                value, row = after[q + j], turned[labels[v + j]]
                for i in range(size):
                    row[i] += value * x[i]
        else:
            for i in range(q - p):
                value, row = alpha[p + i], products[labels[u + i]]
                for j in range(r - q):
                    row[labels[v + j]] += value * after[q + j]
