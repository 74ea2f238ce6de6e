"""Forward-backward in the probability domain for transitions that depend on the position.

The formulas, and what makes them exact, are those of `scaled`, with a matrix M_t in place of E at every position:

    alpha_t[j] = c_t psi_t[j] sum_i alpha_(t-1)[i] M_t[i, j]
    beta_(t-1)[i] = sum_j M_t[i, j] q_t[j]                       with q_t = c_t psi_t beta_t
    P(y_(t-1) = i, y_t = j) = alpha_(t-1)[i] M_t[i, j] q_t[j]

Each matrix is used for one step of one sentence, so sentences go one by one, and the marginals of arcs are formed in
the step that makes beta, where M_t q_t is at hand. Only one matrix is held at a time.

The rule of `scaled` is applied position by position: with R_t the spread of the transitions into token t plus that of
its scores and E_t the former alone, R_t <= 600 and E_t <= 330, or R_t <= 115 and nothing astray where a transition of
the sentence is forbidden. M_t need not be at most 1, if what it is multiplied with stays within exp(-E_t) .. exp(E_t).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.vector import exp_into

Array = Any

FARTHEST = 600.0  # R_t, and
FARTHEST_TRANSITIONS = 330.0  # E_t, where no transition is forbidden
FARTHEST_FORBIDDEN = 115.0  # R_t where one is
_TINY, _HUGE = 1e-100, 1e100


@kernel
def positional_marginals(
    scores: Array,
    transitions: Array,
    each: int,
    offsets: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    log_z: Array,
    redo: Array,
) -> None:
    """scores: F64[tokens, width], labels rounded up to whole registers, -inf in the padding; transitions:
    F64[1 or tokens, labels, labels] (`each` = 0 or 1).

    Written: nodes F64[tokens, width] (may be the scores themselves), arcs F64[tokens, labels, labels] if wanted,
    log_z F64[sentences], redo BOOL[sentences]; what belongs to flagged sentences is of no use, their arcs are 0.
    """
    width, labels = scores.shape[1], transitions.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    psi, alpha, scale = np.empty((longest, width)), np.empty((longest, width)), np.empty(longest)
    tops = np.zeros(longest)
    factor, pair = np.zeros((width, width)), np.zeros((width, width))
    flat = np.empty(labels * labels)
    step, q, beta = np.empty(width), np.empty(width), np.empty(width)
    everywhere = spread_of(transitions[0]) if not each and len(transitions) else (0.0, 0.0, False)
    if not each:
        _exp_block(transitions[0], everywhere[0], flat, factor)
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        too_far, forbidden, total = False, False, 0.0
        widest, widest_of_all = 0.0, 0.0
        for t in range(length):
            apart = 0.0
            if t > 0:
                top, bottom, off = spread_of(transitions[a + t]) if each else everywhere
                forbidden |= off
                apart = top - bottom
                tops[t] = top
                total += top
            high, spread = enter_row(scores[a + t], psi[t])
            widest, widest_of_all = max(widest, apart), max(widest_of_all, apart + spread)
            total += high
            too_far |= not apart + spread <= FARTHEST  # NaN too
        too_far |= widest_of_all > FARTHEST_FORBIDDEN if forbidden else widest > FARTHEST_TRANSITIONS
        redo[s] = too_far
        log_z[s] = total
        if too_far:
            continue

        for t in range(length):
            if t == 0:
                step[:] = 1.0
            else:
                if each:
                    _exp_block(transitions[a + t], tops[t], flat, factor)
                push(alpha[t - 1], factor, step)
            scale[t] = normalised(step, psi[t], alpha[t])

        beta[:] = 1.0
        for t in range(length - 1, -1, -1):
            redo[s] |= scale[t] == 0.0 or (forbidden and _strays(beta, alpha[t]))
            for j in range(width):
                nodes[a + t, j] = alpha[t, j] * beta[j]
                q[j] = psi[t, j] * scale[t] * beta[j] if alpha[t, j] > 0.0 else 0.0
            if t > 0:
                if each:
                    _exp_block(transitions[a + t], tops[t], flat, factor)
                pair[:, :] = 0.0
                pull(factor, q, alpha[t - 1], pair, beta)
                if want_arcs:
                    arcs[a + t] = pair[:labels, :labels]
        if not redo[s]:
            log_z[s] -= log_product(scale, length)
        elif want_arcs:
            arcs[a : a + length] = 0.0


@part
def spread_of(block: Array) -> Array:
    """Largest and smallest finite entry, and whether any entry is minus infinity."""
    top, bottom, forbidden = -np.inf, np.inf, False
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            v = block[i, j]
            top = max(top, v)
            bottom = min(bottom, v if v > -np.inf else np.inf)
            forbidden |= v == -np.inf
    if top == -np.inf:
        return 0.0, 0.0, forbidden
    return top, bottom, forbidden


@part
def enter_row(row: Array, psi: Array) -> Array:
    """psi = exp(row - its maximum); that maximum, and the spread of the finite scores (infinite if there is none)."""
    high, low = -np.inf, np.inf
    for j in range(len(row)):
        v = row[j]
        high = max(high, v)
        low = min(low, v if v > -np.inf else np.inf)
    if high == -np.inf:
        return 0.0, np.inf
    exp_into(row, high, psi)
    return high, high - low


@part
def push(alpha: Array, factor: Array, step: Array) -> None:
    """step[j] = sum_i alpha[i] factor[i, j]; four i in one sweep, a multiple of four of them."""
    width = len(step)
    for j in range(width):
        step[j] = 0.0
    for i in range(0, width, 4):
        a0, a1, a2, a3 = alpha[i], alpha[i + 1], alpha[i + 2], alpha[i + 3]
        for j in range(width):
            v0 = a0 * factor[i, j] + a1 * factor[i + 1, j]
            v1 = a2 * factor[i + 2, j] + a3 * factor[i + 3, j]
            step[j] += v0 + v1


@part
def pull(factor: Array, q: Array, alpha: Array, pair: Array, beta: Array) -> None:
    """beta[i] = sum_j factor[i, j] q[j], and pair[i, j] += alpha[i] factor[i, j] q[j]."""
    width = len(q)
    for i in range(0, width, 2):
        a0, a1 = alpha[i], alpha[i + 1]
        b0 = b1 = 0.0
        for j in range(width):
            b0 += factor[i, j] * q[j]
            b1 += factor[i + 1, j] * q[j]
        for j in range(width):
            pair[i, j] += a0 * (factor[i, j] * q[j])
            pair[i + 1, j] += a1 * (factor[i + 1, j] * q[j])
        beta[i], beta[i + 1] = b0, b1


@part
def normalised(step: Array, psi: Array, alpha: Array) -> float:
    """alpha = step * psi, made to sum to 1; returns the factor (0 where all paths have died)."""
    for j in range(len(step)):
        alpha[j] = step[j] * psi[j]
    total = 0.0
    for j in range(len(step)):
        total += alpha[j]
    c = 1.0 / total if total > 0.0 else 0.0
    for j in range(len(step)):
        alpha[j] *= c
    return c


@part
def log_product(scale: Array, length: int) -> float:
    """sum_t log c_t, with one logarithm for many factors."""
    total, product = 0.0, 1.0
    for t in range(length):
        c = scale[t]
        if c > _TINY and c < _HUGE:
            product *= c
        else:
            total += np.log(c)
        if product < 1e-200 or product > 1e200:
            total += np.log(product)
            product = 1.0
    return total + np.log(product)  # type: ignore[no-any-return]


@part
def _exp_block(block: Array, top: float, flat: Array, factor: Array) -> None:
    """factor[i, j] = exp(block[i, j] - top), by way of flat: F64[labels * labels]; whole vectors but for the last."""
    labels = block.shape[0]
    exp_into(block.ravel(), top, flat)
    for i in range(labels):
        for j in range(labels):
            factor[i, j] = flat[i * labels + j]


@part
def _strays(beta: Array, alpha: Array) -> bool:
    """Whether a positive alpha or beta has left the range in which nothing can be lost in one more step."""
    strays = False
    for j in range(len(beta)):
        a, b = alpha[j], beta[j]
        strays |= a > 0.0 and (a < _TINY or not b <= _HUGE or (b > 0.0 and b < _TINY))
    return strays
