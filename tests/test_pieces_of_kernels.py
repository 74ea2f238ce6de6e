"""Pieces of kernels are compiled with the kernels they are part of, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.jit import alone, apart, compiling, kernel, part


@part
def doubled(x):
    return 2.0 * x


@apart
def added_up(values, first):
    total = 0.0
    for k in range(first, len(values)):
        total += doubled(values[k])
    return total


@kernel
def both_halves(values, middle):
    return added_up(values[:middle], 0), added_up(values, middle)


def test_a_kernel_has_pieces_within_pieces():
    assert both_halves(np.arange(5.0), 2) == (2.0, 18.0)


@pytest.mark.skipif(not compiling(), reason="without a compiler a piece is a function like any other")
@pytest.mark.parametrize("piece", [doubled, added_up])
def test_python_cannot_call_a_piece(piece):
    with pytest.raises(TypeError, match="not callable"):
        piece(*([1.0] if piece is doubled else [np.ones(3), 0]))


def test_a_piece_can_be_a_kernel_of_its_own():
    assert alone(doubled)(4.0) == 8.0
    assert alone(added_up)(np.ones(3), 1) == 4.0
