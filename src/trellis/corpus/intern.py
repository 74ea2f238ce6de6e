"""Interning: fields of some bytes -> a small number per field."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile
from trellis.labels.packed import ranges

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Bytes:
    """Bytes in which fields are found, as kernels read them."""

    data: bytes

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """Eight bytes a number, the first one lowest; zeros behind the last."""
        padded = np.zeros(len(self.data) // 8 + 2, "<u8")
        padded.view(np.uint8)[: len(self.data)] = np.frombuffer(self.data, np.uint8)
        return padded.astype(np.uint64, copy=False)

    def strings(self, start: I64, end: I64) -> list[str]:
        """The fields as text; there is no line end in them. They are decoded all at once, with line ends between."""
        if not len(start):
            return []
        lengths = end - start + 1
        buffer = np.frombuffer(self.data, np.uint8)
        joined = buffer.take(ranges(start, lengths), mode="clip")  # the last field may end where the bytes do
        joined[np.cumsum(lengths) - 1] = ord("\n")
        return joined[:-1].tobytes().decode("utf-8").split("\n")


def intern(text: Bytes, start: I64, end: I64, column: int = 0) -> tuple[I32, I64]:
    """Numbers the distinct fields `start, end: I64[fields, columns]` of a column in order of first appearance.

    Returns the number of each field, `I32[fields]`, and where each number was first seen, `I64[distinct]`.
    """
    if worthwhile(len(start)):
        from trellis.corpus.kernels import intern_fields

        return intern_fields(text.words, start, end, column)  # type: ignore[no-any-return]
    data = text.data
    index: dict[bytes, int] = {}
    first: list[int] = []
    ids = np.empty(len(start), np.int32)
    for t, (a, b) in enumerate(zip(start[:, column].tolist(), end[:, column].tolist(), strict=True)):
        ids[t] = number = index.setdefault(data[a:b], len(index))
        if number == len(first):
            first.append(t)
    return ids, np.array(first, np.int64)
