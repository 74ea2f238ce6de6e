"""Training data in arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.features.packed import Packed
from trellis.lattice import Allowed
from trellis.losses import Target

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Examples:
    """Packed attributes, gold labels I32[tokens], offsets I64[sentences + 1]; attributes that bear on the transition
    into a token, if there are any, packed with their own numbers; which labels each token may have, if not all; and
    what else is known of the labels (see `Target`; its path is not read)."""

    indptr: I64
    ids: I32
    values: F64 | None
    gold: I32
    offsets: I64
    arcs: Packed | None = None
    allowed: Allowed | None = None
    more: Target | None = None

    def __post_init__(self) -> None:
        if self.allowed is None:
            return
        if len(self.allowed) != len(self.gold):
            raise DataError(f"allowed labels are given for {len(self.allowed)} of {len(self.gold)} tokens")
        t = self.allowed.first_outside(self.gold)
        if t is not None:
            s = int(np.searchsorted(self.offsets, t, side="right")) - 1
            raise DataError(
                f"sentence {s + 1}, token {t - int(self.offsets[s]) + 1}: its own label, number {self.gold[t]}, "
                "is not among the labels allowed there; allow it, or leave the word out of the tag dictionary"
            )

    @property
    def target(self) -> Target:
        return Target(self.gold) if self.more is None else replace(self.more, path=self.gold)

    def part(self, first: int, last: int) -> Examples:
        """Sentences first..last."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        here = _tokens(Packed(self.indptr, self.ids, self.values), a, b)
        arcs = None if self.arcs is None else _tokens(self.arcs, a, b)
        allowed = None if self.allowed is None else self.allowed.part(a, b)
        target = self.target.part(self.offsets, first, last)
        offsets = self.offsets[first : last + 1] - a
        return Examples(here.indptr, here.ids, here.values, target.path, offsets, arcs, allowed, target)


def _tokens(packed: Packed, a: int, b: int) -> Packed:
    """Attributes of tokens a..b."""
    p, q = int(packed.indptr[a]), int(packed.indptr[b])
    values = None if packed.values is None else packed.values[p:q]
    return Packed(packed.indptr[a : b + 1] - p, packed.ids[p:q], values)
