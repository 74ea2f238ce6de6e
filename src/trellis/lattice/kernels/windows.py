"""Chains of order k: the label of a token depends on the k labels before it.

A state of token t is the tuple of its label and of those before it that the next token will still see, min(t, k - 1) of
them, all allowed where they stand; its number counts them with the oldest first. With the labels that have been seen

    a     of token t - k, which is no longer seen after this (one way to do so where there is no such token)
    r     of the tokens t - k + 1 .. t - 1, a tuple
    b     of token t

the arc from state (a, r) of token t - 1 to state (r, b) of token t has a score of its own, that of its *cell*: tokens
whose windows t - k .. t have the same sets of labels share one *pattern* of cells, [a, r, b] from `base` on. With

    psi_t[b] = exp(s_t[b] - max s_t)        E = exp(cells - their maximum)

    alpha_t[r, b] = c_t psi_t[b] sum_a alpha_(t-1)[a, r] E[a, r, b]       alpha_1[b] = c_1 psi_1[b]
    beta_(t-1)[a, r] = sum_b E[a, r, b] q_t[r, b]                         q_t = c_t psi_t beta_t
    P(y_t = b) = sum_r alpha_t[r, b] beta_t[r, b]
    P(cell) = sum over its tokens of alpha_(t-1)[a, r] E[a, r, b] q_t[r, b]

As not every state follows every other, the stricter of the rules of `scaled` holds: scores and cells that spread by no
more than 115 at a token, and no positive number outside 1e-100 .. 1e100. Other sentences are flagged, to be redone in
the log domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_kernel, ordered_part, part
from trellis.lattice.kernels.scaled import HUGE, TINY, log_product
from trellis.lattice.kernels.vector import exp_into

Array = Any

LIMIT = 115.0
_FEW = 12  # labels


@kernel
def window_marginals(
    scores: Array,
    places: Array,
    pattern: Array,
    sizes: Array,
    base: Array,
    across: Array,
    top: float,
    spread: float,
    offsets: Array,
    nodes: Array,
    products: Array,
    log_z: Array,
    redo: Array,
) -> None:
    """scores: F64[places], token t has places[t]:places[t + 1]; pattern: I32[tokens]; sizes: I64[patterns, 3], how many
    a, r and b there are; base: I64[patterns]; across: F64[cells], E, of cells of which `top` is the largest and which
    spread so far; offsets: I64[sentences + 1].

    Written: nodes F64[places]; products F64[cells], to which is added over sentences not flagged what becomes expected
    numbers of cells if multiplied by E; log_z F64[sentences]; redo BOOL[sentences].
    """
    most, widest = 0, 0
    for s in range(len(offsets) - 1):
        states = 0
        for t in range(offsets[s], offsets[s + 1]):
            states += sizes[pattern[t], 1] * sizes[pattern[t], 2]
            widest = max(widest, sizes[pattern[t], 1] * sizes[pattern[t], 2])
        most = max(most, states)
    alpha, after, beta = np.empty(most), np.empty(most), np.empty(widest)
    psi, scale = np.empty(len(scores)), np.empty(len(pattern))
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        log_z[s] = 0.0
        redo[s] = False
        if a == b:
            continue
        total, too_far = _enter(scores, places, a, b, LIMIT - spread, psi)
        redo[s] = too_far or _forward(psi, places, pattern, sizes, base, across, a, b, alpha, scale)
        if not redo[s]:
            redo[s] = _backward(psi, places, pattern, sizes, base, across, a, b, alpha, scale, after, beta, nodes)
        if not redo[s]:
            _add_cells(alpha, after, pattern, sizes, base, a, b, products)
            log_z[s] = total + top * (b - a - 1) - log_product(scale, a, 1, b - a)


@kernel
def cell_factors(cells: Array, across: Array) -> Any:
    """E into across; the largest cell, and how far finite ones spread."""
    top, bottom = -np.inf, np.inf
    for k in range(len(cells)):
        v = cells[k]
        top = max(top, v)
        bottom = min(bottom, v if v > -np.inf else np.inf)
    if top == -np.inf:
        top = bottom = 0.0
    exp_into(cells, top, across)
    return top, top - bottom


# Loops over the labels of a token in two kinds: for a few of them, where to prepare vector code would take longer than
# the work, and for many.


@ordered_part
def _add_few(x: float, a: Array, p: int, y: Array, q: int, n: int) -> None:
    """y[q + j] += x a[p + j] for j < n."""
    for j in range(n):
        y[q + j] += x * a[p + j]


@part
def _add_many(x: float, a: Array, y: Array) -> None:
    for j in range(len(y)):
        y[j] += x * a[j]


@ordered_part
def _dot_few(a: Array, p: int, b: Array, q: int, n: int) -> Any:
    """The sum of a[p + j] b[q + j] for j < n."""
    total = 0.0
    for j in range(n):
        total += a[p + j] * b[q + j]
    return total


@part
def _dot_many(a: Array, b: Array) -> Any:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@part
def _enter(scores: Array, places: Array, a: int, b: int, limit: float, psi: Array) -> Any:
    """psi; the sum of the tokens' largest scores, and whether scores of a token spread too far."""
    total, too_far = 0.0, False
    for t in range(a, b):
        high, low = -np.inf, np.inf
        for k in range(places[t], places[t + 1]):
            v = scores[k]
            high = max(high, v)
            low = min(low, v if v > -np.inf else np.inf)
        too_far |= high == -np.inf or not high - low <= limit
        high = 0.0 if high == -np.inf else high
        total += high
        exp_into(scores[places[t] : places[t + 1]], high, psi[places[t] : places[t + 1]])
    return total, too_far


