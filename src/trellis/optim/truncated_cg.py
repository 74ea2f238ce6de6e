"""Conjugate gradient for a Newton step, cut off early: at the edge of a trust region, at curvature that is not
positive, or when the equation is solved well enough (Steihaug 1983; Nocedal & Wright 2006, algorithms 7.1 and 7.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.optim.vectors import add_scaled, dot, weighted_dot

F64 = NDArray[np.float64]

_LAST_FEW = 5  # directions: q does not fall evenly from one to the next

SOLVED, EDGE, NOT_POSITIVE, EXHAUSTED = "solved", "edge", "not positive", "exhausted"


@dataclass(frozen=True)
class NewtonStep:
    """About the lowest point of q(s) = g.s + s.Hs/2 and why it is no better: `end` is SOLVED, EDGE (of the trust
    region), NOT_POSITIVE (curvature) or EXHAUSTED (no more products allowed). `predicted` = -q(s), `length` =
    |s|_M."""

    step: F64
    predicted: float
    length: float
    products: int
    end: str


def newton_step(
    multiply: Callable[[F64], F64],
    gradient: F64,
    accuracy: float,
    most_products: int,
    radius: float = math.inf,
    metric: F64 | None = None,
    negligible: float = 0.0,
) -> NewtonStep:
    """Solves H s = -g until |H s + g| <= accuracy |g|, with `multiply` for H, or until q has all but stopped falling:
    by less than `negligible` along the last few directions (about as much as is left, Hestenes & Stiefel 1952).

    `metric` is the preconditioner M, a diagonal. The norm of s is then sqrt(s.Ms) and that of the residual
    sqrt(r.M^-1 r), which CG itself measures in. Where curvature is not positive, s goes on to the edge of the trust
    region; where there is no edge it ends before, or goes along the (preconditioned) gradient if it has not begun.
    """
    s, r, scratch = np.zeros_like(gradient), -gradient, np.empty_like(gradient)  # r = -(H s + g)
    z = r if metric is None else r / metric  # M^-1 r
    d = z.copy()
    rz = dot(r, z)
    goal = accuracy * accuracy * rz
    falls, products, end = [0.0], 0, EXHAUSTED
    while products < most_products and end == EXHAUSTED:
        h = multiply(d)
        products += 1
        dh = dot(d, h)
        to_edge = _to_edge(s, d, radius, metric, scratch)
        if not 0.0 < dh < math.inf:
            end, dh = NOT_POSITIVE, dh if math.isfinite(dh) else 0.0
            a = to_edge if math.isfinite(radius) else float(products == 1)
        elif rz >= to_edge * dh:
            end, a = EDGE, to_edge
        else:
            a = rz / dh
        add_scaled(s, a, d, scratch)
        falls.append(a * (rz - 0.5 * a * dh))  # q falls by this along d, as r.d = r.z
        if end != EXHAUSTED:
            break
        add_scaled(r, -a, h, scratch)
        if metric is not None:
            np.divide(r, metric, out=z)
        last, rz = rz, dot(r, z)
        if rz <= goal or (products >= _LAST_FEW and sum(falls[-_LAST_FEW:]) <= negligible):
            end = SOLVED
        d *= rz / last
        d += z
    return NewtonStep(s, sum(falls), math.sqrt(weighted_dot(metric, s, s, scratch)), products, end)


def _to_edge(s: F64, d: F64, radius: float, metric: F64 | None, scratch: F64) -> float:
    """The a > 0 with |s + a d|_M = radius."""
    if math.isinf(radius):
        return math.inf
    ss, sd, dd = (weighted_dot(metric, *pair, scratch) for pair in ((s, s), (s, d), (d, d)))
    left = max(radius * radius - ss, 0.0)
    root = math.sqrt(sd * sd + dd * left)
    return left / (sd + root) if sd > 0.0 else (root - sd) / dd  # neither subtracts what is nearly equal
