"""Scores of tokens by support tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.dual.epoch_kernels import meet, power
from trellis.jit import kernel

Array = Any


@kernel
def score_tokens(
    indptr: Array,
    ids: Array,
    values: Array,
    factors: Array,
    start: Array,
    members: Array,
    beside: Array,
    support_factors: Array,
    polynomial: tuple[int, float, float],
    first: Array,
    label: Array,
    coefficients: Array,
    balance: Array,
    out: Array,
) -> None:
    """Adds to out: F64[tokens, labels]; the arrays of the supports are those of `Supports`.

    f_t(j) = sum over supports s of a[s, j] K(x_t, x_s), where those that share nothing come in by the balance.
    """
    degree, offset, scale = polynomial
    nothing, valued = power(offset, degree), len(values) > 0
    supports = len(first) - 1
    products, met, noted = np.zeros(supports), np.zeros(supports, np.uint8), np.zeros(supports + 1, np.uint32)
    room = (products, met, noted)
    for t in range(len(indptr) - 1):
        count = 0
        for p in range(indptr[t], indptr[t + 1]):
            a, value = ids[p], values[p] if valued else 1.0
            if a >= 0:
                count = meet(members, beside, start[a], start[a + 1], value, room, count)
        for k in range(count):
            s = noted[k]
            kernel_of = support_factors[s] * (power(offset + scale * products[s], degree) - nothing)
            for p in range(first[s], first[s + 1]):
                out[t, label[p]] += coefficients[p] * kernel_of
            products[s] = 0.0
            met[s] = 0
        for j in range(len(balance)):
            out[t, j] = factors[t] * (out[t, j] + balance[j])
