"""Semi-Markov chains: labels of whole segments (Sarawagi and Cohen 2005), in the probability domain.

A segment is its last token t, its length d and its type y; of type y it is at most longest[y] long, and types are in
the order of that, the longest first. Scores are F64[tokens, cells], one row for the segments that end at a token: those
of length 1 by type, then those of length 2 (of the types that may be so long), and so on; length d begins at
first[d - 1]. Segments that would begin before the sentence have the score -inf.

With s = t - d + 1, the token where a segment begins, and E = exp(transitions - their maximum):

    gamma_s[y] = 1 at the beginning, else sum_z alpha_(s-1)[z] E[z, y]        y begins at s
    psi_t[d, y] = exp(score + G_s - m_t)                                      G_s, the scale of gamma_s; m_t, largest
    alpha_t[y] = c_t sum_d gamma_s[y] psi_t[d, y]                             y ends at t; c_t makes the sum 1
    G_(t+1) = m_t - log c_t + maximum of the transitions                      log Z = m_T - log c_T

    beta_T = 1        beta_t[z] = sum_y E[z, y] rho_(t+1)[y]                  q_t = c_t beta_t
    rho_s[y] = sum_d psi_t[d, y] q_t[y]
    P(segment) = gamma_s[y] psi_t[d, y] q_t[y]        P(z, y at s) = alpha_(s-1)[z] E[z, y] rho_s[y]

As in `windows`, no positive number may leave 1e-100 .. 1e100, and of each type the best segment that ends at a token
must be within exp(-115) of the best of all types; sentences where that is not so are flagged, to be redone in the log
domain. Other segments may be as bad as they like, and long ones are: what psi loses to underflow has, given its type
and end, a share of less than 1e-107. The work for a token is Y Y + sum_y longest[y]: linear in the lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_kernel, part
from trellis.lattice.kernels.scaled import HUGE, TINY, spread_of
from trellis.lattice.kernels.vector import exp_into
from trellis.lattice.kernels.windows import LIMIT

Array = Any


@kernel
def segment_marginals(
    scores: Array,
    first: Array,
    transitions: Array,
    offsets: Array,
    nodes: Array,
    arcs: Array,
    log_z: Array,
    redo: Array,
) -> None:
    """scores: F64[tokens, cells]; first: I64[lengths + 1]; transitions: F64[types, types]; offsets: I64[sentences + 1].

    Written: nodes F64[tokens, cells], P(segment); arcs F64[types, types], to which expected transitions are added;
    log_z F64[sentences]; redo BOOL[sentences]. Of flagged sentences nothing is added, and rows hold nothing of use.
    """
    types, cells = len(transitions), scores.shape[1]
    top, bottom, _ = spread_of(transitions)
    across = np.zeros((types, types))
    for z in range(types):
        exp_into(transitions[z], top, across[z])
    down = across.T.copy()
    products = np.zeros((types, types))
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    psi, shifted = np.empty((longest, cells)), np.empty(cells)
    alpha, gamma, q, rho = (
        np.empty((longest, types)),
        np.empty((longest, types)),
        np.empty((longest, types)),
        np.empty((longest, types)),
    )
    scale, c = np.empty(longest + 1), np.empty(longest)
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        log_z[s] = 0.0
        redo[s] = False
        if length == 0:
            continue
        rows = scores[a : a + length]
        log_z[s], redo[s] = _forward(
            rows, first, down, top, LIMIT - (top - bottom), psi, shifted, alpha, gamma, scale, c
        )
        if not redo[s]:
            redo[s] = _backward(psi, first, across, length, alpha, gamma, c, q, rho)
        if not redo[s]:
            _fill(psi, first, length, gamma, q, nodes[a : a + length])
            for t in range(1, length):
                for z in range(types):
                    x, row, after = alpha[t - 1, z], products[z], rho[t]
                    for y in range(types):
                        row[y] += x * after[y]
    for z in range(types):
        for y in range(types):
            arcs[z, y] += products[z, y] * across[z, y]


@part
def _forward(
    rows: Array, first: Array, down: Array, top: float, limit: float, psi: Array, shifted: Array,
    alpha: Array, gamma: Array, scale: Array, c: Array,
) -> Any:  # fmt: skip
    """psi, alpha, gamma, G and c; log Z, and whether the sentence has to be redone."""
    length, types, lengths = len(rows), len(down), len(first) - 1
    scale[0] = 0.0
    log_z, flagged = 0.0, False
    for t in range(length):
        for y in range(types):
            if t == 0:
                gamma[t, y] = 1.0
            else:
                total = 0.0
                for z in range(types):
                    total += alpha[t - 1, z] * down[y, z]
                gamma[t, y] = total
        high, low = -np.inf, np.inf
        for d in range(min(lengths, t + 1)):
            g = scale[t - d]
            for k in range(first[d], first[d + 1]):
                v = rows[t, k] + g
                shifted[k] = v
                high = max(high, v)
                low = min(low, v if v > -np.inf else np.inf)
        reach = first[min(lengths, t + 1)]
        # a token at which no segment can end is on no boundary: all of it is 0 from there on
        ends = high > -np.inf
        if ends and not high - low <= limit:
            flagged |= _lags_behind(shifted, first, gamma, t, high - limit)
        exp_into(shifted[:reach], high if ends else 0.0, psi[t, :reach])
        psi[t, reach:] = 0.0
        for y in range(types):
            alpha[t, y] = 0.0
        for d in range(min(lengths, t + 1)):
            at = gamma[t - d]
            for y in range(first[d + 1] - first[d]):
                alpha[t, y] += at[y] * psi[t, first[d] + y]
        total = 0.0
        for y in range(types):
            total += alpha[t, y]
        c[t] = 1.0 / total if total > 0.0 else 0.0
        for y in range(types):
            alpha[t, y] *= c[t]
            flagged |= alpha[t, y] > 0.0 and alpha[t, y] < TINY
        log_z = high + np.log(total) if total > 0.0 else -np.inf
        scale[t + 1] = log_z + top if total > 0.0 else 0.0
        flagged |= total > 0.0 and not (total > TINY and total < HUGE)
    return log_z, flagged or log_z == -np.inf


@part
def _lags_behind(shifted: Array, first: Array, gamma: Array, t: int, least: float) -> Any:
    """Whether the best segment of some type that ends at t on a path from the beginning is worse than that."""
    lengths = min(len(first) - 1, t + 1)
    for y in range(first[1] - first[0]):
        best = -np.inf
        for d in range(lengths):
            if y < first[d + 1] - first[d] and gamma[t - d, y] > 0.0:
                best = max(best, shifted[first[d] + y])
        if best > -np.inf and not best >= least:
            return True
    return False


@part
def _backward(
    psi: Array, first: Array, across: Array, length: int, alpha: Array, gamma: Array, c: Array, q: Array, rho: Array
) -> Any:
    """q and rho; whether a number has left the range in which nothing is lost."""
    types, lengths = len(across), len(first) - 1
    strays = False
    for t in range(length - 1, -1, -1):
        for z in range(types):
            if t == length - 1:
                beta = 1.0
            else:
                beta = 0.0
                for y in range(types):
                    beta += across[z, y] * rho[t + 1, y]
            x = alpha[t, z]
            q[t, z] = c[t] * beta if x > 0.0 else 0.0
            strays |= x > 0.0 and (not beta <= HUGE or (beta > 0.0 and beta < TINY))
        for y in range(types):
            rho[t, y] = 0.0
        for d in range(min(lengths, length - t)):
            for y in range(first[d + 1] - first[d]):
                rho[t, y] += psi[t + d, first[d] + y] * q[t + d, y]
        for y in range(types):
            if gamma[t, y] == 0.0:
                rho[t, y] = 0.0  # begins on no path: what grows behind it must not spoil the rest
    return strays


@part
def _fill(psi: Array, first: Array, length: int, gamma: Array, q: Array, nodes: Array) -> None:
    """P of all segments."""
    for t in range(length):
        for d in range(len(first) - 1):
            for y in range(first[d + 1] - first[d]):
                nodes[t, first[d] + y] = gamma[t - d, y] * psi[t, first[d] + y] * q[t, y] if d <= t else 0.0


@ordered_kernel
def segment_best(scores: Array, first: Array, transitions: Array, offsets: Array, ends: Array, totals: Array) -> None:
    """The best segmentation of every sentence: ends I64[tokens], the cell of the segment that ends at a token, -1 for
    none; totals F64[sentences], -inf without a path. Of equals the first type is taken, and the shortest segment."""
    types, lengths, longest = len(transitions), len(first) - 1, 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta, begun = np.empty((longest, types)), np.empty((longest, types))
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        totals[s] = 0.0
        if length == 0:
            continue
        for t in range(length):
            for y in range(types):
                high = 0.0 if t == 0 else -np.inf
                if t > 0:
                    for z in range(types):
                        high = max(high, delta[t - 1, z] + transitions[z, y])
                begun[t, y] = high
                delta[t, y] = -np.inf
            for d in range(min(lengths, t + 1)):
                for y in range(first[d + 1] - first[d]):
                    delta[t, y] = max(delta[t, y], begun[t - d, y] + scores[a + t, first[d] + y])
            ends[a + t] = -1
        here = 0
        for y in range(1, types):
            if delta[length - 1, y] > delta[length - 1, here]:
                here = y
        totals[s] = delta[length - 1, here]
        t = length - 1
        while t >= 0 and totals[s] > -np.inf:
            found, high = -1, -np.inf
            for d in range(min(lengths, t + 1)):
                if here < first[d + 1] - first[d]:
                    value = begun[t - d, here] + scores[a + t, first[d] + here]
                    if value > high:
                        found, high = d, value
            ends[a + t] = first[found] + here
            t -= found + 1
            if t >= 0:
                after, high = here, -np.inf
                for z in range(types):
                    value = delta[t, z] + transitions[z, after]
                    if value > high:
                        here, high = z, value
