"""Tables of text: columns apart by tabs, a row a line, `#` before comments; whatever is wrong has file and line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from trellis.errors import DataError, shown
from trellis.features.functions.reading import decoded, numbered_lines

Failing = Callable[[str], DataError]  # what is wrong -> the error that says where
Row = tuple[tuple[str, ...], Failing]

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def rows_of(path: str | Path, columns: Sequence[str]) -> Iterator[Row]:
    """The fields of each line of a file, and how to say that something is wrong with them."""
    for number, raw in numbered_lines(str(path)):
        line = decoded(raw, str(path), number).rstrip("\r\n")
        if line.startswith("#"):
            continue
        fail = partial(DataError, path=path, line=number)
        fields = line.split("\t")
        if len(fields) != len(columns):
            many = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            raise fail(f"{many}; expected {len(columns)}, apart by tabs: {', '.join(columns)}")
        yield tidied(fields, columns, fail), fail


def rows_given(given: object, columns: Sequence[str], what: str) -> Iterator[Row]:
    """The same of rows in Python."""
    try:
        every = iter(given)  # type: ignore[call-overload]
    except TypeError:
        raise DataError(f"{what}s are {shown(given)}; expected a list of {', '.join(columns)}") from None
    for number, row in enumerate(every, 1):
        fail = partial(_numbered, what, number)
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(columns):
            raise fail(f"found {shown(row)}; expected {', '.join(columns)}")
        yield tidied(row, columns, fail), fail


def _numbered(what: str, number: int, message: str) -> DataError:
    return DataError(f"{what} {number}: {message}")


def tidied(fields: Sequence[object], columns: Sequence[str], fail: Failing) -> tuple[str, ...]:
    """Fields with one space between their words; none may be empty."""
    found = []
    for field, column in zip(fields, columns, strict=True):
        if not isinstance(field, str):
            raise fail(f"the {column} is {shown(field)}; expected a text")
        tidy = " ".join(filter(None, field.split(" ")))
        if not tidy:
            raise fail(f"the {column} is empty; expected {', '.join(columns)}")
        if _CONTROL.search(tidy):
            raise fail(f"the {column} is {tidy!r}, which has a control character; expected a text on one line")
        found.append(tidy)
    return tuple(found)
