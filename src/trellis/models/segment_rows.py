"""Numbers on the labels of tokens -> on segments, for labels of any encoding that writes each segment by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels.encode import labels_of
from trellis.lattice.segments import SegmentTypes

F64 = NDArray[np.float64]

# what the only token of a segment, its first, its inner ones and its last are written with
_LETTERS = {"io": "IIII", "iob2": "BBII", "ioe2": "EIIE", "bioes": "SBIE", "bilou": "UBIL"}


def on_segments(rows: F64, types: SegmentTypes, kinds: Sequence[str], encoding: str) -> F64:
    """rows: F64[tokens, labels] of `labels_of(kinds, encoding)`, added up over the tokens of each segment: F64[tokens *
    cells]. What it says of segments that would begin before the sentence is of no use."""
    if encoding not in _LETTERS:
        raise SettingError(
            f"in {encoding} the label of a token is a matter of the segments beside its own: constraints of labels are "
            "not possible; give at_most_once alone, or train with iob2"
        )
    number = {label: j for j, label in enumerate(labels_of(kinds, encoding))}
    out = np.zeros((len(rows), types.cells))
    for y, begin in enumerate(types.begin.tolist()):
        if begin == 0:  # O
            out[:, y] = rows[:, 0]
            continue
        name = kinds[(begin - 1) // 2]
        only, first, inner, last = (
            rows[:, number[f"{letter}-{name}" if name else letter]] for letter in _LETTERS[encoding]
        )
        out[:, y] = only
        between = np.zeros(len(rows))
        for d in range(2, int(types.longest[y]) + 1):
            if d > 2:
                between = between + _moved(inner, d - 2)
            out[:, types.first[d - 1] + y] = _moved(first, d - 1) + between + last
    return out.ravel()


def _moved(values: F64, tokens: int) -> F64:
    """values[t - tokens] at t, 0 before the beginning."""
    out = np.zeros(len(values))
    out[tokens:] = values[: max(0, len(values) - tokens)]
    return out
