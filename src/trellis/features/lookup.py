"""Keys -> attribute numbers, by tables: what the compiled way looks up where the plain one searches sorted keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trellis.features.numbering import Group

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_SPARSE, _FEW = 16, 4096  # a table with a place for every possible key may have so many for each that there is


@dataclass(frozen=True)
class Lookup:
    """Hash tables and plain ones, those of all groups of templates one after the other.

    hashed: I64[slots, 2]      a key (-1: none) and its number side by side, so that one look finds both
    placed: I32[keys or more]  of groups with few possible keys: a number (or -1) for each
    region, bits: I64[groups]  where a group's table begins, and the logarithm of its slots; 0 bits: it is in `placed`
    """

    hashed: I64
    placed: I32
    region: I64
    bits: I64

    @classmethod
    def of(cls, groups: Sequence[Group]) -> Lookup:
        from trellis.features.kernels import fill_table

        region, bits, sizes = [], [], {True: 0, False: 0}
        for group in groups:
            possible = max(1, group.keys.largest())
            direct = possible <= _SPARSE * len(group.values) + _FEW
            bits.append(0 if direct else (2 * len(group.values) + 1).bit_length())
            region.append(sizes[direct])
            sizes[direct] += possible if direct else 1 << bits[-1]
        hashed, placed = np.full((sizes[False], 2), -1, np.int64), np.full(sizes[True], -1, np.int32)
        for group, first, b in zip(groups, region, bits, strict=True):
            if b:
                fill_table(group.values, group.base, first, b, hashed)
            else:
                placed[first + group.values] = np.arange(group.base, group.base + len(group.values))
        return cls(hashed, placed, np.array(region, np.int64), np.array(bits, np.int64))

    def find(self, g: int, wanted: I64) -> I32:
        """The numbers of keys of group g, I32[n], -1 for the unknown."""
        from trellis.features.kernels import find_keys

        out = np.empty(len(wanted), np.int32)
        find_keys(self.hashed, self.placed, self.region[g], self.bits[g], wanted, out)
        return out
