"""Tables of words: what may stand in the place of what, an entry a line, with tabs between.

    synonyms    big<TAB>large<TAB>very large
    mentions    LOC<TAB>New York

The first field is the word, or the type of the mentions; all others may stand in its place, their words apart by
spaces. A first field may have several lines.
"""

from __future__ import annotations

from pathlib import Path

from trellis.errors import DataError, SettingError
from trellis.fewlabels.augment.contract import FileTable, Table

_LONG = 40  # letters


def parse_table(data: bytes, path: str | Path | None = None) -> Table:
    """The bytes of such a file; DataError with file:line for what is none."""
    if not isinstance(data, bytes):
        raise SettingError(f"the table is of the type {type(data).__name__}; expected the bytes of a file")
    found = FileTable()
    found.path = path
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip("\r ")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{error.reason} at byte {error.start + 1}; the table has to be UTF-8", path, number
            ) from None
        if not line:
            continue
        first, *others = [field.strip() for field in line.split("\t")]
        wrong = _wrong(first, others)
        if wrong:
            raise DataError(
                f"{wrong}; expected one word (or type), a tab, and what may stand in its place, with tabs between",
                path,
                number,
            )
        found.setdefault(first, []).extend(others)
    if not found:
        raise DataError("the table is empty; expected a word, a tab and what may stand in its place on each line", path)
    return found


def _wrong(first: str, others: list[str]) -> str | None:
    """What is wrong with a line, if anything."""
    if not others:
        return f"there is no tab after {_short(first)}"
    if not first:
        return "there is nothing before the first tab"
    if len(first.split()) > 1:
        return f"{_short(first)} before the first tab is more than one word"
    empty = [k for k, field in enumerate(others, 1) if not field]
    return f"there is nothing after tab {empty[0]}" if empty else None


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONG else text[:_LONG] + "...")
