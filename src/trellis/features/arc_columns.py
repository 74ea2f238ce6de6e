"""Attributes of arcs between nodes with columns: the two values that a column has at either end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features.packed import Packed

I64 = NDArray[np.int64]


def parse_arc_columns(text: str, columns: Sequence[str]) -> tuple[str, ...]:
    """`word + length` -> the names of columns, checked."""
    names = [name.strip() for name in text.split("+") if name.strip()]
    for name in names:
        if name not in columns:
            raise SettingError(f"arcs names the column '{name}'; the nodes have: {', '.join(columns)}")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class ArcColumns:
    """Column `columns[k]` has the values `values[k]`, and `keys[k]: I64[pairs]`, ascending, are the pairs of them,
    source * values + target, that are attributes, numbered through."""

    columns: tuple[str, ...]
    values: tuple[Sequence[str], ...]
    keys: tuple[I64, ...]

    @classmethod
    def learn(cls, columns: tuple[str, ...], nodes: Corpus, source: I64, target: I64, min_count: int = 1) -> ArcColumns:
        """From what stands at the two ends of some arcs."""
        values, keys = [], []
        for name in columns:
            column = nodes[name]
            size = len(column.strings)
            pairs, counts = np.unique(_keys(column.ids, size, source, target), return_counts=True)
            sides = np.stack(np.divmod(pairs[counts >= min_count], size))
            used, number = np.unique(sides, return_inverse=True)  # of a lattice's many words few are on its paths
            before, here = number.reshape(2, -1)
            values.append([column.strings[i] for i in used.tolist()])
            keys.append(before * len(used) + here)
        return cls(columns, tuple(values), tuple(keys))

    @property
    def attributes(self) -> int:
        return sum(map(len, self.keys))

    def transform(self, nodes: Corpus, source: I64, target: I64) -> Packed:
        """The attributes of arcs: one for each column, -1 for what is not known."""
        found, base = np.full((len(source), len(self.columns)), -1, np.int32), 0
        for k, (name, index, keys) in enumerate(zip(self.columns, self._indexes, self.keys, strict=True)):
            if name not in nodes.columns:
                raise DataError(f"column '{name}' is missing, which the model's arcs read")
            ids = nodes[name].translated(index).astype(np.int64)
            wanted = np.where((ids[source] >= 0) & (ids[target] >= 0), _keys(ids, len(index), source, target), -1)
            at = np.searchsorted(keys, wanted)
            there = keys.take(at, mode="clip") == wanted if len(keys) else np.zeros(len(wanted), bool)
            found[there, k] = (at[there] + base).astype(np.int32)
            base += len(keys)
        indptr = np.arange(len(source) + 1, dtype=np.int64) * len(self.columns)
        return Packed(indptr, found.ravel())

    def names(self) -> list[str]:
        """The name of every attribute, by number."""
        return [
            f"{name}={values[key // len(values)]}|{values[key % len(values)]}"
            for name, values, keys in zip(self.columns, self.values, self.keys, strict=True)
            for key in keys.tolist()
        ]

    @cached_property
    def _indexes(self) -> list[dict[str, int]]:
        return [{value: n for n, value in enumerate(values)} for values in self.values]


def _keys(ids: NDArray[np.signedinteger], values: int, source: I64, target: I64) -> I64:
    return ids[source].astype(np.int64) * values + ids[target]
