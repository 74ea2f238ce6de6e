"""Interning: fields of a byte buffer -> a small number per field."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile


def intern(
    buffer: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Numbers the distinct fields `buffer[start[t]:end[t]]` in order of first appearance.

    Returns the number of each field, `I32[fields]`, and where each number was first seen, `I64[distinct]`.
    """
    if worthwhile(len(start)):
        from trellis.corpus.kernels import intern_fields

        return intern_fields(buffer, start, end)  # type: ignore[no-any-return]
    data = buffer.tobytes()
    index: dict[bytes, int] = {}
    first: list[int] = []
    ids = np.empty(len(start), np.int32)
    for t, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        ids[t] = number = index.setdefault(data[a:b], len(index))
        if number == len(first):
            first.append(t)
    return ids, np.array(first, np.int64)
