"""What `trellis tag` does with a classifier of whole texts: files of items, and of one text a line."""

from __future__ import annotations

import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from trellis.cli.output import open_sink
from trellis.cli.weak_votes import is_items
from trellis.errors import DataError, SettingError

if TYPE_CHECKING:
    from trellis.models import TextClassifier

PREDICTED, PROBABILITIES = "predicted", "probabilities"
_AT_ONCE, _CHARACTERS = 1000, 1 << 24  # texts in a batch, and in them
_OBJECT = re.compile(rb'\s*\{\s*(["}]|$)')  # how an object of JSON begins, rather than a text with a brace

Given = TypeVar("Given")


def tag_texts(model: TextClassifier, file: str, output: str | None, marginals: bool) -> int:
    """Writes the labels, and says of how many texts."""
    from trellis.files import write_all

    with ExitStack() as stack:
        sink, done = open_sink(output, stack), 0
        for many, lines in _tagged(model, file, marginals):
            write_all(sink, lines)
            done += many
    return done


def _tagged(model: TextClassifier, file: str, marginals: bool) -> Iterator[tuple[int, bytes]]:
    """How many texts, and their lines with labels: JSON lines as items, other files as one text a line."""
    from trellis.weak.item_json import BOM, lines_of, opened

    if is_items(file):
        yield from _tagged_items(model, file, marginals)
        return
    with opened(file) as source:
        lines = lines_of(source)
        start = [next(lines, b"").removeprefix(BOM)]
        while start[-1].isspace() and len(start) < _AT_ONCE:  # as many lines as it takes to tell
            start.append(next(lines, b""))
        tag = _tagged_records if _OBJECT.match(start[-1]) else _tagged_lines
        yield from tag(model, file, itertools.chain(filter(None, start), lines), marginals)


def _tagged_items(model: TextClassifier, file: str, marginals: bool) -> Iterator[tuple[int, bytes]]:
    from trellis.weak.item_files import item_records

    yield from _answered(model, file, item_records(file, None), marginals, _AT_ONCE)


def _tagged_records(
    model: TextClassifier, file: str, lines: Iterator[bytes], marginals: bool
) -> Iterator[tuple[int, bytes]]:
    from trellis.weak.item_json import records_of

    yield from _answered(model, file, records_of(lines, file, None), marginals, 1)


def _answered(
    model: TextClassifier, file: str, records: Iterator[tuple[int | None, Any]], marginals: bool, many: int
) -> Iterator[tuple[int, bytes]]:
    """In batches of so many, one by one where more may never come."""
    import json

    import numpy as np

    from trellis.weak import Items

    for batch in _batches(records, many, lambda one: sum(len(v) for v in one[1].values() if isinstance(v, str))):
        for line, record in batch:
            for name in (PREDICTED, *([PROBABILITIES] if marginals else [])):
                if name in record:
                    raise DataError(
                        f"there is a field '{name}' already, which would be replaced; rename it", file, line
                    )
        own = [record for _, record in batch]
        lines = None if batch[0][0] is None else np.array([line for line, _ in batch], np.int64)
        items = Items(own, None, None, (), None, file, lines)
        labels, chances = _said(model, items, marginals)
        out = io.StringIO()
        for i, (record, label) in enumerate(zip(own, labels, strict=True)):
            more = {} if chances is None else {PROBABILITIES: dict(zip(model.classes_, chances[i], strict=True))}
            out.write(json.dumps({**record, PREDICTED: label, **more}, ensure_ascii=False) + "\n")
        yield len(batch), out.getvalue().encode()


def _tagged_lines(
    model: TextClassifier, file: str, lines: Iterator[bytes], marginals: bool
) -> Iterator[tuple[int, bytes]]:
    if any(set(label) & set("\t\n\r") for label in model.classes_):
        raise SettingError(
            'labels with a tab or a line break cannot stand before a text; give JSON lines: {"text": ...}'
        )
    if file.endswith((".csv", ".tsv")):
        warnings.warn(f"{file} is read as one text a line; rows of a table have to become JSON lines", stacklevel=2)
    for texts in _batches(_texts(file, lines), 1 if file == "-" else _AT_ONCE, len):
        labels, chances = _said(model, texts, marginals)
        out = []
        for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
            columns = [label, text]
            if chances is not None:
                columns[1:1] = [f"{name}:{p:.6f}" for name, p in zip(model.classes_, chances[i], strict=True)]
            out.append("\t".join(columns) + "\n")
        yield len(texts), "".join(out).encode()


def _texts(file: str, lines: Iterator[bytes]) -> Iterator[str]:
    from trellis.weak.item_json import MAX_LINE

    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise DataError(f"a line of more than {MAX_LINE:,} bytes; expected one text a line", file, number)
        if b"\0" in line:
            raise DataError("a NUL byte; text in UTF-8 is expected (UTF-16 or a binary file?)", file, number)
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            what = f"byte 0x{line[error.start]:02x} is not valid UTF-8; convert the file (for example with iconv)"
            raise DataError(what, file, number) from None


def _batches(given: Iterator[Given], many: int, size: Callable[[Given], int]) -> Iterator[list[Given]]:
    """Of so many, or fewer that are long."""
    batch: list[Given] = []
    length = 0
    for one in given:
        batch.append(one)
        length += size(one)
        if len(batch) == many or length >= _CHARACTERS:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _said(model: TextClassifier, items: Any, marginals: bool) -> tuple[list[str], list[list[float]] | None]:
    """Labels, and P(label), if asked for."""
    chances = model.predict_proba(items)
    labels = model.classes_[chances.argmax(axis=1)].tolist()
    return labels, chances.tolist() if marginals else None
