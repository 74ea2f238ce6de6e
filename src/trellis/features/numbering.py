"""Attributes by number: the keys seen in training, and where a template's values are among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.features.keys import Found, Keys
from trellis.features.packed import Packed, Some, pack
from trellis.features.reading import Positions, Reading, Single
from trellis.features.template import Part, Template
from trellis.jit import worthwhile

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Group:
    """Templates with the same literals: an attribute's name is all that counts, so `U:%x[-1,0]` and `U:%x[1,0]`
    make one bag of words. `values`: their sorted keys; the first attribute has the number `base`."""

    members: tuple[int, ...]
    keys: Keys
    values: I64
    base: int

    @cached_property
    def table(self) -> tuple[I32, int]:
        from trellis.features.kernels import build_table

        bits = max(4, int(2 * len(self.values)).bit_length())
        return build_table(self.values, bits), bits

    @cached_property
    def by_value(self) -> I32:
        """For templates of one part: the attribute number of each value; the last place is for -1."""
        number = np.full(self.keys.sizes[0] + 1, -1, np.int32)
        number[self.values] = np.arange(self.base, self.base + len(self.values), dtype=np.int32)
        return number

    def numbers(self, found: Found) -> I32:
        """Attribute numbers of keys, -1 for the unknown."""
        if worthwhile(len(found.key)):
            from trellis.features.kernels import find_keys

            ids = np.empty(len(found.key), np.int32)
            find_keys(self.values, *self.table, found.key, self.base, ids)
            return ids
        at = np.searchsorted(self.values, found.key)
        known = self.values.take(at, mode="clip") == found.key if len(self.values) else np.zeros(len(at), bool)
        return np.where(known, at + self.base, -1).astype(np.int32)


@dataclass(frozen=True)
class Numbering:
    """The attributes of some templates, numbered through."""

    templates: tuple[Template, ...]
    groups: tuple[Group, ...]

    @property
    def attributes(self) -> int:
        return sum(len(group.values) for group in self.groups)

    @classmethod
    def learn(
        cls, templates: Sequence[Template], slots: Sequence[Keys], reading: Reading, min_count: int, threads: int
    ) -> tuple[Numbering, Packed]:
        """Numbers all attributes that occur at least `min_count` times, and the corpus in these numbers. `slots`:
        fresh keys for each group."""
        positions = Positions(reading)
        positions.prepare(templates)
        members = grouped(templates)

        def seen(g: int) -> _Seen:
            mine = [templates[k] for k in members[g]]
            table = reading.tables[mine[0].parts[0].view] if len(mine) == len(mine[0].parts) == 1 else None
            if isinstance(table, Single):
                return _SeenTypes(table, positions, mine[0].parts[0], slots[g].sizes[0], min_count)
            return _SeenKeys(slots[g].find(mine, positions, learn=True), min_count)

        found = on_threads(seen, len(members), threads)
        bases = np.cumsum([0, *(len(one.values) for one in found)]).tolist()
        rows, every = _rows(templates, reading)
        some: list[list[Some]] = [[] for _ in members]

        def write(g: int) -> None:
            some[g] = found[g].write(bases[g], every, [rows[k] for k in members[g]])

        on_threads(write, len(members), threads)
        groups = [Group(m, slots[g], found[g].values, bases[g]) for g, m in enumerate(members)]
        packed = pack(every, [one for several in some for one in several], drop=True)
        return cls(tuple(templates), tuple(groups)), packed

    def shortcuts(self, reading: Reading) -> dict[int, I32]:
        """For templates of one part with one value: attribute numbers by type."""
        out = {}
        for group in self.groups:
            for k in group.members:
                parts = self.templates[k].parts
                table = reading.tables[parts[0].view] if len(parts) == 1 else None
                if isinstance(table, Single):
                    out[k] = group.by_value[table.value]
        return out

    def find(self, reading: Reading, shortcuts: dict[int, I32]) -> Packed:
        """A corpus in the learnt numbers; what was never seen is -1."""
        positions = Positions(reading)
        rows, every = _rows(self.templates, reading)
        some = []
        for group in self.groups:
            slow = [k for k in group.members if k not in shortcuts]
            for k in group.members:
                if k in shortcuts:
                    np.take(shortcuts[k], positions.of(self.templates[k].parts[0]), out=every[rows[k]], mode="clip")
            found = group.keys.find([self.templates[k] for k in slow], positions)
            for k, one in zip(slow, found, strict=True):
                if one.token is None:
                    every[rows[k]] = group.numbers(one)
                else:
                    some.append(Some(group.numbers(one), one.token, one.weight))
        return pack(every, some)


def grouped(templates: Sequence[Template]) -> list[tuple[int, ...]]:
    """Templates with the same literals together, in order of appearance."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, template in enumerate(templates):
        groups.setdefault(template.literals, []).append(k)
    return [tuple(members) for members in groups.values()]


