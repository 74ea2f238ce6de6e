"""One column of a corpus: a small table of distinct strings and an integer per token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """`ids: I32[tokens]` index `strings`, the distinct values in order of first appearance."""

    ids: NDArray[np.int32]
    strings: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def index(self) -> dict[str, int]:
        """string -> id."""
        return {string: i for i, string in enumerate(self.strings)}

    def translated(self, index: dict[str, int]) -> NDArray[np.int32]:
        """The column in another table's ids, -1 where that table lacks the string.

        Strings are looked up once per distinct value, tokens by a gather.
        """
        table = np.fromiter(map(index.get, self.strings, repeat(-1)), np.int32, len(self.strings))
        return table[self.ids]

    def values(self) -> list[str]:
        """One Python string per token (for output, not for computing)."""
        return list(map(self.strings.__getitem__, self.ids.tolist()))

    def compact(self) -> Column:
        """The column as a reader would have numbered it: only strings that occur, in order of first appearance."""
        tokens = len(self.ids)
        first = np.full(len(self.strings), tokens)
        first[self.ids[::-1]] = np.arange(tokens)[::-1]  # of several the last one written stays
        order = np.argsort(first, kind="stable")
        order = order[first[order] < tokens]
        if len(order) == len(first) and np.all(order[1:] > order[:-1]):
            return self
        rank = np.empty(len(first), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return Column(rank[self.ids], [self.strings[i] for i in order.tolist()])

    @classmethod
    def of(cls, values: Iterable[str]) -> Column:
        """Interns strings in order of first appearance."""
        values = list(values)
        index = {string: i for i, string in enumerate(dict.fromkeys(values))}
        ids = np.fromiter(map(index.__getitem__, values), np.int32, len(values))
        return cls(ids, list(index))