@part
def _forward(
    psi: Array, places: Array, pattern: Array, sizes: Array, base: Array, across: Array, a: int, b: int,
    alpha: Array, scale: Array,
) -> Any:  # fmt: skip
    """alpha, the states of one token after those of the other, and c; whether all paths have died."""
    before, here = 0, 0  # where the states of the last token and of this one begin
    dead = False
    for t in range(a, b):
        n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
        place, first = places[t], base[pattern[t]]
        for k in range(here, here + m * w):
            alpha[k] = 0.0
        for i in range(n):
            for r in range(m):
                if t == a:
                    break
                x, p, q = alpha[before + i * m + r], first + (i * m + r) * w, here + r * w
                if w < _FEW:
                    _add_few(x, across, p, alpha, q, w)
                else:
                    _add_many(x, across[p : p + w], alpha[q : q + w])
        for r in range(m):
            for j in range(w):
                alpha[here + r * w + j] = psi[place + j] * (alpha[here + r * w + j] if t > a else 1.0)
        total = 0.0
        for k in range(here, here + m * w):
            total += alpha[k]
        c = 1.0 / total if total > 0.0 else 0.0
        for k in range(here, here + m * w):
            alpha[k] *= c
        scale[t] = c
        dead |= c == 0.0
        before, here = here, here + m * w
    return dead


@part
def _backward(
    psi: Array, places: Array, pattern: Array, sizes: Array, base: Array, across: Array, a: int, b: int,
    alpha: Array, scale: Array, after: Array, beta: Array, nodes: Array,
) -> Any:  # fmt: skip
    """Node marginals, and q, laid out as alpha; whether a number has left the range in which nothing is lost. beta is
    that of one token."""
    here = 0
    for t in range(a, b):
        here += sizes[pattern[t], 1] * sizes[pattern[t], 2]
    strays = False
    for t in range(b - 1, a - 1, -1):
        n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
        here -= m * w
        place, c = places[t], scale[t]
        for j in range(w):
            nodes[place + j] = 0.0
        for r in range(m):
            for j in range(w):
                x, y = alpha[here + r * w + j], beta[r * w + j] if t < b - 1 else 1.0
                nodes[place + j] += x * y
                after[here + r * w + j] = psi[place + j] * c * y if x > 0.0 else 0.0
                strays |= x > 0.0 and (x < TINY or not y <= HUGE or (y > 0.0 and y < TINY))
        if t == a:
            break
        first = base[pattern[t]]
        for i in range(n):
            for r in range(m):
                p, q = first + (i * m + r) * w, here + r * w
                if w < _FEW:
                    beta[i * m + r] = _dot_few(across, p, after, q, w)
                else:
                    beta[i * m + r] = _dot_many(across[p : p + w], after[q : q + w])
    return strays


