"""Tables of words: what may stand in the place of what, an entry a line, with tabs between.

    synonyms    big<TAB>large<TAB>very large
    mentions    LOC<TAB>New York

The first field is the word, or the type of the mentions; all others may stand in its place, their words apart by
spaces. A first field may have several lines.
"""

from __future__ import annotations

from pathlib import Path

from trellis.errors import DataError
from trellis.fewlabels.augment.contract import Table


def parse_table(data: bytes, path: str | Path | None = None) -> Table:
    """The bytes of such a file; DataError with file:line for what is none."""
    found: dict[str, list[str]] = {}
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
        if not first or " " in first or not others or not all(others):
            raise DataError(
                "expected one word (or type), a tab, and what may stand in its place, with tabs between", path, number
            )
        found.setdefault(first, []).extend(others)
    if not found:
        raise DataError("the table is empty; expected a word, a tab and what may stand in its place on each line", path)
    return found
