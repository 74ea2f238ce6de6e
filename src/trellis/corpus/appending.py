"""A piece of a stream with one column more, without a string for each token."""

from __future__ import annotations

import numpy as np

from trellis.corpus.column import Column
from trellis.corpus.columns import Piece, append_columns, separator_of
from trellis.corpus.threads import on_threads
from trellis.jit import worthwhile

_PART = 1 << 18  # bytes that a thread takes at a time


def append_column(piece: Piece, column: Column, threads: int = 1) -> bytes:
    """The piece's own lines with the column's values at the end of each token's line, as by `append_columns`."""
    if not worthwhile(len(column)):
        return append_columns(piece, [column.values()])
    from trellis.corpus.kernels import append_fields

    buffer, cuts = np.frombuffer(piece.data, np.uint8), _cuts(piece.data)
    assert piece.corpus.lines is not None
    lines = piece.corpus.lines - piece.first_line
    strings = [string.encode() for string in column.strings]
    start = np.concatenate([[0], np.cumsum([len(string) for string in strings])]).astype(np.int64)
    values, separator = np.frombuffer(b"".join(strings), np.uint8), ord(separator_of(piece))
    longest = max(map(len, strings), default=0)
    counts = on_threads(lambda k: np.count_nonzero(buffer[cuts[k] : cuts[k + 1]] == 10), len(cuts) - 1, threads)
    first_lines = np.cumsum([0, *counts])  # of each part; a line behind the last has no end
    tokens = np.append(np.searchsorted(lines, first_lines[:-1]), len(lines)).tolist()

    def one(k: int) -> memoryview:
        own = slice(tokens[k], tokens[k + 1])
        out = np.empty(cuts[k + 1] - cuts[k] + (longest + 1) * (tokens[k + 1] - tokens[k]) + 1, np.uint8)
        size = append_fields(
            buffer, cuts[k], cuts[k + 1], lines[own] - first_lines[k], column.ids[own], values, start, separator, out
        )
        return out[:size].data

    return b"".join(on_threads(one, len(cuts) - 1, threads))


def _cuts(data: bytes) -> list[int]:
    """Where parts begin and end: behind lines."""
    cuts = [0]
    while cuts[-1] < len(data):
        cuts.append(data.find(b"\n", min(len(data), cuts[-1] + _PART)) + 1 or len(data))
    return cuts
