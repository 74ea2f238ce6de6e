"""One column of a corpus: a small table of distinct strings and an integer per token."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat

import numpy as np
from numpy.typing import NDArray


@contextmanager
def _no_collection() -> Iterator[None]:
    """While very many lists are made: Python would look through all objects again and again for some to throw away,
    which takes longer than making the lists."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


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
        if len(self.ids) < len(self.strings):  # a slice, with the strings of the whole
            return list(map(self.strings.__getitem__, self.ids.tolist()))
        strings = np.empty(len(self.strings), object)
        strings[:] = self.strings
        found: list[str] = strings[self.ids].tolist()
        return found

    def sentences(self, offsets: NDArray[np.int64]) -> list[list[str]]:
        """The same as a list for each sentence."""
        values, cuts = self.values(), offsets.tolist()
        with _no_collection():
            return [values[a:b] for a, b in pairwise(cuts)]

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
