"""Attributes that have values, token by token, wherever these come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class Appearances:
    """Attributes in order of appearance in all that has been shown."""

    def __init__(self, attributes: int):
        self._number = np.full(attributes, -1, np.int32)
        self._old = np.empty(attributes, np.int64)
        self._count = 0

    def show(self, ids: I32) -> tuple[I32, I64]:
        """New numbers for the attributes that occur here, ascending in the order that is kept: I32[occurrences], and
        the old number of each, I64[distinct]. Weights of rare attributes are then read one after the other."""
        from trellis.scoring.kernels import note_appearances

        before, place = self._count, np.empty(len(ids), np.int32)
        self._count = note_appearances(ids, self._number, self._old, place, before)
        if before == 0:
            return place, self._old[: self._count].copy()
        here = np.zeros(self._count, bool)
        here[place] = True
        return (np.cumsum(here, dtype=np.int32) - 1)[place], self._old[: self._count][here]


def number_by_appearance(ids: I32, attributes: int) -> tuple[I32, I64]:
    """The same for ids that are by themselves."""
    return Appearances(attributes).show(ids)


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
