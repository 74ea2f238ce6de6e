"""Attribute numbers of all templates that have one value at every token, by one kernel.

What a template needs at a token is written down as numbers: the *places* where tokens' types are looked up, the
*operands* found there by type, the parts of a key with their radix, the table in which the key is found. A template of
one part needs no key; its operand is the attribute itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.features.lookup import Lookup
from trellis.features.reading import Reading, Single
from trellis.features.template import Template

if TYPE_CHECKING:
    from trellis.features.numbering import Group

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Quick:
    """Templates as `kernels.find_attributes` reads them, with the tables of one corpus.

    places: I64[places, 3]        source, row, whether it counts from the ends of the sentence
    operands: I64[operands, 2]    place, where its values by type begin in `table`
    parts: I64[parts, 2]          operand, radix
    templates: I64[templates, 4]  first part, the one behind its last, and the region and bits of a `Lookup`
    """

    sources: tuple[str, ...]
    known: I64
    reach: int
    places: I64
    operands: I64
    table: I32
    parts: I64
    templates: I64
    lookup: Lookup

    @classmethod
    def of(
        cls,
        templates: Sequence[Template],
        group_of: Mapping[int, int],
        groups: Sequence[Group],
        reading: Reading,
        by_type: Mapping[int, I32],
        lookup: Lookup,
    ) -> Quick:
        """For the templates in `group_of`, by their group; `by_type` as in `Prepared`."""
        sources: dict[str, int] = {}
        places: dict[tuple[int, int, bool], int] = {}
        starts: dict[object, int] = {}  # of tables
        tables: list[I32] = []
        operands: dict[tuple[int, int], int] = {}
        parts: list[tuple[int, int]] = []
        rows: list[tuple[int, int, int, int]] = []
        size = 0
        for k, g in group_of.items():
            first = len(parts)
            for j, part in enumerate(templates[k].parts):
                table = reading.tables[part.view]
                assert isinstance(table, Single)
                source = sources.setdefault(table.source, len(sources))
                place = places.setdefault((source, part.row, part.absolute), len(places))
                name: object = (g, part.view) if k in by_type else part.view
                if name not in starts:
                    starts[name] = size
                    tables.append(by_type[k] if k in by_type else table.value.astype(np.int32))
                    size += len(tables[-1])
                operand = operands.setdefault((place, starts[name]), len(operands))
                parts.append((operand, 0 if k in by_type else groups[g].keys.sizes[j]))
            rows.append((first, len(parts), int(lookup.region[g]), int(lookup.bits[g])))
        return cls(
            tuple(sources),
            np.array([reading.known[source] for source in sources], np.int64),
            reading.reach,
            _matrix(list(places), 3),
            _matrix(list(operands), 2),
            np.concatenate([np.zeros(0, np.int32), *tables]),
            _matrix(parts, 2),
            _matrix(rows, 4),
            lookup,
        )

    def find(self, reading: Reading, indptr: I64, out: I32) -> None:
        """out[indptr[t] + k] = the attribute of template k at token t, -1 if it is unknown."""
        from trellis.features.kernels import find_attributes

        types = np.empty((len(self.sources), reading.tokens), np.int32)
        for s, source in enumerate(self.sources):
            types[s] = reading.types[source]
        find_attributes(
            reading.offsets, types, self.known, self.reach, self.places, self.operands, self.table, self.parts,
            self.templates, self.lookup.hashed, self.lookup.placed, indptr, out,
        )  # fmt: skip


def _matrix(rows: Sequence[tuple[int, ...]], width: int) -> I64:
    return np.array(rows, np.int64).reshape(len(rows), width)
