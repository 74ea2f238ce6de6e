"""An inverse Hessian from the last m changes of theta and gradient, as L-BFGS and OWL-QN use it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.optim.vectors import add_scaled, dot, weighted_dot

F64 = NDArray[np.float64]
Floats = NDArray[Any]  # of double precision, or of single
Changes = tuple[tuple[Floats, Floats], ...]

_NO_CURVATURE = 1e-10  # of y . y: a pair with a smaller s . y would make H huge, or not positive
# From so many weights on pairs are kept in single precision: half the memory, and half of what a direction has to read.
# H is exactly that of the pairs as they are kept, s . y included; only the direction comes from it.
_MANY = 1 << 16


def times_inverse_hessian(
    q: F64, changes: Changes, curvatures: tuple[float, ...] = (), inverse_diagonal: F64 | None = None
) -> None:
    """q <- H q by the two-loop recursion (Nocedal & Wright 2006, algorithm 7.4), where it is.

    `changes` are pairs (s, y), oldest first, and `curvatures` their s . y, if known. H0 = gamma D^-1 with gamma such
    that the newest pair has s . y = y . H0 y (eq. 7.20 where D = I); without pairs H0 = D^-1.
    """
    curvatures = curvatures or tuple(dot(s, y) for s, y in changes)
    by = _in_sweeps if changes and len(q) >= _MANY else in_two_loops
    by(q, changes, curvatures, inverse_diagonal)


def in_two_loops(q: F64, changes: Changes, curvatures: tuple[float, ...], inverse_diagonal: F64 | None) -> None:
    scratch = np.empty_like(q)
    coefficients = []
    for (s, y), sy in zip(reversed(changes), reversed(curvatures), strict=True):
        a = dot(s, q) / sy
        add_scaled(q, -a, y, scratch)
        coefficients.append(a)
    if inverse_diagonal is not None:
        q *= inverse_diagonal
    if changes:
        y = changes[-1][1]
        q *= curvatures[-1] / weighted_dot(inverse_diagonal, y, y, scratch)
    for (s, y), sy, a in zip(changes, curvatures, reversed(coefficients), strict=True):
        add_scaled(q, a - dot(y, q) / sy, s, scratch)


def _in_sweeps(q: F64, changes: Changes, curvatures: tuple[float, ...], inverse_diagonal: F64 | None) -> None:
    """The same with one sweep for each step: what a step adds, and the product that the next one asks for."""
    from trellis.optim.vector_kernels import add_then_dot, scale_then_dot, triple_dot

    scales = np.ones_like(q) if inverse_diagonal is None else inverse_diagonal
    vectors = [(s[None], y[None]) for s, y in changes]
    row, coefficients = q[None], [0.0] * len(vectors)
    product = add_then_dot(row, 0.0, vectors[-1][1], vectors[-1][0])
    for k in range(len(vectors) - 1, -1, -1):
        coefficients[k] = product / curvatures[k]
        product = add_then_dot(row, -coefficients[k], vectors[k][1], vectors[max(k - 1, 0)][0])
    newest = vectors[-1][1]
    gamma = curvatures[-1] / triple_dot(scales[None], newest, newest)
    product = scale_then_dot(row, gamma, scales[None], vectors[0][1])
    for k, (s, _) in enumerate(vectors):
        after = vectors[min(k + 1, len(vectors) - 1)][1]
        product = add_then_dot(row, coefficients[k] - product / curvatures[k], s, after)


def remember(
    changes: Changes, curvatures: tuple[float, ...], s: F64, y: F64, memory: int
) -> tuple[Changes, tuple[float, ...]]:
    """With the newest pair, if there is curvature in it, and without the oldest beyond `memory`."""
    return remember_change(changes, curvatures, (s, y), None, memory)


def remember_change(
    changes: Changes,
    curvatures: tuple[float, ...],
    new: tuple[F64, F64],
    old: tuple[F64, F64] | None,
    memory: int,
) -> tuple[Changes, tuple[float, ...]]:
    """The same for s = theta' - theta and y = gradient' - gradient, from (theta', gradient') and (theta, gradient)."""
    curvatures = curvatures or tuple(dot(*pair) for pair in changes)
    for kind in (np.float32, np.float64) if len(new[0]) >= _MANY else (np.float64,):
        with np.errstate(over="ignore"):  # what has no room in single precision is kept in double
            if old is None:
                pair = new[0].astype(kind, copy=False), new[1].astype(kind, copy=False)
            else:
                pair = _difference(new[0], old[0], kind), _difference(new[1], old[1], kind)
        sy = dot(*pair)
        if math.isfinite(sy) and sy > _NO_CURVATURE * dot(pair[1], pair[1]):
            return (*changes, pair)[-memory:], (*curvatures, sy)[-memory:]
    return changes, curvatures


def _difference(a: F64, b: F64, kind: Any) -> Floats:
    """a - b, rounded once, without a vector of double precision on the way to one of single."""
    return np.subtract(a, b, out=np.empty(len(a), kind), casting="same_kind")
