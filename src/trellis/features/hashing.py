"""Feature hashing: attributes are numbered by a hash of their name's parts, into a fixed number of places.

Nothing is learnt and no string is kept, so a model has the size it was given, whatever the text. Attributes that fall
into one place share their weights (Weinberger et al. 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from trellis.corpus.threads import on_threads
from trellis.features.keys import Found, join
from trellis.features.packed import Packed, Some, pack
from trellis.features.reading import Positions, Prepared, Reading, Single
from trellis.features.template import Template

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class HashNumbers(dict[str, int]):
    """A number below 2^63 for every string, the same in every process."""

    def get(self, string: str | None, default: int = -1) -> int:  # type: ignore[override]
        return default if string is None else self[string]

    def __missing__(self, string: str) -> int:
        number = hash_of(string)
        if len(self) < 1 << 20:  # kept in case it recurs
            self[string] = number
        return number


def hash_of(string: str) -> int:
    """63 bits of the string."""
    digest = blake2b(string.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


@dataclass(frozen=True)
class HashNumbering:
    """The attributes of some templates in `attributes` places; see `Numbering`."""

    templates: tuple[Template, ...]
    attributes: int

    @classmethod
    def learn(
        cls, templates: Sequence[Template], reading: Reading, size: int, threads: int
    ) -> tuple[HashNumbering, Packed]:
        """There is nothing to learn: the corpus in numbers."""
        numbering = cls(tuple(templates), size if templates else 0)
        return numbering, numbering._pack(reading, numbering.prepared(reading), True, threads)

    def prepared(self, reading: Reading) -> Prepared:
        """What `find` needs of a whole corpus, for all its parts."""
        out = {}
        for k, template in enumerate(self.templates):
            table = reading.tables[template.parts[0].view] if len(template.parts) == 1 else None
            if isinstance(table, Single):
                out[k] = self._place(_mix(np.full(len(table.value), _seed(template)), table.value))
        return Prepared(out)

    def find(self, reading: Reading, prepared: Prepared) -> Packed:
        """A corpus in numbers; -1 where a template has no value."""
        return self._pack(reading, prepared, drop=False)

    def _pack(self, reading: Reading, prepared: Prepared, drop: bool, threads: int = 1) -> Packed:
        positions = Positions(reading)
        positions.prepare(self.templates)

        def one(k: int) -> I32 | Some:
            template = self.templates[k]
            if k in prepared.by_type:
                return prepared.by_type[k].take(positions.of(template.parts[0]))
            found = Found(np.full(reading.tokens, _seed(template)))
            for j in range(len(template.parts)):
                found = join(found, template, j, positions, _mix)
            ids = self._place(found.key)
            return ids if found.token is None else Some(ids, found.token, found.weight)

        answers = on_threads(one, len(self.templates), threads)
        every = [ids for ids in answers if not isinstance(ids, Some)]
        matrix = np.stack(every) if every else np.zeros((0, reading.tokens), np.int32)
        return pack(matrix, [one for one in answers if isinstance(one, Some)], drop)

    def _place(self, key: I64) -> I32:
        return np.where(key < 0, -1, key % self.attributes).astype(np.int32)


def _seed(template: Template) -> np.int64:
    return np.int64(hash_of("\0".join(template.literals)))


def _mix(key: I64, value: I64) -> I64:
    """A new hash of both (the finishing steps of SplitMix64); -1 where either is."""
    x = key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + value.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    mixed = ((x ^ (x >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
    mixed[(key < 0) | (value < 0)] = -1
    return mixed
