"""Tables of a resource from a model file, which may be damaged or hand-made: everything is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.features.functions.contract import Tables


def expect(tables: Tables, *names: str) -> None:
    """Refuses tables that are not just those named."""
    if set(tables) != set(names):
        raise ValueError(f"tables {', '.join(sorted(tables)) or 'none'} found; expected {', '.join(sorted(names))}")


def strings(tables: Tables, name: str) -> list[str]:
    """A list of different strings."""
    found = tables[name]
    if not isinstance(found, list | tuple) or not all(isinstance(s, str) for s in found):
        raise ValueError(f"{name} is no list of strings")
    if len(set(found)) != len(found):
        raise ValueError(f"{name} has a string twice")
    return list(found)


def indices(tables: Tables, name: str, length: int | None, size: int) -> NDArray[np.int64]:
    """I64[length], each from 0 to below `size`."""
    found = _array(tables, name, np.int64, 1)
    if length is not None and len(found) != length:
        raise ValueError(f"{name} has {len(found)} entries; expected {length}")
    if len(found) and not (found.min() >= 0 and found.max() < size):
        raise ValueError(f"{name} is out of range")
    return found


def finite(tables: Tables, name: str, rows: int) -> NDArray[np.float64]:
    """F64[rows, columns] without NaN and infinities."""
    found = _array(tables, name, np.float64, 2)
    if len(found) != rows:
        raise ValueError(f"{name} has {len(found)} rows; expected {rows}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return found


def _array(tables: Tables, name: str, dtype: type[np.generic], axes: int) -> NDArray[Any]:
    found = tables[name]
    if not isinstance(found, np.ndarray) or found.dtype != np.dtype(dtype) or found.ndim != axes:
        raise ValueError(f"{name} is no array of {np.dtype(dtype)} with {axes} axes")
    return found
