"""Column files: one token a line, columns apart by spaces or tabs, a blank line after each sentence.

Reading never makes a Python string per token. The bytes are cut into fields by array operations, and
each column's fields are interned: to a number per token and a table of distinct strings.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trellis.corpus.column import Column
from trellis.corpus.corpus import Corpus, check_names, concatenate
from trellis.corpus.intern import intern
from trellis.errors import DataError, SettingError
from trellis.files import read_bytes

MAX_LINE = 1 << 20  # bytes; a longer line is a binary file or a mistake
MAX_SENTENCE = 1 << 26  # bytes; a file without blank lines is no column file
CHUNK = 1 << 22  # bytes read at a time when a file is streamed
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(rb"\n[ \t\r]*\n")
_SEPARATOR = re.compile(r"[ \t\r\n]")
_SPACE = np.zeros(256, bool)
_SPACE[[9, 10, 13, 32]] = True


@dataclass(frozen=True)
class Fields:
    """The fields of column-file bytes: `start, end: I64[tokens, columns]`, `lines: I64[tokens]`, `offsets`."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    lines: NDArray[np.int64]
    offsets: NDArray[np.int64]


def read_conll(*paths: str | Path, columns: Sequence[str] | None = None, comments: bool = False) -> Corpus:
    """Reads column files into one corpus.

    `columns` names the columns from left to right (`_` for one to leave out); without it they are called
    `c0, c1, ...`. With `comments`, lines that begin with `#` are left out. `-` is standard input.
    """
    if not paths:
        raise SettingError("no file to read")
    return concatenate([parse_conll(read_bytes(path), columns, path, comments) for path in paths])


def parse_conll(
    data: bytes,
    columns: Sequence[str] | None = None,
    path: str | Path | None = None,
    comments: bool = False,
    first_line: int = 1,
    optional: str | None = None,
    width: int | None = None,
) -> Corpus:
    """Bytes of a column file -> corpus. `first_line` is the number of the first line in its file, `width` the number
    of columns that earlier parts of it had.

    With `optional`, a file with one column fewer than are named is taken to lack that one; with still fewer, the
    last ones; and columns beyond those named are called `c4, c5, ...` by position. Tagging needs that, where the
    target column may be there or not.
    """
    if path == "-":
        path = "<stdin>"
    _check_bytes(data, path, first_line)
    if columns is not None:
        columns = check_names(columns)
        width = len(columns) if optional is None else width
    fields = _cut(data, path, comments, first_line, width, columns if optional is None else None)
    names = _names(columns, fields, optional)
    buffer = np.frombuffer(data, np.uint8)
    empty = Column(np.zeros(0, np.int32), [])
    built = {
        name: _column(data, buffer, fields.start[:, c], fields.end[:, c]) if len(fields.lines) else empty
        for c, name in enumerate(names)
        if name != "_"
    }
    return Corpus(built, fields.offsets, path, fields.lines, tuple(names))


@dataclass(frozen=True)
class Piece:
    """Whole sentences of a stream: their bytes, the number of their first line, and the corpus in them."""

    data: bytes
    first_line: int
    corpus: Corpus


def stream_conll(
    file: BinaryIO,
    columns: Sequence[str] | None = None,
    path: str | Path | None = None,
    optional: str | None = None,
) -> Iterator[Piece]:
    """Cuts a file or pipe into pieces of whole sentences as the bytes arrive.

    Each read takes what is there: a terminal or a slow pipe is answered sentence by sentence, a file comes
    in large pieces. `optional` as in `parse_conll`.
    """
    waiting: list[bytes] = []  # an unfinished sentence
    size, line = 0, 1
    width: int | None = None
    while True:
        new = file.read(CHUNK)
        size += len(new)
        waiting.append(new)
        tail = b"".join(waiting[-3:])  # a blank line may lie across reads
        cut = _last_sentence_end(tail)
        if cut or not new:
            data = b"".join(waiting)
            cut = len(data) - len(tail) + cut if new else len(data)
            data, rest = data[:cut], data[cut:]
            if data:
                corpus = parse_conll(data, columns, path, first_line=line, optional=optional, width=width)
                width = len(corpus.file_columns or ()) if corpus.tokens else width
                yield Piece(data, line, corpus)
            line += data.count(b"\n")
            waiting, size = [rest], len(rest)
        elif size > MAX_SENTENCE:
            raise DataError(f"no blank line in {size:,} bytes; sentences end with a blank line", path, line)
        if not new:
            return


def write_conll(corpus: Corpus) -> bytes:
    """The corpus as column-file bytes: spaces between columns, a blank line after each sentence."""
    for name, column in corpus.columns.items():
        for number, string in enumerate(column.strings):
            if (not string or _SEPARATOR.search(string)) and number in column.ids:
                place = corpus.place(int(np.flatnonzero(column.ids == number)[0]))
                raise DataError(f"{place}: '{name}' is {string!r}; a column file holds no empty values and no spaces")
    rows = list(map(" ".join, zip(*(column.values() for column in corpus.columns.values()), strict=True)))
    cuts = corpus.offsets.tolist()
    parts = ("\n".join(rows[a:b]) + "\n\n" for a, b in itertools.pairwise(cuts))
    return "".join(parts).encode("utf-8")


