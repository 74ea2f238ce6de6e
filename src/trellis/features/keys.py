"""Attribute keys: each template's value at a token as one integer, and back to its parts.

A part `%x[row, column]` is a number below the column's vocabulary size + padding. Several parts are digits of
one number in mixed radix, so a key is exact and can be taken apart again. Where the digits would not fit in
63 bits, the number so far is replaced by its rank among those seen in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.features.template import Part, Template

_LIMIT = 1 << 62


@dataclass(frozen=True)
class KeyMaker:
    """Turns columns into keys for a tuple of templates.

    `vocabulary`: the strings of each column known to the model. `ranks[k][j]`: the sorted keys that replaced
    the digits before part j of template k, for the few templates that need it.
    """

    templates: tuple[Template, ...]
    vocabulary: Mapping[str, Sequence[str]]
    ranks: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict)

    @cached_property
    def reach(self) -> int:
        """How far beyond a sentence's ends a template can look."""
        return max((abs(part.row) for t in self.templates for part in t.parts), default=0)

    @cached_property
    def index(self) -> dict[str, dict[str, int]]:
        return {c: {s: i for i, s in enumerate(strings)} for c, strings in self.vocabulary.items()}

    def size(self, column: str) -> int:
        """Values of one part: the vocabulary, then `reach` kinds of padding before and after."""
        return len(self.vocabulary[column]) + 2 * self.reach

    def parts(
        self, columns: Mapping[str, NDArray[np.int32]], offsets: NDArray[np.int64]
    ) -> dict[Part, NDArray[np.int64]]:
        """The value of every distinct part at every token, -1 where the string is unknown."""
        lengths = np.diff(offsets)
        tokens = int(offsets[-1])
        first = np.repeat(offsets[:-1], lengths)
        here = np.arange(tokens) - first
        after = np.repeat(lengths, lengths) - 1 - here
        values = {}
        for part in {part: None for template in self.templates for part in template.parts}:
            ids, known = columns[part.column], len(self.vocabulary[part.column])
            shifted = np.arange(tokens) + part.row
            value = ids.take(shifted, mode="clip").astype(np.int64)
            if part.row < 0:  # -1, -2 ... before the start
                over = -(here + part.row)
                np.copyto(value, known + over - 1, where=over > 0)
            elif part.row > 0:
                over = part.row - after
                np.copyto(value, known + self.reach + over - 1, where=over > 0)
            values[part] = value
        return values

    def keys(self, k: int, values: Mapping[Part, NDArray[np.int64]], learn: bool = False) -> NDArray[np.int64]:
        """Template k's key at every token, -1 where a part is unknown."""
        tokens = len(next(iter(values.values()))) if values else 0
        key, size = np.zeros(tokens, np.int64), 1
        unknown = np.zeros(tokens, bool)
        for j, part in enumerate(self.templates[k].parts):
            radix = self.size(part.column)
            if size * radix >= _LIMIT:
                key, size = self._rank(k, j, key, unknown, learn)
            key = key * radix + values[part]
            size *= radix
            unknown |= values[part] < 0
        key[unknown] = -1
        return key

    def _rank(
        self, k: int, j: int, key: NDArray[np.int64], unknown: NDArray[np.bool_], learn: bool
    ) -> tuple[NDArray[np.int64], int]:
        if learn:
            self.ranks[k, j] = np.unique(key)
        seen = self.ranks[k, j]
        rank = np.searchsorted(seen, key)
        unknown |= seen.take(rank, mode="clip") != key
        return rank.astype(np.int64), len(seen)

    def _sizes(self, k: int) -> list[tuple[int, bool]]:
        """Before each part of template k, and at the end: every number so far is below this, and whether it has to
        be replaced by its rank."""
        size, out = 1, []
        for j, part in enumerate(self.templates[k].parts):
            ranked = size * self.size(part.column) >= _LIMIT
            out.append((size, ranked))
            size = (len(self.ranks[k, j]) if ranked else size) * self.size(part.column)
        return [*out, (size, False)]

    def largest(self, k: int) -> int:
        """Every key of template k is below this."""
        return self._sizes(k)[-1][0]

    def is_consistent(self) -> bool:
        """Whether ranks are there for just the parts that need them, none empty and none out of range."""
        if any(not len(seen) for seen in self.ranks.values()):
            return False
        try:
            sizes = {(k, j): size for k in range(len(self.templates)) for j, size in enumerate(self._sizes(k))}
        except KeyError:
            return False
        needed = {place: size for place, (size, ranked) in sizes.items() if ranked}
        return set(needed) == set(self.ranks) and all(int(self.ranks[p][-1]) < size for p, size in needed.items())

    def name(self, k: int, key: int) -> str:
        """The attribute's name in words, e.g. `U05:the/dog`."""
        template = self.templates[k]
        digits: list[str] = []
        for j in range(len(template.parts) - 1, -1, -1):
            part = template.parts[j]
            key, digit = divmod(key, self.size(part.column))
            digits.append(self._string(part.column, digit))
            if (k, j) in self.ranks:
                key = int(self.ranks[k, j][key])
        return template.name(digits[::-1])

    def _string(self, column: str, value: int) -> str:
        strings = self.vocabulary[column]
        if value < len(strings):
            return strings[value]
        over = value - len(strings)
        return f"_B-{over + 1}" if over < self.reach else f"_B+{over - self.reach + 1}"
