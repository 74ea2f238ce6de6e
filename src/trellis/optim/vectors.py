"""Arithmetic on vectors as long as theta: the same bits whatever BLAS there is, and no temporaries to map anew."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Floats = NDArray[Any]  # of double precision, or of single


def dot(a: Floats, b: Floats) -> float:
    """Not BLAS: the result must not depend on how many threads one has. Vectors may be of single precision; the sum is
    not."""
    return float(np.einsum("i,i->", a, b, dtype=np.float64))


def norm(a: F64) -> float:
    return math.sqrt(dot(a, a))


def weighted_dot(weights: F64 | None, a: F64, b: F64, scratch: F64) -> float:
    """sum of weights a b; without weights, a . b."""
    return dot(a, b) if weights is None else dot(np.multiply(weights, a, out=scratch), b)


def add_scaled(target: F64, factor: float, vector: F64, scratch: F64) -> None:
    """target += factor vector, where it is."""
    target += np.multiply(vector, factor, out=scratch)
