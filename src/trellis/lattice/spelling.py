"""What labels say of segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class Spelling:
    """`kind: I64[labels]`, the type of the segment that a label is in, -1 outside of any; `starts: BOOL[labels,
    labels]`, for each label and the next whether a segment starts between them."""

    kind: I64
    starts: BOOL

    def labels_of(self, kind: int) -> I64:
        return np.flatnonzero(self.kind == kind)

    @property
    def kinds(self) -> int:
        return int(self.kind.max(initial=-1)) + 1

    def goes_on(self, labels: I64) -> BOOL:
        """Whether a segment goes on from one label to the other, BOOL[...]."""
        return ~self.starts[np.ix_(labels, labels)]
