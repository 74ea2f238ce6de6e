"""Forward-backward in the probability domain, rescaled at each position, four sentences in step.

For one sentence, with psi_t = exp(s_t - max s_t) and E = exp(transitions - their maximum):

    alpha_1 = c_1 psi_1          alpha_t[j] = c_t psi_t[j] sum_i alpha_(t-1)[i] E[i, j]
    beta_T = 1                   beta_(t-1)[i] = sum_j E[i, j] q_t[j]     with q_t = c_t psi_t beta_t
    P(y_t = j) = alpha_t[j] beta_t[j]
    P(y_(t-1) = i, y_t = j) = alpha_(t-1)[i] E[i, j] q_t[j]

c_t makes alpha_t sum to one, so log Z = sum_t (max s_t - log c_t) + (T - 1) * maximum of the transitions.
No exponential is taken per arc, no logarithm per label.

When is that exact? A number must neither fall below 1e-308 nor rise above 1e308. Let R be the spread of the finite
transitions plus that of the finite scores at a position.

With all transitions finite, every allowed label gets at least exp(-R) of the largest alpha, beta lies between exp(-E)
and exp(E) for the spread E of the transitions alone, and c is at most L exp(E): R <= 600 and E <= 330 lose nothing.

With forbidden transitions small numbers can shrink further from step to step. There R <= 115 (a factor of 1e-50 a step)
is asked for, and that no positive alpha, nor the beta of a label with positive alpha, leaves 1e-100 .. 1e100. What is
then 0 is 0 because it cannot be reached. Labels with alpha = 0 are on no path; their q is set to 0, so that nothing
that grows behind them spoils the rest.

A sentence that breaks the rule is flagged, to be redone in the log domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.vector import add_product, exp_into, four_products

Array = Any

_BUFFER = 512  # tokens whose alpha and q wait for their products to be summed
_STRIDE = 520  # not a power of two: columns 4096 bytes apart would fight for one set of the cache
TINY, HUGE = 1e-100, 1e100


@kernel
def scaled_marginals(
    scores: Array,
    transitions: Array,
    offsets: Array,
    order: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    log_z: Array,
    redo: Array,
    base: Array,
    kept_alpha: Array,
    kept_beta: Array,
    kept_step: Array,
) -> None:
    """scores: F64[tokens, width], transitions: F64[labels, labels], offsets: I64[sentences + 1].

    The width is the number of labels rounded up to a multiple of four; scores in the columns of padding are -inf.
    `order` lists the sentences by length. Written: nodes F64[tokens, width] (may be the scores themselves; rows of
    flagged sentences hold nothing of use), arcs F64[labels, labels] (the expected number of each transition is
    added up over sentences not flagged), log_z F64[sentences], redo BOOL[sentences]; and where base is not empty, what
    `kept` says, zeros for flagged sentences.
    """
    width, labels = scores.shape[1], len(transitions)
    top, bottom, forbidden = spread_of(transitions)
    spread = top - bottom
    limit = 115.0 if forbidden else 600.0 if spread <= 330.0 else -1.0
    across = np.zeros((width, width))  # E[i, j]
    for i in range(labels):
        exp_into(transitions[i], top, across[i, :labels])
    down = across.T.copy()  # E[j, i]
    longest = 0
    for s in range(len(order)):
        longest = max(longest, offsets[s + 1] - offsets[s])
    # rows 4 t + w: position t of the w-th sentence in step
    psi = np.ones((4 * longest, width))
    alpha = np.ones((4 * longest, width))
    scale = np.ones(4 * longest)
    step = np.empty((4, width))
    before, after = np.empty((width, _STRIDE)), np.empty((width, _STRIDE))
    products = np.zeros((width, width))
    waiting = 0
    group, start, length = np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4, np.int64)
    for first in range(0, len(order), 4):
        longest = 0
        for w in range(4):
            if first + w < len(order):
                s = order[first + w]
                group[w], start[w], length[w] = s, offsets[s], offsets[s + 1] - offsets[s]
                redo[s] = enter(scores, offsets[s], offsets[s + 1], limit - spread, psi, w, log_z, s)
                log_z[s] += top * max(length[w] - 1, 0)
            else:
                group[w], start[w], length[w] = -1, 0, 0
            longest = max(longest, length[w])
        for w in range(4):  # sentences that have ended, and flagged ones, go over neutral rows
            neutral = 0 if length[w] and redo[group[w]] else length[w]
            psi[4 * neutral + w : 4 * longest : 4, :] = 1.0

        forward_in_step(psi, down, longest, step, alpha, scale)

        keep = base[first // 4] if len(base) else -1
        _backward(
            psi, across, alpha, scale, longest, forbidden, group, start, length, step, nodes, redo,
            keep, kept_beta, kept_step,
        )  # fmt: skip

        if keep >= 0:
            kept_alpha[keep : keep + 4 * longest] = alpha[: 4 * longest]
        for w in range(4):
            s = group[w]
            redo_s = s >= 0 and (redo[s] or has_zero(scale, w, length[w]))
            if keep >= 0:
                ended = 0 if redo_s else length[w]
                kept_alpha[keep + 4 * ended + w : keep + 4 * longest : 4] = 0.0
                kept_beta[keep + 4 * ended + w : keep + 4 * longest : 4] = 0.0
                kept_step[keep + 4 * ended + w : keep + 4 * longest : 4] = 0.0
            if s < 0:
                continue
            redo[s] = redo_s
            if redo_s:
                continue
            log_z[s] -= log_product(scale, w, 4, length[w])
            if want_arcs:
                for t in range(1, length[w]):
                    if waiting == _BUFFER:
                        add_product(before, after, waiting, products)
                        waiting = 0
                    for j in range(width):
                        before[j, waiting] = alpha[4 * t - 4 + w, j]
                        after[j, waiting] = psi[4 * t + w, j]
                    waiting += 1
    add_product(before, after, waiting, products)
    for i in range(labels):
        for j in range(labels):
            arcs[i, j] += across[i, j] * products[i, j]


@part
def forward_in_step(psi: Array, down: Array, longest: int, step: Array, alpha: Array, scale: Array) -> None:
    width = psi.shape[1]
    for t in range(longest):
        if t == 0:
            step[:, :] = 1.0
        else:
            four_products(alpha, 4 * t - 4, 4 * t - 3, 4 * t - 2, 4 * t - 1, down, step)
        for w in range(4):
            r = 4 * t + w
            for j in range(width):
                alpha[r, j] = step[w, j] * psi[r, j]
            total = 0.0
            for j in range(width):
                total += alpha[r, j]
            c = 1.0 / total if total > 0.0 else 0.0
            scale[r] = c
            for j in range(width):
                alpha[r, j] *= c


@part
def _backward(
    psi: Array,
    across: Array,
    alpha: Array,
    scale: Array,
    longest: int,
    forbidden: bool,
    group: Array,
    start: Array,
    length: Array,
    step: Array,
    nodes: Array,
    redo: Array,
    keep: int,
    kept_beta: Array,
    kept_step: Array,
) -> None:
    """Node marginals, and q_t in the place of psi_t. beta_t and c_t psi_t are kept from row `keep` on, unless < 0."""
    width = psi.shape[1]
    for t in range(longest - 1, -1, -1):
        if t < longest - 1:
            four_products(psi, 4 * t + 4, 4 * t + 5, 4 * t + 6, 4 * t + 7, across, step)
        for w in range(4):
            if t >= length[w] - 1 or redo[group[w]]:
                step[w, :] = 1.0
            r = 4 * t + w
            c = scale[r]
            if keep >= 0:
                for j in range(width):
                    kept_step[keep + r, j] = psi[r, j] * c if alpha[r, j] > 0.0 else 0.0
                for j in range(width):
                    kept_beta[keep + r, j] = step[w, j] if alpha[r, j] > 0.0 else 0.0
            for j in range(width):
                psi[r, j] = psi[r, j] * c * step[w, j] if alpha[r, j] > 0.0 else 0.0
            if t < length[w]:
                for j in range(width):
                    nodes[start[w] + t, j] = alpha[r, j] * step[w, j]
                if forbidden and strays(step, w, alpha, r):
                    redo[group[w]] = True


@part
def spread_of(values: Array) -> Array:
    """Largest and smallest finite entry, and whether any entry is minus infinity."""
    top, bottom, forbidden = -np.inf, np.inf, False
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            v = values[i, j]
            if v == -np.inf:
                forbidden = True
            else:
                top, bottom = max(top, v), min(bottom, v)
    if top == -np.inf:
        return 0.0, 0.0, forbidden
    return top, bottom, forbidden


@part
def enter(scores: Array, a: int, b: int, limit: float, psi: Array, w: int, log_z: Array, s: int) -> bool:
    """psi and the first part of log Z; true when the scores of a position spread too far."""
    too_far = False
    total = 0.0
    for t in range(b - a):
        row = scores[a + t]
        high, low = -np.inf, np.inf
        for j in range(len(row)):
            v = row[j]
            high = max(high, v)
            low = min(low, v if v > -np.inf else np.inf)
        if high == -np.inf or not high - low <= limit:
            too_far = True
            high = 0.0 if high == -np.inf else high
        exp_into(row, high, psi[4 * t + w])
        total += high
    log_z[s] = total
    return too_far


@part
def strays(step: Array, w: int, alpha: Array, r: int) -> bool:
    """Whether a positive alpha or beta has left the range in which nothing can be lost in one more step."""
    strays = False
    for j in range(step.shape[1]):
        b, a = step[w, j], alpha[r, j]
        strays |= a > 0.0 and (a < TINY or not b <= HUGE or (b > 0.0 and b < TINY))
    return strays


@part
def has_zero(scale: Array, w: int, length: int) -> bool:
    """Whether all paths have died at some position."""
    zero = False
    for t in range(length):
        zero |= scale[4 * t + w] == 0.0
    return zero


@part
def log_product(scale: Array, first: int, step: int, length: int) -> float:
    """sum_t log c_t, with one logarithm for many factors; c_t is at first + step t."""
    total, product = 0.0, 1.0
    for t in range(length):
        c = scale[first + step * t]
        if c > 1e-100 and c < 1e100:
            product *= c
        else:
            total += np.log(c)
        if product < 1e-200 or product > 1e200:
            total += np.log(product)
            product = 1.0
    return total + np.log(product)  # type: ignore[no-any-return]
