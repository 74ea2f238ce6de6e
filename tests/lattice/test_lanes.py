"""Registers said by name do what arrays do, and products of rows are matrix products, for any width."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.jit import kernel
from trellis.lanes import (
    LANES,
    exp,
    highest,
    larger,
    load,
    load_doubles,
    multiply_add,
    smaller,
    splat,
    store,
    total,
    where_above,
    where_bits,
    where_positive,
)
from trellis.lattice.kernels.in_step import line_up, room_for_groups
from trellis.lattice.kernels.products import ROWS, add_outer, in_panels, products
from trellis.rows import PAD, empty_rows, padded, zero_rows

WIDTHS = [8, 16, 24, 32, 40, 48, 56]


@kernel
def each_of(a, b, c, out):
    for i in range(a.shape[0]):
        for j in range(0, a.shape[1], LANES):
            x, y, z = load(a, i, j), load(b, i, j), load_doubles(c, i, j)
            store(out[0], i, j, multiply_add(x, y, z))
            store(out[1], i, j, multiply_add(2.0, x - y, z * 3.0))
            store(out[2], i, j, larger(x, y) + smaller(x, y))
            store(out[3], i, j, where_positive(x, y))
            store(out[4], i, j, where_above(x, 0.5, y, 7.0))
            store(out[5], i, j, where_bits((0b10110100 >> j % 8), x))
            store(out[6], i, j, splat(1.5) * x)


@kernel
def sums_of(a, out):
    for i in range(a.shape[0]):
        sums, most = splat(0.0), splat(-np.inf)
        for j in range(0, a.shape[1], LANES):
            sums, most = sums + load(a, i, j), larger(most, load(a, i, j))
        out[i, 0], out[i, 1] = total(sums), highest(most)


@kernel
def powers(a, out):
    for i in range(a.shape[0]):
        for j in range(0, a.shape[1], LANES):
            store(out, i, j, exp(load(a, i, j)))


@kernel
def single(a, b, out):
    for j in range(0, a.shape[1], LANES):
        store(out, 0, j, multiply_add(2.0, load(a, 0, j), load(b, 0, j)))


@kernel
def product_of(x, matrix, count, y, q):
    panels = np.empty((len(matrix) * len(matrix) // LANES, LANES))
    in_panels(matrix, panels)
    products(x, 1, count, panels, y, q)


@kernel
def outer_of(x, z, count, out):
    add_outer(x, 1, z, 2, count, out)


@kernel
def lined_up(start, length, place):
    group = room_for_groups(len(start), 9, length.sum(), 8)
    for w in range(len(start)):
        group.start[w], group.length[w] = start[w], length[w]
    positions = line_up(group, len(start))
    for r in range(len(place)):
        place[r] = group.place[r]
    return positions, group.first[: positions + 1].copy(), group.active[: positions + 1].copy()


def test_rows_are_padded_to_whole_registers_and_begin_at_cache_lines():
    assert [padded(n) for n in (0, 1, 8, 9, 22)] == [0, 8, 8, 16, 24]
    assert PAD % LANES == 0
    assert empty_rows(0, 24).shape == (0, 24)
    for rows in (1, 7):
        memory = empty_rows(rows, 24, np.float32)
        assert memory.shape == (rows, 24)
        assert memory.ctypes.data % 64 == 0
    assert not zero_rows(3, 8).any()


def test_every_operation_is_that_of_arrays():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 16))
    c = rng.normal(size=(3, 16)).astype(np.float32)
    out = np.zeros((7, 3, 16))
    each_of(a, b, c, out)
    bits = np.tile((0b10110100 >> np.arange(8)) & 1, 2).astype(bool)
    expected = [
        a * b + c,
        2.0 * (a - b) + c.astype(float) * 3.0,
        a + b,
        np.where(a > 0.0, b, 0.0),
        np.where(a > 0.5, b, 7.0),
        np.where(bits, a, 0.0),
        1.5 * a,
    ]
    for found, want in zip(out, expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-14, atol=1e-14)


def test_single_precision_stays_single():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 1, 16)).astype(np.float32)
    out = np.zeros((1, 16), np.float32)
    single(a, b, out)
    np.testing.assert_allclose(out, 2.0 * a + b, rtol=1e-6, atol=1e-6)


def test_lanes_meet_in_sums_and_maxima():
    a = np.random.default_rng(2).normal(size=(4, 24))
    out = np.zeros((4, 2))
    sums_of(a, out)
    np.testing.assert_allclose(out[:, 0], a.sum(axis=1), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(out[:, 1], a.max(axis=1))


def test_exponentials_are_right_to_rounding_and_0_far_below():
    a = -np.concatenate([np.logspace(-300, 2.84, 4000), [0.0, 707.9, 708.0, 1e4, np.inf], np.zeros(3)]).reshape(-1, 8)
    out = np.empty_like(a)
    powers(a, out)
    there = a > -708.0
    np.testing.assert_allclose(out[there], np.exp(a[there]), rtol=1e-15)
    assert not out[~there].any()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 3, 4, 6])
def test_products_of_rows(width, count):
    rng = np.random.default_rng(width)
    x, matrix, y = rng.normal(size=(2 + count + ROWS, width)), rng.normal(size=(width, width)), np.zeros((16, width))
    product_of(x, matrix, count, y, 3)
    np.testing.assert_allclose(y[3 : 3 + count], x[1 : 1 + count] @ matrix, rtol=1e-12, atol=1e-12)
    assert not y[:3].any()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_outer_products_are_added(width, count):
    rng = np.random.default_rng(width)
    x, z, out = rng.normal(size=(9, width)), rng.normal(size=(9, width)), rng.normal(size=(width, width))
    expected = out + x[1 : 1 + count].T @ z[2 : 2 + count]
    outer_of(x, z, count, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_a_group_has_no_row_for_a_sentence_that_has_ended():
    start, length = np.array([10, 20, 30]), np.array([4, 2, 2])
    place = np.zeros(8, np.int64)
    positions, first, active = lined_up(start, length, place)
    assert positions == 4
    assert first.tolist() == [0, 3, 6, 7, 8]
    assert active.tolist() == [3, 3, 1, 1, 0]
    assert place.tolist() == [10, 20, 30, 11, 21, 31, 12, 13]
