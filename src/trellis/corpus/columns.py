"""Column files: one token a line, columns apart by spaces or tabs, a blank line after each sentence.

Reading never makes a Python string per token. The bytes are cut into fields by kernels (by array operations where
there are few, or something is wrong), and each column's fields are interned: to a number per token and a table of
distinct strings.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np

from trellis.corpus.corpus import Corpus, check_names, concatenate
from trellis.corpus.fields import Text, cut_fields
from trellis.corpus.intern import Bytes
from trellis.corpus.pieces import BLANK_LINE, read_fields, read_pieces
from trellis.errors import DataError, SettingError
from trellis.files import read_bytes
from trellis.jit import worthwhile

MAX_SENTENCE = 1 << 26  # bytes; a file without blank lines is no column file
CHUNK = 1 << 22  # bytes read at a time when a file is streamed
_SEEN = 1 << 16  # bytes at the beginning that tell how long lines are
_BEGUN = re.compile(rb"\n[ \t\r]*\Z")  # what may become a blank line
_SEPARATOR = re.compile(r"[ \t\r\n]")


def read_conll(
    *paths: str | Path, columns: Sequence[str] | None = None, comments: bool = False, threads: int = 1
) -> Corpus:
    """Reads column files into one corpus.

    `columns` names the columns from left to right (`_` for one to leave out); without it they are called
    `c0, c1, ...`. With `comments`, lines that begin with `#` are left out. `-` is standard input. `threads` read a
    large file together; the corpus is the same for any number of them.
    """
    if not paths:
        raise SettingError("no file to read")
    return concatenate([parse_conll(read_bytes(path), columns, path, comments, threads=threads) for path in paths])


def parse_conll(
    data: bytes,
    columns: Sequence[str] | None = None,
    path: str | Path | None = None,
    comments: bool = False,
    first_line: int = 1,
    optional: Sequence[str] = (),
    width: int | None = None,
    threads: int = 1,
) -> Corpus:
    """Bytes of a column file -> corpus. `first_line` is the number of the first line in its file, `width` the number
    of columns that earlier parts of it had.

    With `optional`, a file with fewer columns than are named is taken to lack these, the last one first; with still
    fewer, the last ones of all; and columns beyond those named are called `c4, c5, ...` by position. Tagging needs
    that, where target columns may be there or not.
    """
    if path == "-":
        path = "<stdin>"
    if columns is not None:
        columns = check_names(columns.split(",") if isinstance(columns, str) else columns)
        width = len(columns) if not optional else width
    text = Text(data, path, first_line)
    read = None
    if worthwhile(data.count(b"\n", 0, _SEEN) * max(1, len(data) // _SEEN)):
        read = read_pieces(text, comments, width, lambda found: _names(columns, found, optional), threads)
    if read is None:  # a small file, or one in which something is wrong; then it is said here
        fields = cut_fields(text, comments, width, columns if not optional else None)
        names = _names(columns, fields.start.shape[1], optional if len(fields.lines) else ())
        read = read_fields(fields, Bytes(data), names)
    return Corpus(read.columns, read.offsets, path, read.lines, tuple(read.names))


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
    optional: Sequence[str] = (),
    comments: bool = False,
    threads: int = 1,
) -> Iterator[Piece]:
    """Cuts a file or pipe into pieces of whole sentences as the bytes arrive.

    Each read takes what is there: a terminal or a slow pipe is answered sentence by sentence, a file comes
    in large pieces. What comes before a bad sentence is given before its error is raised. `optional`, `comments`
    and `threads` as in `parse_conll`.
    """
    parse = partial(parse_conll, columns=columns, path=path, comments=comments, optional=optional, threads=threads)
    waiting: list[bytes] = []  # an unfinished sentence
    tail, line = b"", 1
    width: int | None = None
    while True:
        new = file.read(CHUNK)
        waiting.append(new)
        tail += new  # a blank line may lie across reads
        cut = _last_sentence_end(tail)
        if cut or not new:
            data = b"".join(waiting)
            cut = len(data) - len(tail) + cut if new else len(data)
            data, rest = data[:cut], data[cut:]
            if data:
                try:
                    corpus = parse(data, first_line=line, width=width)
                except DataError as error:
                    yield from _up_to(error, data, line, partial(parse, width=width))
                width = len(corpus.file_columns or ()) if corpus.tokens else width
                yield Piece(data, line, corpus)
            line += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
            waiting, tail = [rest], rest
        elif sum(map(len, waiting)) > MAX_SENTENCE:
            raise DataError(f"no blank line in {MAX_SENTENCE:,} bytes; sentences end with a blank line", path, line)
        begun = _BEGUN.search(tail)
        tail = begun.group() if begun else b""
        if not new:
            return


def _up_to(
    error: DataError, data: bytes, first_line: int, parse: Callable[..., Corpus]
) -> Generator[Piece, None, NoReturn]:
    """The sentences before the first bad one, if any, and then the error that is there."""
    while error.line is not None:
        lines = data.split(b"\n", error.line - first_line)
        before = data[: len(data) - len(lines[-1])]
        data = before[: max((blank.end() for blank in BLANK_LINE.finditer(before)), default=0)]
        if not data:
            break
        try:
            corpus = parse(data, first_line=first_line)
        except DataError as earlier:  # kinds of errors are looked for one after the other
            error = earlier
        else:
            yield Piece(data, first_line, corpus)
            break
    raise error from None


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


def append_columns(piece: Piece, columns: Sequence[Sequence[str]]) -> bytes:
    """The piece's own lines with columns of strings added at the end of each token's line.

    Comments and blank lines stay. Line ends become `\\n`, blanks at the ends of lines go. The separator is a tab if
    the piece has tabs, else a space.
    """
    lines, separator = _lines(piece), separator_of(piece)
    suffixes = np.full(len(lines), b"", object)
    if columns:
        assert piece.corpus.lines is not None
        rows = map(separator.join, zip(repeat(""), *columns, strict=False))
        suffixes[piece.corpus.lines - piece.first_line] = [row.encode() for row in rows]
    out = b"\n".join(map(bytes.__add__, map(bytes.rstrip, lines), suffixes.tolist()))
    return out + b"\n" if lines else out


def replace_columns(piece: Piece, columns: Sequence[Sequence[str]]) -> bytes:
    """The piece with columns of strings in place of each token's line; all else as by `append_columns`."""
    lines, separator = _lines(piece), separator_of(piece)
    assert piece.corpus.lines is not None
    written = np.array([*map(bytes.rstrip, lines), b""], object)[:-1]  # an object array also where all are as long
    rows = map(separator.join, zip(*columns, strict=True))
    written[piece.corpus.lines - piece.first_line] = [row.encode() for row in rows]
    out = b"\n".join(written.tolist())
    return out + b"\n" if lines else out


def separator_of(piece: Piece) -> str:
    """What stands between the columns of a piece: a tab if it has any."""
    return "\t" if b"\t" in piece.data else " "


def _lines(piece: Piece) -> list[bytes]:
    lines = piece.data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _last_sentence_end(data: bytes) -> int:
    """Bytes up to and including the last blank line, 0 when there is none."""
    at = data.rfind(b"\n\n")
    if at >= 0:
        return at + 2
    blank = [found.end() for found in BLANK_LINE.finditer(data)]  # only spaces, or Windows line ends
    return blank[-1] if blank else 0


def _names(columns: Sequence[str] | None, width: int, optional: Sequence[str]) -> list[str]:
    if columns is None:
        return [f"c{i}" for i in range(width)]
    names = list(columns)
    if not optional:
        return names
    absent = [name for name in optional if name in names]
    missing = len(names) - width
    if 0 < missing <= len(absent):
        names = [name for name in names if name not in absent[-missing:]]
    while len(names) < width:
        name = f"c{len(names)}"
        while name in names:
            name += "_"
        names.append(name)
    return names[:width]
