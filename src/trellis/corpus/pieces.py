"""A column file in pieces of whole sentences, which threads read; then put together.

What is read at a time stays in a thread's cache, the places of fields and the tables of strings too. A piece numbers
its own strings; numbering these once more, piece by piece, gives the numbers that the whole would have given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trellis.corpus.column import Column
from trellis.corpus.fields import BLANK, MAX_LINE, Fields, Text
from trellis.corpus.intern import I32, I64, Bytes, intern
from trellis.corpus.threads import on_threads

BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LEAST, _MOST = 1 << 16, 1 << 18  # bytes of a piece
_PIECES = 8  # or more, for threads to share
_FIRST = 1 << 8  # bytes in which a token is looked for, to see how many columns there are


@dataclass(frozen=True)
class Read:
    """A file: the names of its columns by position (`_`: left out), the others; lines and offsets as in `Corpus`."""

    names: Sequence[str]
    columns: dict[str, Column]
    lines: I64
    offsets: I64


@dataclass(frozen=True)
class _Piece:
    """One piece: its tokens' lines from 0 on, the first token of each sentence, how many lines there are; of each
    column the numbers of its fields and where each number was first seen, (I32[tokens], I64[distinct], I64[distinct])
    """

    lines: I64
    first: I64
    count: int
    columns: list[tuple[I32, I64, I64]]


def read_pieces(
    text: Text, comments: bool, width: int | None, naming: Callable[[int], Sequence[str]], threads: int
) -> Read | None:
    """A file by kernels; None where something is wrong with it, or there is no token. `naming`: names for so many
    columns."""
    width = _width(text, comments) if width is None else width
    if not width or not _is_utf8(text.data):
        return None
    source, names, cuts = Bytes(text.data), naming(width), _cuts(text)
    _ = source.words  # before threads ask for it
    kept = _kept(names)

    def one(n: int) -> _Piece | None:
        start, end, lines, first, count, well = _cut(text, comments, width, cuts[n], cuts[n + 1])
        if not well:
            return None
        found = []
        for c in kept.values():
            ids, seen = intern(source, start, end, c)
            found.append((ids, start[seen, c], end[seen, c]))
        return _Piece(lines, first, count, found)

    answers = on_threads(one, len(cuts) - 1, threads)
    pieces = [piece for piece in answers if piece is not None]
    lines = np.cumsum([text.first_line, *(piece.count for piece in pieces)]).tolist()
    tokens = np.cumsum([0, *(len(piece.lines) for piece in pieces)]).tolist()
    if len(pieces) < len(answers) or not tokens[-1]:
        return None
    columns = on_threads(lambda k: _joined(source, [piece.columns[k] for piece in pieces]), len(kept), threads)
    return Read(
        names,
        dict(zip(kept, columns, strict=True)),
        np.concatenate([piece.lines + line for piece, line in zip(pieces, lines, strict=False)]),
        np.concatenate([*(piece.first + base for piece, base in zip(pieces, tokens, strict=False)), tokens[-1:]]),
    )


def read_fields(fields: Fields, source: Bytes, names: Sequence[str]) -> Read:
    """The same for a file that was cut in one piece."""
    columns = {}
    for name, c in _kept(names).items():
        columns[name] = Column(np.zeros(0, np.int32), [])
        if len(fields.lines):
            ids, first = intern(source, fields.start, fields.end, c)
            columns[name] = Column(ids, source.strings(fields.start[first, c], fields.end[first, c]))
    return Read(names, columns, fields.lines, fields.offsets)


def _kept(names: Sequence[str]) -> dict[str, int]:
    """The positions of columns that are not left out."""
    return {name: c for c, name in enumerate(names) if name != "_"}


def _width(text: Text, comments: bool) -> int:
    """How many columns the first token has, 0 if there is none or something is wrong there."""
    size = _FIRST
    while True:
        last = _behind_blank_line(text.data, min(len(text.data), text.begin + size))
        start, *_, well = _cut(text, comments, -1, text.begin, last)
        if len(start) or not well or last == len(text.data):
            return int(start.shape[1]) if well else 0
        size *= 16


def _joined(source: Bytes, pieces: Sequence[tuple[I32, I64, I64]]) -> Column:
    """A column from its pieces."""
    if len(pieces) == 1:
        ids, start, end = pieces[0]
        return Column(ids, source.strings(start, end))
    start, end = (np.concatenate([piece[k] for piece in pieces]) for k in (1, 2))
    number, first = intern(source, start[:, None], end[:, None])
    numbers = np.split(number, np.cumsum([len(piece[1]) for piece in pieces])[:-1])
    ids = np.concatenate([own.take(piece[0]) for own, piece in zip(numbers, pieces, strict=True)])
    return Column(ids, source.strings(start[first], end[first]))


def _cut(text: Text, comments: bool, width: int, first: int, last: int) -> tuple[I64, I64, I64, I64, int, bool]:
    from trellis.corpus.kernels import cut_tokens

    buffer = np.frombuffer(text.data, np.uint8)
    return cut_tokens(buffer, BLANK, first, last, comments, width, MAX_LINE)  # type: ignore[no-any-return]


def _cuts(text: Text) -> list[int]:
    """Where pieces begin and end: behind blank lines."""
    cuts, size = [text.begin], min(max(_LEAST, len(text.data) // _PIECES), _MOST)
    while cuts[-1] < len(text.data):
        cuts.append(_behind_blank_line(text.data, min(len(text.data), cuts[-1] + size)))
    return cuts if len(cuts) > 1 else [*cuts, *cuts]


def _behind_blank_line(data: bytes, at: int) -> int:
    """The end of the first blank line from `at` on, or of all."""
    found = BLANK_LINE.search(data, at)
    return len(data) if found is None else found.end()


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
