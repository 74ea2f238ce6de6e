"""Attribute keys: a template's values at a token as one integer, and back to its values.

A part's value is a number below the size of its vocabulary. Several parts are digits of one number in mixed radix, so
a key is exact and can be taken apart again. Where the digits would not fit in 62 bits, the number so far is replaced
by its rank among those seen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trellis.features.reading import Positions, Several
from trellis.features.template import Template

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

_LIMIT = 1 << 62


@dataclass(frozen=True)
class Found:
    """What a template finds: at `token[n]` (every token once, if None) the number `key[n]`, -1 for none, with the
    value `weight[n]` (1, if None)."""

    key: I64
    token: I64 | None = None
    weight: F64 | None = None


@dataclass(frozen=True)
class Keys:
    """Digits for templates with parts of these sizes. `ranks[j]`: the sorted numbers that are replaced by their rank
    before part j joins."""

    sizes: tuple[int, ...]
    ranks: dict[int, I64] = field(default_factory=dict)

    def find(self, templates: Sequence[Template], positions: Positions, learn: bool = False) -> list[Found]:
        """The keys of templates that share their names. With `learn`, ranks are taken from what is found."""
        found = [Found(np.zeros(positions.reading.tokens, np.int64)) for _ in templates]
        size = 1
        for j, radix in enumerate(self.sizes):
            if size * radix >= _LIMIT:
                if learn:
                    self.ranks[j] = np.unique(np.concatenate([one.key[one.key >= 0] for one in found]))
                found = [_ranked(one, self.ranks[j]) for one in found]
                size = len(self.ranks[j])
            found = [
                join(one, t, j, positions, partial(_digit, radix)) for one, t in zip(found, templates, strict=True)
            ]
            size *= radix
        return found

    def bounds(self) -> list[tuple[int, bool]]:
        """Before each part, and at the end: all numbers are below this, and whether they are replaced by ranks."""
        size, out = 1, []
        for j, radix in enumerate(self.sizes):
            ranked = size * radix >= _LIMIT
            out.append((size, ranked))
            size = (len(self.ranks[j]) if ranked else size) * radix
        return [*out, (size, False)]

    def largest(self) -> int:
        """Every key is below this."""
        return self.bounds()[-1][0]

    def is_consistent(self) -> bool:
        """Whether ranks are there for just the parts that need them, and none is out of range."""
        try:
            needed = {j: size for j, (size, ranked) in enumerate(self.bounds()) if ranked}
        except KeyError:
            return False
        return set(needed) == set(self.ranks) and all(
            not len(self.ranks[j]) or int(self.ranks[j][-1]) < size for j, size in needed.items()
        )

    def digits(self, key: int) -> list[int]:
        """The value of each part."""
        digits: list[int] = []
        for j in range(len(self.sizes) - 1, -1, -1):
            key, digit = divmod(key, self.sizes[j])
            digits.append(digit)
            if j in self.ranks:
                key = int(self.ranks[j][key])
        return digits[::-1]

    def split(self, keys: I64) -> list[I64]:
        """The same for many keys: for each part the values of all."""
        digits: list[I64] = []
        for j in range(len(self.sizes) - 1, -1, -1):
            keys, digit = np.divmod(keys, self.sizes[j])
            digits.append(digit)
            if j in self.ranks:
                keys = self.ranks[j][keys]
        return digits[::-1]

    def joined(self, digits: Sequence[I64], count: int) -> I64:
        """So many keys from the values of their parts; -1 where one is unknown (-1), or all of them together."""
        keys = np.zeros(count, np.int64)
        for j, (radix, values) in enumerate(zip(self.sizes, digits, strict=True)):
            if j in self.ranks:
                keys = _ranked(Found(keys), self.ranks[j]).key
            keys = _digit(radix, keys, values)
        return keys


def join(found: Found, template: Template, j: int, positions: Positions, combine: Callable[[I64, I64], I64]) -> Found:
    """Part j joins: a new key from the key so far and its value. A part with several values has as many keys."""
    part = template.parts[j]
    table, at = positions.reading.tables[part.view], positions.of(part)
    if found.token is not None:
        at = at[found.token]
    if not isinstance(table, Several):
        return Found(combine(found.key, table.value[at]), found.token, found.weight)
    count = table.start[at + 1] - table.start[at]
    before = np.repeat(np.arange(len(at)), count)
    place = np.repeat(table.start[at] - (np.cumsum(count) - count), count) + np.arange(len(before))
    weight = table.weight[place]
    return Found(
        combine(found.key[before], table.value[place]),
        before if found.token is None else found.token[before],
        weight if found.weight is None else weight * found.weight[before],
    )


def _digit(radix: int, key: I64, value: I64) -> I64:
    """key * radix + value; -1 where either is."""
    if radix == 0:  # a vocabulary of nothing
        return np.full(len(key), -1, np.int64)
    joined = key * radix + value
    joined[(key < 0) | (value < 0)] = -1
    return joined


def _ranked(found: Found, seen: I64) -> Found:
    rank = np.searchsorted(seen, found.key)
    known = seen.take(rank, mode="clip") == found.key if len(seen) else np.zeros(len(rank), bool)
    return Found(np.where(known, rank, -1), found.token, found.weight)
