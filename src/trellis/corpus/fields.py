"""Bytes of a column file -> where its fields are, by operations on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError

MAX_LINE = 1 << 20  # bytes; a longer line is a binary file or a mistake
_BOM = b"\xef\xbb\xbf"
BLANK = np.zeros(256, bool)
BLANK[[9, 10, 13, 32]] = True  # the bytes between fields

I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Text:
    """Bytes and where they come from; `first_line` is the number of their first line in the file."""

    data: bytes
    path: str | Path | None = None
    first_line: int = 1

    @property
    def begin(self) -> int:
        """The first byte behind the mark of byte order, which may be at the beginning of a file."""
        return len(_BOM) if self.first_line == 1 and self.data.startswith(_BOM) else 0

    def error(self, what: str, line: int) -> DataError:
        """An error on a line of this text, counted from 0."""
        return DataError(what, self.path, self.first_line + int(line))

    def error_at(self, what: str, byte: int) -> DataError:
        return self.error(what, self.data.count(b"\n", 0, byte))


@dataclass(frozen=True)
class Fields:
    """Where the fields are: `start, end: I64[tokens, columns]`; `lines: I64[tokens]`, `offsets: I64[sentences + 1]`."""

    start: I64
    end: I64
    lines: I64
    offsets: I64


def cut_fields(text: Text, comments: bool, width: int | None, names: Sequence[str] | None) -> Fields:
    """Finds tokens, columns and sentences. Every token must have `width` columns, or as many as the first one.

    `names` are the columns a user expects, for the message when there are others.
    """
    _check_characters(text)
    buffer = np.frombuffer(text.data, np.uint8)
    newlines = np.flatnonzero(buffer == 10)
    ends = np.append(newlines, len(buffer)) if len(buffer) and buffer[-1] != 10 else newlines
    begins = np.concatenate([[0], newlines + 1])[: len(ends)]
    begins[:1] = text.begin
    lengths = ends - begins
    if lengths.max(initial=0) > MAX_LINE:
        what = f"a line of {lengths.max():,} bytes; at most {MAX_LINE:,} are read (is this a column file?)"
        raise text.error(what, int(lengths.argmax()))

    comment = buffer.take(begins, mode="clip") == ord("#") if comments and len(buffer) else np.zeros(len(ends), bool)
    start, end = _runs_of_ink(buffer, begins, ends, comment)
    # fields per line, by where each line ends among the field starts
    per_line = np.diff(np.searchsorted(start, ends), prepend=0)
    full = np.flatnonzero(per_line)
    expected = width if width is not None else int(per_line[full[0]]) if len(full) else 0
    wrong = full[per_line[full] != expected]
    if len(wrong):
        others_fit = width is None or int(wrong[0]) != int(full[0])  # then this line is wrong, not the names
        first = text.first_line + int(full[0]) if others_fit else None
        raise text.error(_wrong_width(int(per_line[wrong[0]]), expected, names, first), wrong[0])

    # a sentence begins where a blank line, not a comment, lies before
    blanks = np.cumsum((per_line == 0) & ~comment)
    begun = np.flatnonzero(np.diff(blanks[full])) + 1
    offsets = np.concatenate([[0], begun, [len(full)]] if len(full) else [[0]]).astype(np.int64)
    shape = (len(full), expected)
    return Fields(start.reshape(shape), end.reshape(shape), full + text.first_line, offsets)


def _check_characters(text: Text) -> None:
    zero = text.data.find(b"\0")
    if zero >= 0:
        raise text.error_at("a NUL byte; text in UTF-8 is expected (UTF-16 or a binary file?)", zero)
    try:
        text.data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = text.data[error.start]
        what = f"byte 0x{found:02x} is not valid UTF-8; convert the file (for example with iconv)"
        raise text.error_at(what, error.start) from None


def _runs_of_ink(buffer: NDArray[np.uint8], begins: I64, ends: I64, comment: NDArray[np.bool_]) -> tuple[I64, I64]:
    """Start and end of every run of bytes that are neither space nor comment nor the mark of byte order."""
    inked = np.zeros(len(buffer) + 2, bool)  # a blank before and after
    np.logical_not(BLANK[buffer], out=inked[1:-1])
    inked[: 1 + int(begins[0]) if len(begins) else 1] = False
    for line in np.flatnonzero(comment).tolist():
        inked[begins[line] + 1 : ends[line] + 1] = False
    edges = np.flatnonzero(inked[1:] != inked[:-1])
    return edges[::2], edges[1::2]


def _wrong_width(found: int, expected: int, names: Sequence[str] | None, first_line: int | None) -> str:
    if names is not None and first_line is None:
        named = f"{found} columns found, but {expected} named ({','.join(names)})"
        return f"{named}; name every column from left to right, `_` for one to leave out"
    where = "on the lines before" if first_line is None else f"on line {first_line}"
    return f"{found} columns, but {expected} {where}; every token needs the same number of columns"
