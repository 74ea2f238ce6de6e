"""An inverse Hessian from the last m changes of theta and gradient, as L-BFGS and OWL-QN use it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.optim.vectors import add_scaled, dot, weighted_dot

F64 = NDArray[np.float64]
Changes = tuple[tuple[F64, F64], ...]

_NO_CURVATURE = 1e-10  # of y . y: a pair with a smaller s . y would make H huge, or not positive


def times_inverse_hessian(
    q: F64, changes: Changes, curvatures: tuple[float, ...] = (), inverse_diagonal: F64 | None = None
) -> None:
    """q <- H q by the two-loop recursion (Nocedal & Wright 2006, algorithm 7.4), where it is.

    `changes` are pairs (s, y), oldest first, and `curvatures` their s . y, if known. H0 = gamma D^-1 with gamma such
    that the newest pair has s . y = y . H0 y (eq. 7.20 where D = I); without pairs H0 = D^-1.
    """
    scratch = np.empty_like(q)
    curvatures = curvatures or tuple(dot(s, y) for s, y in changes)
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


def remember(
    changes: Changes, curvatures: tuple[float, ...], s: F64, y: F64, memory: int
) -> tuple[Changes, tuple[float, ...]]:
    """With the newest pair, if there is curvature in it, and without the oldest beyond `memory`."""
    curvatures = curvatures or tuple(dot(*pair) for pair in changes)
    sy = dot(s, y)
    if not sy > _NO_CURVATURE * dot(y, y):
        return changes, curvatures
    return (*changes, (s, y))[-memory:], (*curvatures, sy)[-memory:]
