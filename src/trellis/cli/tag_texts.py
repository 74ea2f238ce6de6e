"""What `trellis tag` does with a classifier of whole texts: files of items, and of one text a line."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from trellis.cli.output import open_sink
from trellis.cli.weak_votes import is_items
from trellis.errors import DataError

if TYPE_CHECKING:
    from trellis.models import TextClassifier

PREDICTED, PROBABILITIES = "predicted", "probabilities"
_AT_ONCE = 1000  # texts
_OBJECT = re.compile(rb'\s*\{\s*(["}]|$)')  # how an object of JSON begins, rather than a text with a brace


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
        while start[-1].isspace():  # as many lines as it takes to tell
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

    while batch := list(itertools.islice(records, many)):
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
    many = 1 if file == "-" else _AT_ONCE
    number = 0
    while batch := list(itertools.islice(lines, many)):
        texts = []
        for line in batch:
            number += 1
            try:
                texts.append(line.decode("utf-8").rstrip("\r\n"))
            except UnicodeDecodeError as error:
                what = f"byte 0x{line[error.start]:02x} is not valid UTF-8; convert the file (for example with iconv)"
                raise DataError(what, file, number) from None
        labels, chances = _said(model, texts, marginals)
        out = []
        for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
            columns = [label, text]
            if chances is not None:
                columns[1:1] = [f"{name}:{p:.6f}" for name, p in zip(model.classes_, chances[i], strict=True)]
            out.append("\t".join(columns) + "\n")
        yield len(batch), "".join(out).encode()


def _said(model: TextClassifier, items: Any, marginals: bool) -> tuple[list[str], list[list[float]] | None]:
    """Labels, and P(label), if asked for."""
    chances = model.predict_proba(items)
    labels = model.classes_[chances.argmax(axis=1)].tolist()
    return labels, chances.tolist() if marginals else None
