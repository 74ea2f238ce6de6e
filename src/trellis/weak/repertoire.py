"""What a function might vote for, beyond what it was seen to: its names, in which it can be right or wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.weak.space import Space

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]


def uses(values: NDArray[np.int32], names: int) -> I64:
    """How often each function votes for what, I64[functions, names]; values I32[tokens, functions]."""
    return np.stack([np.bincount(own[own >= 0], minlength=names) for own in values.T]).astype(np.int64)


def repertoire(used: I64, space: Space) -> BOOL:
    """The names of each function, BOOL[functions, names]: those it votes for, and the labels that no coarse one among
    these stands for. So who votes for plain labels could vote for any of them, and who votes for ENT has ENT and what
    is no ENT. used: as by `uses`."""
    labels, known = len(space.labels), used > 0
    known[:, :labels] |= ~(known[:, labels:] @ space.admits[labels:])
    return np.asarray(known)
