"""Polynomial kernels over sparse vectors of attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Polynomial:
    """K(x, z) = (offset + scale <x, z>)^degree; with `cosine`, over the root of K(x, x) K(z, z)."""

    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0
    cosine: bool = False

    @np.errstate(over="ignore")  # what is too large is found by who asked
    def of(self, products: F64) -> F64:
        """The kernel without its cosine, of inner products in any shape."""
        base = self.offset + self.scale * products
        out = base.copy()
        for _ in range(self.degree - 1):
            out *= base
        return out

    @property
    def nothing(self) -> float:
        """The kernel of vectors that share no attribute."""
        return float(self.of(np.zeros(1))[0])

    @np.errstate(over="ignore")
    def factors(self, indptr: NDArray[np.int64], ids: NDArray[np.int32], values: F64 | None) -> F64:
        """What the kernel of each token is multiplied with, F64[tokens]: 1, or with `cosine` K(x, x)^(-1/2), which is
        0 for a token that has K(x, x) = 0."""
        tokens = len(indptr) - 1
        if not self.cosine:
            return np.ones(tokens)
        own = np.maximum(self.of(_squares(indptr, ids, values)), 0.0)
        return np.where(own > 0.0, 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0)), 0.0)


def _squares(indptr: NDArray[np.int64], ids: NDArray[np.int32], values: F64 | None) -> F64:
    """<x, x> of each token. An attribute that a token has twice has the sum of both values; one that the model does
    not know (-1) counts as one that nothing shares: it is left out."""
    token = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    known = ids >= 0
    token, ids = token[known], ids[known]
    value = np.ones(len(ids)) if values is None else values[known]
    order = np.lexsort((ids, token))
    token, ids, value = token[order], ids[order], value[order]
    first = np.ones(len(ids), bool)
    first[1:] = (token[1:] != token[:-1]) | (ids[1:] != ids[:-1])
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(value, starts) if len(starts) else np.zeros(0)
    return np.bincount(token[starts], sums * sums, minlength=len(indptr) - 1).astype(np.float64, copy=False)
