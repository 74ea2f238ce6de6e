"""Products of a few rows with a square matrix, at the full width of the machine: where chains spend their time.

The matrix is read panel by panel: panels of three registers' width, then of one, each with its
rows one behind the other (`in_panels`), so that memory is read as it lies for any number of labels.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import apart, part
from trellis.lanes import LANES, load, multiply_add, splat, store

Array = Any

ROWS = 4  # rows at once: twelve sums in registers, each number loaded used three or four times


@part
def in_panels(matrix: Array, out: Array) -> None:
    """matrix: F64[width, width] -> out: F64[width * width / LANES, LANES], panel by panel."""
    width, at, j = len(matrix), 0, 0
    while j < width:
        registers = 3 if width - j >= 3 * LANES else 1
        for k in range(width):
            for n in range(registers):
                store(out, at, 0, load(matrix, k, j + n * LANES))
                at += 1
        j += registers * LANES


@apart
def products(x: Array, r: int, count: int, panels: Array, y: Array, q: int) -> None:
    """y[q + w] = x[r + w] matrix for w < count, rounded up to whole ROWS: what is behind is read and written, too."""
    width = x.shape[1]
    for w in range(0, count, ROWS):
        at, j = 0, 0
        while j < width:
            if width - j >= 3 * LANES:
                _three(x, r + w, panels, at, y, q + w, j)
                at, j = at + 3 * width, j + 3 * LANES
            else:
                _one(x, r + w, panels, at, y, q + w, j)
                at, j = at + width, j + LANES


@part
def _three(x: Array, r: int, panels: Array, at: int, y: Array, q: int, j: int) -> None:
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = splat(0.0)
    for k in range(x.shape[1]):
        m0, m1, m2 = load(panels, at, 0), load(panels, at + 1, 0), load(panels, at + 2, 0)
        at += 3
        v = x[r, k]
        a0, a1, a2 = multiply_add(v, m0, a0), multiply_add(v, m1, a1), multiply_add(v, m2, a2)
        v = x[r + 1, k]
        b0, b1, b2 = multiply_add(v, m0, b0), multiply_add(v, m1, b1), multiply_add(v, m2, b2)
        v = x[r + 2, k]
        c0, c1, c2 = multiply_add(v, m0, c0), multiply_add(v, m1, c1), multiply_add(v, m2, c2)
        v = x[r + 3, k]
        d0, d1, d2 = multiply_add(v, m0, d0), multiply_add(v, m1, d1), multiply_add(v, m2, d2)
    _store_three(y, q, j, a0, a1, a2)
    _store_three(y, q + 1, j, b0, b1, b2)
    _store_three(y, q + 2, j, c0, c1, c2)
    _store_three(y, q + 3, j, d0, d1, d2)


@part
def _store_three(y: Array, q: int, j: int, v0: Any, v1: Any, v2: Any) -> None:
    store(y, q, j, v0)
    store(y, q, j + LANES, v1)
    store(y, q, j + 2 * LANES, v2)


@part
def _one(x: Array, r: int, panels: Array, at: int, y: Array, q: int, j: int) -> None:
    a = b = c = d = splat(0.0)
    for k in range(x.shape[1]):
        m = load(panels, at + k, 0)
        a, b = multiply_add(x[r, k], m, a), multiply_add(x[r + 1, k], m, b)
        c, d = multiply_add(x[r + 2, k], m, c), multiply_add(x[r + 3, k], m, d)
    store(y, q, j, a)
    store(y, q + 1, j, b)
    store(y, q + 2, j, c)
    store(y, q + 3, j, d)


@apart
def add_outer(x: Array, r: int, z: Array, q: int, count: int, out: Array) -> None:
    """out[i, j] += sum over w < count of x[r + w, i] z[q + w, j]; out: F64[width, width]."""
    width = x.shape[1]
    for i in range(0, width, ROWS):
        j = 0
        while j < width:
            if width - j >= 3 * LANES:
                _outer_three(x, r, z, q, count, out, i, j)
                j += 3 * LANES
            else:
                _outer_one(x, r, z, q, count, out, i, j)
                j += LANES


@part
def _outer_three(x: Array, r: int, z: Array, q: int, count: int, out: Array, i: int, j: int) -> None:
    a0, a1, a2 = load(out, i, j), load(out, i, j + LANES), load(out, i, j + 2 * LANES)
    b0, b1, b2 = load(out, i + 1, j), load(out, i + 1, j + LANES), load(out, i + 1, j + 2 * LANES)
    c0, c1, c2 = load(out, i + 2, j), load(out, i + 2, j + LANES), load(out, i + 2, j + 2 * LANES)
    d0, d1, d2 = load(out, i + 3, j), load(out, i + 3, j + LANES), load(out, i + 3, j + 2 * LANES)
    for w in range(count):
        m0, m1, m2 = load(z, q + w, j), load(z, q + w, j + LANES), load(z, q + w, j + 2 * LANES)
        v = x[r + w, i]
        a0, a1, a2 = multiply_add(v, m0, a0), multiply_add(v, m1, a1), multiply_add(v, m2, a2)
        v = x[r + w, i + 1]
        b0, b1, b2 = multiply_add(v, m0, b0), multiply_add(v, m1, b1), multiply_add(v, m2, b2)
        v = x[r + w, i + 2]
        c0, c1, c2 = multiply_add(v, m0, c0), multiply_add(v, m1, c1), multiply_add(v, m2, c2)
        v = x[r + w, i + 3]
        d0, d1, d2 = multiply_add(v, m0, d0), multiply_add(v, m1, d1), multiply_add(v, m2, d2)
    _store_three(out, i, j, a0, a1, a2)
    _store_three(out, i + 1, j, b0, b1, b2)
    _store_three(out, i + 2, j, c0, c1, c2)
    _store_three(out, i + 3, j, d0, d1, d2)


@part
def _outer_one(x: Array, r: int, z: Array, q: int, count: int, out: Array, i: int, j: int) -> None:
    a, b, c, d = load(out, i, j), load(out, i + 1, j), load(out, i + 2, j), load(out, i + 3, j)
    for w in range(count):
        m = load(z, q + w, j)
        a, b = multiply_add(x[r + w, i], m, a), multiply_add(x[r + w, i + 1], m, b)
        c, d = multiply_add(x[r + w, i + 2], m, c), multiply_add(x[r + w, i + 3], m, d)
    store(out, i, j, a)
    store(out, i + 1, j, b)
    store(out, i + 2, j, c)
    store(out, i + 3, j, d)