def _rows(templates: Sequence[Template], reading: Reading) -> tuple[list[int], I32]:
    """For templates with one value at every token a row each, and room for the rows: I32[rows, tokens]. The others,
    with any number of values, have the row -1."""
    rows, count = [], 0
    for template in templates:
        every = all(isinstance(reading.tables[part.view], Single) for part in template.parts)
        rows.append(count if every else -1)
        count += every
    return rows, np.empty((count, reading.tokens), np.int32)


class _Seen(Protocol):
    """What a group found in training: its sorted keys, and its attribute numbers once it knows its first."""

    values: I64

    def write(self, base: int, every: I32, rows: Sequence[int]) -> list[Some]: ...


class _SeenTypes:
    """One template of one part with one value: no keys to sort out, all is done by type."""

    def __init__(self, table: Single, positions: Positions, part: Part, size: int, min_count: int):
        self.table, self.at = table, positions.of(part)
        valid, of_type = table.value >= 0, positions.counts(part)
        self.counts = np.bincount(table.value[valid], of_type[valid], minlength=size)
        self.values = np.flatnonzero(self.counts >= min_count)

    def write(self, base: int, every: I32, rows: Sequence[int]) -> list[Some]:
        number = np.full(len(self.counts) + 1, -1, np.int32)  # the last place is for -1
        number[self.values] = np.arange(base, base + len(self.values), dtype=np.int32)
        np.take(number[self.table.value], self.at, out=every[rows[0]], mode="clip")
        return []


class _SeenKeys:
    """Templates that share their attributes, by their keys."""

    def __init__(self, found: list[Found], min_count: int):
        from trellis.features.kernels import number_keys

        keys = found[0].key if len(found) == 1 else np.concatenate([one.key for one in found])
        self.ids, distinct, counts = number_keys(keys)
        # without the keys, which take twice the room of the numbers
        self.found = [(len(one.key), one.token, one.weight) for one in found]
        order = np.argsort(distinct)
        self.order = order[counts[order] >= min_count]
        self.values = distinct[self.order]
        self.distinct = len(distinct)

    def write(self, base: int, every: I32, rows: Sequence[int]) -> list[Some]:
        from trellis.features.kernels import rank_ids

        rank = np.full(self.distinct, -1, np.int32)
        rank[self.order] = np.arange(base, base + len(self.order), dtype=np.int32)
        some, at = [], 0
        for row, (count, token, weight) in zip(rows, self.found, strict=True):
            out = every[row] if token is None else np.empty(count, np.int32)
            rank_ids(self.ids[at : at + count], rank, out)
            at += count
            if token is not None:
                some.append(Some(out, token, weight))
        self.ids = self.ids[:0]
        return some


def on_threads(work: Callable[[int], Answer], count: int, threads: int) -> list[Answer]:
    """work(0), work(1), ... in order."""
    if threads <= 1 or count <= 1:
        return [work(n) for n in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(count)))