@part
def _add_cells(
    alpha: Array, after: Array, pattern: Array, sizes: Array, base: Array, a: int, b: int, products: Array
) -> None:
    """products[a, r, b] += alpha_(t-1)[a, r] q_t[r, b] for all tokens of a sentence."""
    before, here = 0, sizes[pattern[a], 2]
    for t in range(a + 1, b):
        n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
        first = base[pattern[t]]
        for i in range(n):
            for r in range(m):
                x, p, q = alpha[before + i * m + r], first + (i * m + r) * w, here + r * w
                if w < _FEW:
                    _add_few(x, after, q, products, p, w)
                else:
                    _add_many(x, after[q : q + w], products[p : p + w])
        before, here = here, here + m * w


@ordered_kernel
def window_best(
    scores: Array,
    places: Array,
    pattern: Array,
    sizes: Array,
    base: Array,
    cells: Array,
    offsets: Array,
    chosen: Array,
    totals: Array,
) -> None:
    """The best path of every sentence: chosen I32[tokens], the number of the label in its token's set; totals
    F64[sentences], -inf without a path. delta is to max what alpha is to sums; of equals the first is taken."""
    most = 0
    for s in range(len(offsets) - 1):
        states = 0
        for t in range(offsets[s], offsets[s + 1]):
            states += sizes[pattern[t], 1] * sizes[pattern[t], 2]
        most = max(most, states)
    delta = np.empty(most)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        totals[s] = 0.0
        if a == b:
            continue
        before, here = 0, 0
        for t in range(a, b):
            n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
            score = scores[places[t] : places[t + 1]]
            if t == a:
                delta[here : here + w] = score
            else:
                for r in range(m):
                    row = delta[here + r * w : here + r * w + w]
                    row[:] = -np.inf
                    for i in range(n):
                        x = delta[before + i * m + r]
                        first = base[pattern[t]] + (i * m + r) * w
                        cell = cells[first : first + w]
                        for j in range(w):
                            row[j] = max(row[j], x + cell[j])
                    for j in range(w):
                        row[j] += score[j]
            before, here = here, here + m * w
        state = 0
        for k in range(1, here - before):
            if delta[before + k] > delta[before + state]:
                state = k
        totals[s] = delta[before + state]
        for t in range(b - 1, a - 1, -1):
            n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
            r, j = state // w, state % w
            chosen[t] = j
            if t == a:
                break
            before -= n * m
            found, high = 0, -np.inf
            for i in range(n):
                value = delta[before + i * m + r] + cells[base[pattern[t]] + (i * m + r) * w + j]
                if value > high:
                    found, high = i, value
            state = found * m + r


@ordered_kernel
def window_shape(
    places: Array,
    pattern: Array,
    sizes: Array,
    base: Array,
    offsets: Array,
    ends: Array,
    start: Array,
    source: Array,
    first: Array,
    last: Array,
    of_nodes: Array,
    of_arcs: Array,
) -> None:
    """The same written out as a graph: a node a state, an arc a cell of a token. ends: I64[sentences + 1], offsets of
    the graph's nodes. Written: the arrays of `Shape`; of_nodes, the place of a node; of_arcs, the cell of an arc."""
    arc = 0
    for s in range(len(offsets) - 1):
        before, here = ends[s], ends[s]
        for t in range(offsets[s], offsets[s + 1]):
            n, m, w = sizes[pattern[t], 0], sizes[pattern[t], 1], sizes[pattern[t], 2]
            for r in range(m):
                for j in range(w):
                    v = here + r * w + j
                    start[v] = arc
                    first[v] = t == offsets[s]
                    last[v] = t == offsets[s + 1] - 1
                    of_nodes[v] = places[t] + j
                    if t > offsets[s]:
                        for i in range(n):
                            source[arc] = before + i * m + r
                            of_arcs[arc] = base[pattern[t]] + (i * m + r) * w + j
                            arc += 1
            before, here = here, here + m * w
    start[len(first)] = arc
