"""Whatever form a corpus is published in -> the one canonical text that its digest is taken of.

Canonical: columns apart by one space, one token a line, one blank line after every sentence, UTF-8, LF.
Text that is canonical already comes back unchanged, also for sets published as CoNLL-U.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trellis.errors import DownloadError

_SEPARATORS = str.maketrans("\t\r\n", "   ")  # ASCII only: a no-break space belongs to its token
_CONLLU_CELLS = 10
_WORD, _UPOS, _XPOS, _FEATS = 1, 3, 4, 5


@dataclass(frozen=True)
class CanonicalText:
    """The bytes of a normalised file with its sizes and SHA-256 (hex)."""

    data: bytes
    sentences: int
    tokens: int
    sha256: str

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.sentences} sentences, {self.tokens} tokens)"


def normalise(
    raw: bytes,
    columns: Sequence[str],
    form: Literal["columns", "conllu"] = "columns",
    encodings: Sequence[str] = ("utf-8",),
) -> CanonicalText:
    """Bytes as published, unpacked -> canonical text with `len(columns)` columns. Errors say the line."""
    text = _decode(raw, encodings).removeprefix("\ufeff")
    lines = io.StringIO(text, newline="\n")  # line by line: a list of many short lines is many times its text
    from_conllu = form == "conllu" and "\t" in text
    rows = _conllu_rows(lines) if from_conllu else _column_rows(lines, len(columns))
    data = bytearray()
    sentences = tokens = 0
    inside = False
    for row in rows:
        if row:
            data += f"{row}\n".encode()
            tokens += 1
        elif inside:
            data += b"\n"
            sentences += 1
        inside = bool(row)
    if inside:
        data += b"\n"
        sentences += 1
    return CanonicalText(bytes(data), sentences, tokens, hashlib.sha256(data).hexdigest())


def _decode(raw: bytes, encodings: Sequence[str]) -> str:
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DownloadError(f"the text is not {' or '.join(encodings)}")


def _column_rows(lines: Iterable[str], columns: int) -> Iterator[str]:
    """One canonical row for each token line, an empty one for each blank line."""
    for number, line in enumerate(lines, 1):
        cells = [cell for cell in line.translate(_SEPARATORS).split(" ") if cell]
        if cells and len(cells) != columns:
            raise DownloadError(f"line {number} has {len(cells)} columns, {columns} were expected")
        yield " ".join(cells)


def _conllu_rows(lines: Iterable[str]) -> Iterator[str]:
    """`word upos xpos feats upos|feats` of every syntactic word.

    Comments go. So do the lines of multiword tokens (ids like 3-4, whose words follow) and of empty nodes
    (ids like 8.1, which are no part of the text).
    """
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if line.startswith("#"):
            continue
        if not line:
            yield ""
            continue
        cells = line.split("\t")
        if len(cells) != _CONLLU_CELLS:
            raise DownloadError(f"line {number} has {len(cells)} columns, CoNLL-U has {_CONLLU_CELLS}")
        if not cells[0].isdecimal():
            continue
        word, upos, xpos, feats = (cells[i] for i in (_WORD, _UPOS, _XPOS, _FEATS))
        row = (word, upos, xpos, feats, upos if feats == "_" else f"{upos}|{feats}")
        if any(not cell or " " in cell for cell in row):
            raise DownloadError(f"line {number} has a column that is empty or has a space in it")
        yield " ".join(row)
