"""One column of a column file replaced; every other byte stays as it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus.column import Column
from trellis.labels.packed import ranges

I64 = NDArray[np.int64]


def spliced(data: bytes, start: I64, end: I64, column: Column) -> bytes:
    """The bytes with `data[start[t]:end[t]]`, both I64[tokens] and in order, replaced by the column's strings."""
    strings = [string.encode() for string in column.strings]
    pool = np.frombuffer(b"".join(strings), np.uint8)
    lengths = np.array([len(string) for string in strings], np.int64)
    new, more = lengths[column.ids], lengths[column.ids] - (end - start)
    out = np.zeros(len(data) + int(more.sum()), np.uint8)
    kept = np.ones(len(out), np.bool_)
    written = ranges(start + np.cumsum(more) - more, new)
    out[written] = pool[ranges((np.cumsum(lengths) - lengths)[column.ids], new)]
    kept[written] = False
    old = np.ones(len(data), np.bool_)
    old[ranges(start, end - start)] = False
    out[kept] = np.frombuffer(data, np.uint8)[old]
    return out.tobytes()
