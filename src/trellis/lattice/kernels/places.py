"""Small building blocks of the kernels over allowed labels.

Those that take a range p..q are called in two ways. With a slice and 0 the compiler knows that no index is negative and
makes vector code, right for all labels; for the few of most tokens the preparations would take longer than the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_part, part
from trellis.lattice.kernels.scaled import HUGE, TINY

Array = Any


@part
def lower(x: Array, p: int, q: int, limit: float, out: Array) -> Any:
    """out = x minus its largest, which is returned, with whether the finite numbers spread too far."""
    high, low = -np.inf, np.inf
    for k in range(p, q):
        v = x[k]
        high = max(high, v)
        low = min(low, v if v > -np.inf else np.inf)
    too_far = high == -np.inf or not high - low <= limit
    high = 0.0 if high == -np.inf else high
    for k in range(p, q):
        out[k] = x[k] - high
    return high, too_far


@part
def weigh(alpha: Array, psi: Array, p: int, q: int) -> float:
    """alpha times psi, with sum 1; returns the factor that makes it so, 0 when there is none."""
    for k in range(p, q):
        alpha[k] *= psi[k]
    total = 0.0
    for k in range(p, q):
        total += alpha[k]
    c = 1.0 / total if total > 0.0 else 0.0
    for k in range(p, q):
        alpha[k] *= c
    return c


@part
def meet(alpha: Array, beta: Array, psi: Array, p: int, q: int, c: float, forbidden: bool) -> Any:
    """Node marginals in the place of beta and q in that of psi."""
    strays = False
    for k in range(p, q):
        x, y = alpha[k], beta[k]
        beta[k] = x * y
        psi[k] = psi[k] * c * y if x > 0.0 else 0.0
        if forbidden:
            strays |= x > 0.0 and (x < TINY or not y <= HUGE or (y > 0.0 and y < TINY))
    return strays


@part
def to_all(x: Array, labels: Array, u: int, m: Array, y: Array) -> None:
    """y[j] = sum_i x[i] m[label i, j] for all labels j; labels i are listed from u on. Four i in one sweep."""
    for j in range(len(y)):
        y[j] = 0.0
    i = 0
    while i + 4 <= len(x):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        m0, m1, m2, m3 = m[labels[u + i]], m[labels[u + i + 1]], m[labels[u + i + 2]], m[labels[u + i + 3]]
        for j in range(len(y)):
            y[j] += (x0 * m0[j] + x1 * m1[j]) + (x2 * m2[j] + x3 * m3[j])
        i += 4
    while i < len(x):
        x0, m0 = x[i], m[labels[u + i]]
        for j in range(len(y)):
            y[j] += x0 * m0[j]
        i += 1


@part
def from_all(x: Array, mt: Array, labels: Array, v: int, y: Array, q: int, n: int) -> None:
    """y[q + j] = sum_i x[i] mt[label j, i] over all labels i; n labels j are listed from v on."""
    for j in range(n):
        row = mt[labels[v + j]]
        total = 0.0
        for i in range(len(row)):
            total += x[i] * row[i]
        y[q + j] = total


@ordered_part  # vector code would only be in the way of such short loops
def few_to_few(
    x: Array, p: int, n: int, labels: Array, u: int, mt: Array, v: int, y: Array, q: int, count: int
) -> None:
    """y[q + j] = sum_i x[p + i] mt[label j, label i]; n labels i are listed from u on, `count` labels j from v on."""
    for j in range(count):
        row = mt[labels[v + j]]
        total = 0.0
        for i in range(n):
            total += x[p + i] * row[labels[u + i]]
        y[q + j] = total
