"""Attributes by number: the keys seen in training, and where a template's values are among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.features.keys import Found, Keys
from trellis.features.packed import Packed, pack
from trellis.features.reading import Positions, Reading, Single
from trellis.features.template import Template
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
        members = grouped(templates)

        def one(g: int) -> tuple[I64, list[tuple[Found, I32]]]:
            mine = [templates[k] for k in members[g]]
            if len(mine) == 1 and len(mine[0].parts) == 1:
                table = reading.tables[mine[0].parts[0].view]
                if isinstance(table, Single):
                    return _learn_single(mine[0], table, positions, slots[g].sizes[0], min_count)
            found = slots[g].find(mine, positions, learn=True)
            values, ids = _number(np.concatenate([one.key for one in found]), min_count)
            parts = np.split(ids, np.cumsum([len(one.key) for one in found])[:-1])
            return values, list(zip(found, parts, strict=True))

        answers = _on_threads(one, len(members), threads)
        groups, base = [], 0
        packing: list[tuple[I32, Found]] = [(np.zeros(0, np.int32), Found(np.zeros(0, np.int64)))] * len(templates)
        for g, (values, found) in enumerate(answers):
            groups.append(Group(members[g], slots[g], values, base))
            for k, (what, ids) in zip(members[g], found, strict=True):
                np.add(ids, base, out=ids, where=ids >= 0)
                packing[k] = ids, what
            base += len(values)
        return cls(tuple(templates), tuple(groups)), pack(packing, reading.tokens, drop=True)

    def shortcuts(self, reading: Reading) -> dict[int, I32]:
        """For templates of one part with one value: attribute numbers by type."""
        out = {}
        for group in self.groups:
            for k in group.members:
                parts = self.templates[k].parts
                table = reading.tables[parts[0].view] if len(parts) == 1 else None
                if isinstance(table, Single):
                    lookup = np.full(group.keys.sizes[0] + 1, -1, np.int32)  # the last place is for -1
                    lookup[group.values] = np.arange(group.base, group.base + len(group.values), dtype=np.int32)
                    out[k] = lookup[table.value]
        return out

    def find(self, reading: Reading, shortcuts: dict[int, I32]) -> Packed:
        """A corpus in the learnt numbers; what was never seen is -1."""
        positions = Positions(reading)
        packing: list[tuple[I32, Found]] = [(np.zeros(0, np.int32), Found(np.zeros(0, np.int64)))] * len(self.templates)
        for group in self.groups:
            slow = [k for k in group.members if k not in shortcuts]
            for k in group.members:
                if k in shortcuts:
                    ids = shortcuts[k].take(positions.of(self.templates[k].parts[0]))
                    packing[k] = ids, Found(np.zeros(0, np.int64))
            found = group.keys.find([self.templates[k] for k in slow], positions)
            for k, one in zip(slow, found, strict=True):
                packing[k] = group.numbers(one), one
        return pack(packing, reading.tokens)


def grouped(templates: Sequence[Template]) -> list[tuple[int, ...]]:
    """Templates with the same literals together, in order of appearance."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, template in enumerate(templates):
        groups.setdefault(template.literals, []).append(k)
    return [tuple(members) for members in groups.values()]


def _learn_single(
    template: Template, table: Single, positions: Positions, size: int, min_count: int
) -> tuple[I64, list[tuple[Found, I32]]]:
    """One part, one value: no keys to sort out, all is done by type."""
    at = positions.of(template.parts[0])
    of_type = np.bincount(at, minlength=len(table.value))
    valid = table.value >= 0
    counts = np.bincount(table.value[valid], of_type[valid], minlength=size)
    values = np.flatnonzero(counts >= max(1, min_count))
    lookup = np.full(size + 1, -1, np.int32)
    lookup[values] = np.arange(len(values), dtype=np.int32)
    return values, [(Found(np.zeros(0, np.int64)), lookup[table.value].take(at))]


def _number(keys: I64, min_count: int) -> tuple[I64, I32]:
    """The distinct keys, sorted, and each key's rank among them; -1 for none and for what is too rare."""
    from trellis.features.kernels import number_keys, rank_ids

    ids, distinct, counts = number_keys(keys)
    order = np.argsort(distinct)
    order = order[counts[order] >= min_count]
    rank = np.full(len(distinct) + 1, -1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank_ids(ids, rank)
    return distinct[order], ids


def _on_threads(work: Callable[[int], Answer], count: int, threads: int) -> list[Answer]:
    if threads <= 1 or count <= 1:
        return [work(n) for n in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(count)))
