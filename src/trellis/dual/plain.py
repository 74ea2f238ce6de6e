"""Scores by support tokens in plain NumPy: no compiler needed, right for small inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.features.packed import Packed

if TYPE_CHECKING:
    from trellis.dual.supports import Supports

F64 = NDArray[np.float64]

_CELLS = 1 << 21  # inner products at a time


@np.errstate(over="ignore", invalid="ignore")  # what is too large is found by who asked
def plain_scores(supports: Supports, packed: Packed, factors: F64) -> F64:
    """F64[tokens, labels], some tokens at a time."""
    tokens = len(packed.indptr) - 1
    many = max(1, _CELLS // max(1, supports.size))
    out = np.zeros((tokens, supports.labels))
    support = np.repeat(np.arange(supports.size), np.diff(supports.start))
    weight = supports.coefficients * supports.factors[support]
    for first in range(0, tokens, many):
        last = min(first + many, tokens)
        kernels = supports.kernel.of(_products(supports, packed, first, last)) - supports.kernel.nothing
        for j in range(supports.labels):
            own = supports.label == j
            out[first:last, j] = np.einsum("ts,s->t", kernels[:, support[own]], weight[own])
    return np.asarray(factors[:, None] * (out + supports.balance))


def _products(supports: Supports, packed: Packed, first: int, last: int) -> F64:
    """Inner products of tokens first..last with all supports, F64[tokens, supports]."""
    start, members, beside = supports.lists
    p, q = int(packed.indptr[first]), int(packed.indptr[last])
    token = np.repeat(np.arange(last - first), np.diff(packed.indptr[first : last + 1]))
    value = np.ones(q - p) if packed.values is None else packed.values[p:q]
    known = packed.ids[p:q] >= 0
    token, value, ids = token[known], value[known], packed.ids[p:q][known]
    counts = start[ids + 1] - start[ids]
    at = np.repeat(start[ids] - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    shared = np.repeat(value, counts) * (beside[at] if len(beside) else 1.0)
    places = np.repeat(token, counts) * supports.size + members[at]
    cells = (last - first) * supports.size
    sums = np.bincount(places.astype(np.int64), shared, minlength=cells)
    return sums.astype(np.float64, copy=False).reshape(last - first, supports.size)
