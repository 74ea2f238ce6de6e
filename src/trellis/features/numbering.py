"""Attributes by number: the keys seen in training, and where a template's values are among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.corpus.threads import on_threads
from trellis.features.keys import Found, Keys
from trellis.features.lookup import Lookup
from trellis.features.packed import Packed, Some, pack, pack_written
from trellis.features.quick import Quick
from trellis.features.reading import Positions, Prepared, Reading, Single
from trellis.features.template import Part, Template
from trellis.jit import worthwhile

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Templates with the same literals: an attribute's name is all that counts, so `U:%x[-1,0]` and `U:%x[1,0]`
    make one bag of words. `values`: their sorted keys; the first attribute has the number `base`."""

    members: tuple[int, ...]
    keys: Keys
    values: I64
    base: int

    @cached_property
    def by_value(self) -> I32:
        """For templates of one part: the attribute number of each value; the last place is for -1."""
        number = np.full(self.keys.sizes[0] + 1, -1, np.int32)
        number[self.values] = np.arange(self.base, self.base + len(self.values), dtype=np.int32)
        return number

    def numbers(self, keys: I64) -> I32:
        """Attribute numbers of keys, -1 for the unknown."""
        at = np.searchsorted(self.values, keys)
        known = self.values.take(at, mode="clip") == keys if len(self.values) else np.zeros(len(at), bool)
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
        rows, count = _rows(templates, reading)
        every = np.empty((count, reading.tokens), np.int32)
        some: list[list[Some]] = [[] for _ in members]

        def write(g: int) -> None:
            some[g] = found[g].write(bases[g], every, [rows[k] for k in members[g]])

        on_threads(write, len(members), threads)
        groups = [Group(m, slots[g], found[g].values, bases[g]) for g, m in enumerate(members)]
        packed = pack(every, [one for several in some for one in several], drop=True)
        return cls(tuple(templates), tuple(groups)), packed

    def prepared(self, reading: Reading) -> Prepared:
        """What `find` needs of a whole corpus, for all its parts."""
        by_type: dict[int, I32] = {}
        for group in self.groups:
            for k in group.members:
                parts = self.templates[k].parts
                table = reading.tables[parts[0].view] if len(parts) == 1 else None
                if isinstance(table, Single):
                    by_type[k] = group.by_value[table.value]
        if not worthwhile(reading.tokens) or any(group.keys.ranks for group in self.groups):
            return Prepared(by_type)
        rows, _ = _rows(self.templates, reading)
        own = {k: self._group_of[k] for k, row in enumerate(rows) if row >= 0}
        return Prepared(by_type, Quick.of(self.templates, own, self.groups, reading, by_type, self._lookup))

    def find(self, reading: Reading, prepared: Prepared) -> Packed:
        """A corpus in the learnt numbers; what was never seen is -1."""
        quick, (rows, count) = prepared.quick, _rows(self.templates, reading)
        positions = Positions(reading)
        every = np.empty((count if quick is None else 0, reading.tokens), np.int32)
        some = []
        for g, group in enumerate(self.groups):
            slow = [k for k in group.members if rows[k] < 0 or (quick is None and k not in prepared.by_type)]
            found = group.keys.find([self.templates[k] for k in slow], positions) if slow else []
            for k, one in zip(slow, found, strict=True):
                ids = group.numbers(one.key) if quick is None else self._lookup.find(g, one.key)
                if one.token is None:
                    every[rows[k]] = ids
                else:
                    some.append(Some(ids, one.token, one.weight))
        if quick is not None:
            return pack_written(count, reading.tokens, partial(quick.find, reading), some)
        for k, of_type in prepared.by_type.items():
            np.take(of_type, positions.of(self.templates[k].parts[0]), out=every[rows[k]], mode="clip")
        return pack(every, some)

    @cached_property
    def _group_of(self) -> dict[int, int]:
        return {k: g for g, group in enumerate(self.groups) for k in group.members}

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup.of(self.groups)


def grouped(templates: Sequence[Template]) -> list[tuple[int, ...]]:
    """Templates with the same literals together, in order of appearance."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, template in enumerate(templates):
        groups.setdefault(template.literals, []).append(k)
    return [tuple(members) for members in groups.values()]


def _rows(templates: Sequence[Template], reading: Reading) -> tuple[list[int], int]:
    """Rows for templates with one value at every token, and how many these are. The others, with any number of values,
    have the row -1."""
    rows, count = [], 0
    for template in templates:
        every = all(isinstance(reading.tables[part.view], Single) for part in template.parts)
        rows.append(count if every else -1)
        count += every
    return rows, count


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
