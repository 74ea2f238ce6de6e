"""Rows of numbers, one for each label, as kernels read them: whole registers, from the beginning of a cache line on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PAD = 8  # rows have a multiple of so many numbers: whole registers on any machine (see `lanes`)
_LINE = 64  # bytes of a cache line: a register that lies across two of them is read and written twice


def padded(count: int) -> int:
    """The count rounded up to whole registers."""
    return -(-count // PAD) * PAD


def empty_rows(rows: int, width: int, kind: Any = np.float64) -> NDArray[Any]:
    """Fresh memory for a matrix."""
    size = np.dtype(kind).itemsize
    raw = np.empty(rows * width * size + _LINE, np.uint8)
    first = -raw.ctypes.data % _LINE
    out: NDArray[Any] = raw[first : first + rows * width * size].view(kind).reshape(rows, width)
    return out


def zero_rows(rows: int, width: int, kind: Any = np.float64) -> NDArray[Any]:
    """The same, filled with zeros."""
    out = empty_rows(rows, width, kind)
    out.fill(0)
    return out