def _last_sentence_end(data: bytes) -> int:
    """Bytes up to and including the last blank line, 0 when there is none."""
    at = data.rfind(b"\n\n")
    if at >= 0:
        return at + 2
    blank = [found.end() for found in _BLANK.finditer(data)]  # only spaces, or Windows line ends
    return blank[-1] if blank else 0


def _check_bytes(data: bytes, path: str | Path | None, first_line: int) -> None:
    def line(at: int) -> int:
        return first_line + data.count(b"\n", 0, at)

    zero = data.find(b"\0")
    if zero >= 0:
        raise DataError("a NUL byte; text in UTF-8 is expected (UTF-16 or a binary file?)", path, line(zero))
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = data[error.start]
        raise DataError(
            f"byte 0x{found:02x} is not valid UTF-8; convert the file (for example with iconv)",
            path,
            line(error.start),
        ) from None


def _cut(
    data: bytes,
    path: str | Path | None,
    comments: bool,
    first_line: int,
    width: int | None,
    names: Sequence[str] | None,
) -> Fields:
    buffer = np.frombuffer(data, np.uint8)
    newlines = np.flatnonzero(buffer == 10)
    ends = np.append(newlines, len(buffer)) if len(buffer) and buffer[-1] != 10 else newlines
    begins = np.concatenate([[0], newlines + 1])[: len(ends)]
    if first_line == 1 and data.startswith(_BOM):
        begins[0] = len(_BOM)
    _check_line_lengths(begins, ends, path, first_line)

    inked = np.zeros(len(buffer) + 2, bool)
    np.logical_not(_SPACE[buffer], out=inked[1:-1])
    inked[1 : 1 + int(begins[0]) if len(begins) else 1] = False  # the mark of byte order
    comment = buffer.take(begins, mode="clip") == ord("#") if comments and len(buffer) else np.zeros(len(ends), bool)
    for line in np.flatnonzero(comment).tolist():
        inked[begins[line] + 1 : ends[line] + 1] = False
    edges = np.flatnonzero(inked[1:] != inked[:-1])
    start, end = edges[::2], edges[1::2]

    # fields per line, by where each line ends among the field starts
    per_line = np.diff(np.searchsorted(start, ends), prepend=0)
    full = np.flatnonzero(per_line)
    if not len(full):
        return Fields(
            np.zeros((0, width or 0), np.int64), np.zeros((0, width or 0), np.int64), full, np.zeros(1, np.int64)
        )
    expected = int(per_line[full[0]]) if width is None else width
    wrong = full[per_line[full] != expected]
    if len(wrong):
        _wrong_width(int(per_line[wrong[0]]), expected, names, width is None, path, first_line, wrong[0], full[0])
    # a sentence begins where the line number jumps over at least one line that is blank, not a comment
    blanks = np.cumsum((per_line == 0) & ~comment)
    skipped = np.flatnonzero(np.diff(blanks[full])) + 1
    offsets = np.concatenate([[0], skipped, [len(full)]])
    shape = (len(full), expected)
    return Fields(start.reshape(shape), end.reshape(shape), full + first_line, offsets.astype(np.int64))


def _wrong_width(
    found: int,
    expected: int,
    names: Sequence[str] | None,
    from_first: bool,
    path: str | Path | None,
    first_line: int,
    wrong: int,
    first: int,
) -> None:
    if names is not None:
        what = (
            f"{found} columns found, but {expected} named ({','.join(names)}); name every column from left to right, "
        )
        raise DataError(what + "`_` for one to leave out", path, first_line + int(wrong))
    where = f"on line {first_line + int(first)}" if from_first else "on the lines before"
    what = f"{found} columns, but {expected} {where}; every token needs the same number of columns"
    raise DataError(what, path, first_line + int(wrong))


def _check_line_lengths(
    begins: NDArray[np.int64], ends: NDArray[np.int64], path: str | Path | None, first_line: int
) -> None:
    lengths = ends - begins
    if len(lengths) and lengths.max() > MAX_LINE:
        line = int(lengths.argmax())
        raise DataError(
            f"a line of {int(lengths[line]):,} bytes; at most {MAX_LINE:,} are read (is this a column file?)",
            path,
            first_line + line,
        )


def _names(columns: Sequence[str] | None, fields: Fields, optional: str | None) -> list[str]:
    width = fields.start.shape[1]
    if columns is None:
        return [f"c{i}" for i in range(width)]
    names = list(columns)
    if optional is None or not len(fields.lines):
        return names
    if optional in names and width == len(names) - 1:
        names.remove(optional)
    return (names + [f"c{i}" for i in range(len(names), width)])[:width]


def _column(data: bytes, buffer: NDArray[np.uint8], start: NDArray[np.int64], end: NDArray[np.int64]) -> Column:
    ids, first = intern(buffer, np.ascontiguousarray(start), np.ascontiguousarray(end))
    spans = zip(start[first].tolist(), end[first].tolist(), strict=True)
    return Column(ids, [data[a:b].decode("utf-8") for a, b in spans])
