"""Small building blocks of the chain kernels, written so that LLVM turns them into vector code."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_part, part

Array = Any

_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.693145751953125  # the first bits of ln 2: exact times any exponent
_LN2_LOW = 1.42860682030941723212e-6
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the lowest bits


@ordered_part
def exp_into(x: Array, shift: float, out: Array) -> None:
    """out[k] = exp(x[k] - shift) where x[k] <= shift; 0 below exp(-708). Relative error below 1e-15.

    exp(v) = 2^n exp(f) with |f| <= ln(2)/2 and Taylor's polynomial for exp(f). There is no call and no
    conversion between floats and integers in it, so that the loop is vectorised (libm's exp is not).
    """
    for k in range(len(x)):
        d = x[k] - shift
        v = d if d > -708.0 else -708.0
        shifted = v * _LOG2E + _ROUND
        n = shifted - _ROUND
        f = (v - n * _LN2_HIGH) - n * _LN2_LOW
        p = f * (1.0 / 479001600.0) + 1.0 / 39916800.0
        p = p * f + 1.0 / 3628800.0
        p = p * f + 1.0 / 362880.0
        p = p * f + 1.0 / 40320.0
        p = p * f + 1.0 / 5040.0
        p = p * f + 1.0 / 720.0
        p = p * f + 1.0 / 120.0
        p = p * f + 1.0 / 24.0
        p = p * f + 1.0 / 6.0
        p = p * f + 0.5
        p = p * f + 1.0
        p = p * f + 1.0
        power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
        out[k] = p * power if d > -708.0 else 0.0


@part
def highest(x: Array) -> Any:
    """The largest number, -inf of none. Four run side by side, as one maximum would have to wait for the last."""
    a = b = c = d = -np.inf
    whole = len(x) - len(x) % 4
    for k in range(0, whole, 4):
        a = x[k] if x[k] > a else a
        b = x[k + 1] if x[k + 1] > b else b
        c = x[k + 2] if x[k + 2] > c else c
        d = x[k + 3] if x[k + 3] > d else d
    for k in range(whole, len(x)):
        a = x[k] if x[k] > a else a
    a = b if b > a else a
    c = d if d > c else c
    return c if c > a else a


@part
def four_products(x: Array, r0: int, r1: int, r2: int, r3: int, m: Array, y: Array) -> None:
    """y[w, j] = sum_k x[r_w, k] m[j, k] for four rows at once; m has an even number of rows.

    Eight sums live in registers and every loaded number is used four or two times.
    """
    for j in range(0, m.shape[0], 2):
        y00 = y01 = y10 = y11 = y20 = y21 = y30 = y31 = 0.0
        for k in range(m.shape[1]):
            m0, m1 = m[j, k], m[j + 1, k]
            x0, x1, x2, x3 = x[r0, k], x[r1, k], x[r2, k], x[r3, k]
            y00 += x0 * m0
            y01 += x0 * m1
            y10 += x1 * m0
            y11 += x1 * m1
            y20 += x2 * m0
            y21 += x2 * m1
            y30 += x3 * m0
            y31 += x3 * m1
        y[0, j], y[0, j + 1] = y00, y01
        y[1, j], y[1, j + 1] = y10, y11
        y[2, j], y[2, j + 1] = y20, y21
        y[3, j], y[3, j + 1] = y30, y31


@part
def four_sums_of_products(x: Array, r: int, z: Array, q: int, m: Array, n: Array, y: Array) -> None:
    """y[w, j] = sum_k (x[r + w, k] m[j, k] + z[q + w, k] n[j, k]) for w < 4; as `four_products`, with half as many
    sums across a register."""
    for j in range(0, m.shape[0], 2):
        y00 = y01 = y10 = y11 = y20 = y21 = y30 = y31 = y.dtype.type(0)
        for k in range(m.shape[1]):
            m0, m1, n0, n1 = m[j, k], m[j + 1, k], n[j, k], n[j + 1, k]
            x0, x1, x2, x3 = x[r, k], x[r + 1, k], x[r + 2, k], x[r + 3, k]
            z0, z1, z2, z3 = z[q, k], z[q + 1, k], z[q + 2, k], z[q + 3, k]
            y00 += x0 * m0 + z0 * n0
            y01 += x0 * m1 + z0 * n1
            y10 += x1 * m0 + z1 * n0
            y11 += x1 * m1 + z1 * n1
            y20 += x2 * m0 + z2 * n0
            y21 += x2 * m1 + z2 * n1
            y30 += x3 * m0 + z3 * n0
            y31 += x3 * m1 + z3 * n1
        y[0, j], y[0, j + 1] = y00, y01
        y[1, j], y[1, j + 1] = y10, y11
        y[2, j], y[2, j + 1] = y20, y21
        y[3, j], y[3, j + 1] = y30, y31


@part
def add_outer_products(x: Array, r: int, z: Array, s: int, p: Array, q: Array, out: Array) -> None:
    """out[i, j] += sum over w < 4 of x[r + w, i] p[w, j] + z[s + w, i] q[w, j]. Unlike `add_product` it takes rows as
    they are, for a few at a time."""
    for i in range(out.shape[0]):
        x0, x1, x2, x3 = x[r, i], x[r + 1, i], x[r + 2, i], x[r + 3, i]
        z0, z1, z2, z3 = z[s, i], z[s + 1, i], z[s + 2, i], z[s + 3, i]
        for j in range(out.shape[1]):
            first = (x0 * p[0, j] + x1 * p[1, j]) + (x2 * p[2, j] + x3 * p[3, j])
            second = (z0 * q[0, j] + z1 * q[1, j]) + (z2 * q[2, j] + z3 * q[3, j])
            out[i, j] += first + second


@part
def add_product(a: Array, b: Array, n: int, out: Array) -> None:
    """out[i, j] += sum_k a[i, k] b[j, k] over k < n; a multiple of four rows in a, of two in b."""
    for i in range(0, a.shape[0], 4):
        for j in range(0, b.shape[0], 2):
            c00 = c01 = c10 = c11 = c20 = c21 = c30 = c31 = a.dtype.type(0)
            for k in range(n):
                b0, b1 = b[j, k], b[j + 1, k]
                a0, a1, a2, a3 = a[i, k], a[i + 1, k], a[i + 2, k], a[i + 3, k]
                c00 += a0 * b0
                c01 += a0 * b1
                c10 += a1 * b0
                c11 += a1 * b1
                c20 += a2 * b0
                c21 += a2 * b1
                c30 += a3 * b0
                c31 += a3 * b1
            out[i, j] += c00
            out[i, j + 1] += c01
            out[i + 1, j] += c10
            out[i + 1, j + 1] += c11
            out[i + 2, j] += c20
            out[i + 2, j + 1] += c21
            out[i + 3, j] += c30
            out[i + 3, j + 1] += c31
