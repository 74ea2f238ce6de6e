"""Small loops that find out what this machine can do: the limits that the kernels of training are held against.

Each does one thing as often as it is told. None can be left out or made shorter by the compiler: sums are taken as
they are written, numbers come from arrays, and every loop ends in an answer that depends on all of it.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, ordered_kernel
from trellis.lanes import LANES, load, multiply_add, splat, store, total
from trellis.lattice.kernels.products import ROWS, in_panels, products

Array = Any

CHAINS = 12  # of multiply-adds, none of which waits for another: more than a machine has under way at a time
AT_ONCE = 4  # rows that are read side by side, each into sums of its own


@ordered_kernel
def multiply_adds(times: int, numbers: Array) -> float:
    """CHAINS times so many: a = a x + y, whole registers. numbers: F64[CHAINS + 2, LANES], x and y last."""
    x, y = load(numbers, CHAINS, 0), load(numbers, CHAINS + 1, 0)
    a, b, c = load(numbers, 0, 0), load(numbers, 1, 0), load(numbers, 2, 0)
    d, e, f = load(numbers, 3, 0), load(numbers, 4, 0), load(numbers, 5, 0)
    g, h, i = load(numbers, 6, 0), load(numbers, 7, 0), load(numbers, 8, 0)
    j, k, m = load(numbers, 9, 0), load(numbers, 10, 0), load(numbers, 11, 0)
    for _ in range(times):
        a, b, c = multiply_add(a, x, y), multiply_add(b, x, y), multiply_add(c, x, y)
        d, e, f = multiply_add(d, x, y), multiply_add(e, x, y), multiply_add(f, x, y)
        g, h, i = multiply_add(g, x, y), multiply_add(h, x, y), multiply_add(i, x, y)
        j, k, m = multiply_add(j, x, y), multiply_add(k, x, y), multiply_add(m, x, y)
    return total(((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + m)))  # type: ignore[no-any-return]


@kernel
def panels_of(matrix: Array, panels: Array) -> None:
    """A matrix as `tiled_products` reads it."""
    in_panels(matrix, panels)


@kernel
def tiled_products(times: int, rows: Array, panels: Array) -> None:
    """So many products of ROWS rows with a matrix (in panels), each of what the last one made. rows: F64[2 ROWS,
    width]."""
    for n in range(times):
        here = n % 2 * ROWS
        products(rows, here, ROWS, panels, rows, ROWS - here)


@ordered_kernel
def read_lines(times: int, rows: Array) -> float:
    """Reads all, as it lies: F64[rows, 8 LANES]."""
    a = b = c = d = e = f = g = h = splat(0.0)
    for _ in range(times):
        for r in range(rows.shape[0]):
            a, b = a + load(rows, r, 0), b + load(rows, r, LANES)
            c, d = c + load(rows, r, 2 * LANES), d + load(rows, r, 3 * LANES)
            e, f = e + load(rows, r, 4 * LANES), f + load(rows, r, 5 * LANES)
            g, h = g + load(rows, r, 6 * LANES), h + load(rows, r, 7 * LANES)
    return total(((a + b) + (c + d)) + ((e + f) + (g + h)))  # type: ignore[no-any-return]


@ordered_kernel
def read_rows(times: int, rows: Array, order: Array) -> float:
    """Reads rows in this order, four side by side; len(order) is a multiple of AT_ONCE."""
    a = b = c = d = e = f = g = h = i = m = n = o = splat(0.0)
    for _ in range(times):
        for k in range(0, len(order), AT_ONCE):
            p, q, r, s = order[k], order[k + 1], order[k + 2], order[k + 3]
            j = 0
            while j < rows.shape[1]:
                a, b, c, d = a + load(rows, p, j), b + load(rows, q, j), c + load(rows, r, j), d + load(rows, s, j)
                j += LANES
                if rows.shape[1] - j >= 2 * LANES:
                    e, f, g, h = e + load(rows, p, j), f + load(rows, q, j), g + load(rows, r, j), h + load(rows, s, j)
                    j += LANES
                    i, m, n, o = i + load(rows, p, j), m + load(rows, q, j), n + load(rows, r, j), o + load(rows, s, j)
                    j += LANES
    return total(((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + m) + (n + o)))  # type: ignore[no-any-return]


@ordered_kernel
def change_rows(times: int, rows: Array, order: Array, numbers: Array) -> None:
    """Adds a number to all of these rows, in this order."""
    v = load(numbers, 0, 0)
    for _ in range(times):
        for k in range(len(order)):
            r = order[k]
            for j in range(0, rows.shape[1], LANES):
                store(rows, r, j, load(rows, r, j) + v)
