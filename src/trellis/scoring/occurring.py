"""Attributes that have values, token by token, wherever these come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def number_by_appearance(ids: I32, attributes: int) -> tuple[I32, I64]:
    """New numbers for the attributes that occur, in order of appearance: I32[occurrences], and the old number of
    each, I64[distinct]. Weights of rare attributes are then read one after the other."""
    from trellis.scoring.kernels import note_appearances

    new, old = np.empty(len(ids), np.int32), np.empty(min(attributes, len(ids)), np.int64)
    distinct = note_appearances(ids, np.full(attributes, -1, np.int32), old, new)
    return new, old[:distinct].copy()


@dataclass(frozen=True)
class Occurring:
    """Token t has the attributes `ids[start[t]:start[t + 1]]` with these values."""

    start: I64
    ids: I32
    values: F64

    def part(self, first: int, last: int) -> Occurring:
        """Tokens first..last."""
        a, b = int(self.start[first]), int(self.start[last])
        return Occurring(self.start[first : last + 1] - a, self.ids[a:b], self.values[a:b])


def behind(first: Occurring, more: Occurring, base: int) -> tuple[Occurring, I64]:
    """Two kinds of attributes together, the second numbered from `base` on, and where the second ones are."""
    ids, values = np.empty(len(first.ids) + len(more.ids), np.int32), np.empty(len(first.ids) + len(more.ids))
    before = np.arange(len(first.ids)) + np.repeat(more.start[:-1], np.diff(first.start))
    after = np.arange(len(more.ids)) + np.repeat(first.start[1:], np.diff(more.start))
    ids[before], values[before] = first.ids, first.values
    ids[after], values[after] = more.ids + base, more.values
    return Occurring(first.start + more.start, ids, values), after
