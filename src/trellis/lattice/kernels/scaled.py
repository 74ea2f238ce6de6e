"""Forward-backward in the probability domain, rescaled at each position, GROUP sentences in step.

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
from trellis.lanes import LANES, load, store, where_positive
from trellis.lattice.kernels.in_step import (
    add_arcs,
    enter_group,
    fill_rows,
    forward_group,
    leave,
    line_up,
    log_scales,
    room_for_groups,
    step_back,
)
from trellis.lattice.kernels.products import in_panels
from trellis.lattice.kernels.vector import exp_into, four_products

Array = Any

GROUP = 32  # sentences that go in step
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

    The width is the number of labels rounded up to whole registers; scores in the columns of padding are -inf.
    `order` lists the sentences by length. Written: nodes F64[tokens, width] (may be the scores themselves; rows of
    flagged sentences hold nothing of use), arcs F64[labels, labels] (the expected number of each transition is
    added up over sentences not flagged), log_z F64[sentences], redo BOOL[sentences]; and where base is not empty, what
    `kept` says, zeros for flagged sentences; it is zero beforehand.
    """
    width, labels, sentences = scores.shape[1], len(transitions), len(order)
    top, bottom, forbidden = spread_of(transitions)
    spread = top - bottom
    limit = 115.0 if forbidden else 600.0 if spread <= 330.0 else -1.0
    factors = np.zeros((width, width))  # E[i, j]
    for i in range(labels):
        exp_into(transitions[i], top, factors[i, :labels])
    across, down = np.empty((width * width // LANES, LANES)), np.empty((width * width // LANES, LANES))
    in_panels(factors, across)
    turned = np.zeros((width, width))
    for i in range(labels):
        for j in range(labels):
            turned[j, i] = factors[i, j]
    in_panels(turned, down)
    most, longest = 0, 0
    for begin in range(0, sentences, GROUP):
        rows = 0
        for n in range(begin, min(begin + GROUP, sentences)):
            rows += offsets[order[n] + 1] - offsets[order[n]]
            longest = max(longest, offsets[order[n] + 1] - offsets[order[n]])
        most = max(most, rows)
    group, sums = room_for_groups(GROUP, longest, most, width), np.zeros((width, width))
    for begin in range(0, sentences, GROUP):
        count = min(GROUP, sentences - begin)
        for w in range(count):  # from the longest on
            s = order[begin + count - 1 - w]
            group.start[w], group.length[w] = offsets[s], offsets[s + 1] - offsets[s]
        positions = line_up(group, count)
        enter_group(group, positions, scores, limit - spread)
        forward_group(group, positions, across)
        for t in range(positions - 1, -1, -1):
            step_back(group, t, down)
            if forbidden:
                _mark_strays(group, t)
            if len(base) > 0:
                _keep(group, t, begin + count - 1, base, kept_alpha, kept_beta, kept_step)
            leave(group, t, nodes)
        for w in range(count):
            n = begin + count - 1 - w
            s, length = order[n], group.length[w]
            redo[s] = group.far[w] or _dies(group, w)
            if not redo[s]:
                log_z[s] = group.peaks[w] + top * max(length - 1, 0) - log_scales(group, w)
            else:
                fill_rows(group, w, group.alpha, 0.0)
                fill_rows(group, w, group.psi, 0.0)
                for t in range(length if len(base) > 0 else 0):
                    k = base[n // 4] + 4 * t + n % 4
                    kept_alpha[k] = 0.0
                    kept_beta[k] = 0.0
                    kept_step[k] = 0.0
        if want_arcs:
            add_arcs(group, positions, sums)
    for i in range(labels):
        for j in range(labels):
            arcs[i, j] += factors[i, j] * sums[i, j]


@part
def _keep(group: Array, t: int, last: int, base: Array, alpha: Array, beta: Array, step: Array) -> None:
    """What `kept` reads of position t; the w-th sentence of the group is number last - w in order."""
    for w in range(group.active[t]):
        n, r = last - w, group.first[t] + w
        k, c = base[n // 4] + 4 * t + n % 4, group.scale[r]
        back = 1.0 / c if c > 0.0 else 0.0
        for j in range(0, group.psi.shape[1], LANES):
            a = load(group.alpha, r, j)
            store(alpha, k, j, a * c)
            store(beta, k, j, where_positive(a, load(group.step, w, j) * back))
            store(step, k, j, where_positive(a, load(group.psi, r, j) * c))


@part
def _mark_strays(group: Array, t: int) -> None:
    """Marks sentences in which a positive alpha or beta has left the range in which nothing can be lost in one more
    step."""
    for w in range(group.active[t]):
        r = group.first[t] + w
        c = group.scale[r]
        back = 1.0 / c if c > 0.0 else 0.0
        strays = False
        for j in range(group.psi.shape[1]):
            a, b = group.alpha[r, j] * c, group.step[w, j] * back
            strays |= a > 0.0 and (a < TINY or not b <= HUGE or (b > 0.0 and b < TINY))
        group.far[w] |= strays


@part
def _dies(group: Array, w: int) -> bool:
    """Whether all paths of a sentence have died at some position."""
    dies = False
    for t in range(group.length[w]):
        dies |= group.scale[group.first[t] + w] == 0.0
    return dies


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
