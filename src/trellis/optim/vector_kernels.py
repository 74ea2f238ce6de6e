"""Compiled arithmetic on vectors as long as theta, several steps in one sweep: such vectors do not fit into a cache, so
what counts is how often they are read. Vectors are F64[1, n]; those that are only read may be F32[1, n]."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, part
from trellis.lanes import LANES, load, load_doubles, multiply_add, splat, store, total

Array = Any


@kernel
def add_then_dot(q: Array, factor: float, v: Array, w: Array) -> Any:
    """q += factor v, and then w . q."""
    n = q.shape[1]
    whole = n - n % (2 * LANES)
    a = b = splat(0.0)
    for j in range(0, whole, 2 * LANES):
        c = multiply_add(factor, load_doubles(v, 0, j), load(q, 0, j))
        d = multiply_add(factor, load_doubles(v, 0, j + LANES), load(q, 0, j + LANES))
        store(q, 0, j, c)
        store(q, 0, j + LANES, d)
        a = multiply_add(c, load_doubles(w, 0, j), a)
        b = multiply_add(d, load_doubles(w, 0, j + LANES), b)
    return total(a) + total(b) + _rest(q, factor, v, w, whole)


@kernel
def scale_then_dot(q: Array, factor: float, scales: Array, w: Array) -> Any:
    """q *= factor scales, and then w . q."""
    n = q.shape[1]
    whole = n - n % LANES
    a = splat(0.0)
    for j in range(0, whole, LANES):
        c = load(q, 0, j) * load_doubles(scales, 0, j) * factor
        store(q, 0, j, c)
        a = multiply_add(c, load_doubles(w, 0, j), a)
    for j in range(whole, n):
        q[0, j] *= scales[0, j] * factor
    return total(a) + _rest(q, 0.0, w, w, whole)


@part
def _rest(q: Array, factor: float, v: Array, w: Array, first: int) -> Any:
    """`add_then_dot` for what is behind the last whole registers."""
    found = 0.0
    for j in range(first, q.shape[1]):
        q[0, j] += factor * v[0, j]
    for j in range(first, q.shape[1]):
        found += q[0, j] * w[0, j]
    return found


@kernel
def triple_dot(a: Array, b: Array, c: Array) -> Any:
    """sum of a b c."""
    n = a.shape[1]
    whole = n - n % LANES
    sums, rest = splat(0.0), 0.0
    for j in range(0, whole, LANES):
        sums = multiply_add(load_doubles(a, 0, j) * load_doubles(b, 0, j), load_doubles(c, 0, j), sums)
    for j in range(whole, n):
        rest += a[0, j] * b[0, j] * c[0, j]
    return total(sums) + rest
