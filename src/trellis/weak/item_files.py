"""Votes on whole items (texts to classify), from files and into them.

JSON lines, one object a line; the gold label and the votes may be left out; null, or `_`, is an abstention:

    {"text": "Check out my channel", "label": "SPAM", "votes": {"check_out": "SPAM", "short": null}}

A file of WRENCH's (see `wrench`) is known by its beginning.
"""

from __future__ import annotations

import io
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.weak.item_json import BOM, kind_of, lines_of, opened, records_of
from trellis.weak.itemset import Items, Record
from trellis.weak.space import SILENCE, Space
from trellis.weak.votes import ABSTAINS, Votes
from trellis.weak.wrench import parse_wrench

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]

MAX_FUNCTIONS = 10_000  # whoever has more has taken something else for their names

_WRENCH = re.compile(rb'\s*\{\s*"\d+"\s*:\s*\{')
_PERHAPS_WRENCH = re.compile(rb'\s*\{\s*("\d+"\s*(:\s*)?)?')  # lines that begin such a file, but do not tell yet


def read_items(
    path: str | Path,
    text: str | None = "text",
    gold: str | None = "label",
    votes: str = "votes",
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Items:
    """Reads either of the formats at the top of this file; `-` is standard input.

    text, gold, votes: the names of the fields; with text=None items need not have any, with gold=None no gold label is
    read. coarse: names for several labels. labels: what the truth can be beside the labels that are voted for and the
    gold ones.
    """
    (found,) = item_batches(path, text, gold, votes, coarse, labels, None)
    return found


def item_batches(
    path: str | Path,
    text: str | None = "text",
    gold: str | None = "label",
    votes: str = "votes",
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
    many: int | None = 10_000,
    functions: Sequence[str] = (),
) -> Iterator[Items]:
    """As `read_items`, so many at a time as they come (a file of WRENCH's, or with None, all at once). functions: those
    that vote in every batch, abstaining where an item does not name them (not of WRENCH's, whose items name all)."""
    if len({text, gold, votes} - {None}) < 3 - [text, gold, votes].count(None):
        raise SettingError(f"the fields are {text!r}, {gold!r} and {votes!r}; expected three different names")
    with opened(path) as file:
        start = _beginning(file)
        if _WRENCH.match(b"".join(start)):
            yield parse_wrench(b"".join([*start, file.read()]), path, text, coarse, labels)
            return
        records = records_of(chain(start, lines_of(file)), path, text)
        batch = list(islice(records, many))
        while True:
            yield _items_of(batch, path, text, gold, votes, coarse, labels, functions)
            batch = [] if many is None else list(islice(records, many))
            if not batch:
                return


def item_records(path: str | Path, text: str | None = "text") -> Iterator[tuple[int | None, Record]]:
    """(line, object) one after the other as they come; votes stay in the objects. Items of WRENCH's have no lines."""
    with opened(path) as file:
        start = _beginning(file)
        if not _WRENCH.match(b"".join(start)):
            yield from records_of(chain(start, lines_of(file)), path, text)
            return
        found = parse_wrench(b"".join([*start, file.read()]), path, text, None, None)
        for item, record in enumerate(found.records):
            yield None, record if found.votes is None else {**record, "votes": _said(found.votes, item)}


def write_items(
    records: Sequence[Record],
    votes: Votes | None = None,
    gold: I32 | None = None,
    probabilities: F64 | None = None,
    labels: Sequence[str] | None = None,
    gold_field: str = "label",
    votes_field: str = "votes",
) -> bytes:
    """JSON lines: as `item_lines`, all at once."""
    return b"".join(item_lines(records, votes, gold, probabilities, labels, gold_field, votes_field))


def item_lines(
    records: Sequence[Record],
    votes: Votes | None = None,
    gold: I32 | None = None,
    probabilities: F64 | None = None,
    labels: Sequence[str] | None = None,
    gold_field: str = "label",
    votes_field: str = "votes",
) -> Iterator[bytes]:
    """JSON lines, one after the other: the fields of each record, and those that are given here in place of its own.

    votes: every function with its label or null, beside those of other functions that a record may have. gold:
    I32[items], -1 becomes null. probabilities: F64[items, labels], as an object from label to number. labels: what gold
    and probabilities are of, if not of votes.labels.
    """
    names = tuple(labels) if labels is not None else () if votes is None else votes.labels
    many = len(records)
    _check_shape("votes", None if votes is None else votes.offsets, (many + 1,))
    _check_shape("gold labels", gold, (many,))
    _check_shape("probabilities", probabilities, (many, len(names)))
    if gold is not None and many and int(np.max(gold)) >= len(names):
        raise DataError(f"gold labels go up to {np.max(gold)}, but there are {len(names)} labels; say which: labels")
    for item, record in enumerate(records):
        own: Record = dict(record)
        if gold is not None:
            own[gold_field] = None if gold[item] < 0 else names[gold[item]]
        if votes is not None:
            own[votes_field] = {**(own.get(votes_field) or {}), **_said(votes, item)}
        if probabilities is not None:
            own["probabilities"] = dict(zip(names, probabilities[item].tolist(), strict=True))
        yield _dumped(own, item)


def _said(votes: Votes, item: int) -> dict[str, str | None]:
    """What each function says of an item."""
    said = [None if k == ABSTAINS else votes.names[k] for k in votes.values[item].tolist()]
    return dict(zip(votes.functions, said, strict=True))


def _check_shape(what: str, values: NDArray[Any] | None, expected: tuple[int, ...]) -> None:
    if values is not None and values.shape != expected:
        raise DataError(f"{what} of the shape {values.shape} for {expected[0]} items; expected {expected}")


def _dumped(record: Record, item: int) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"item {item + 1} cannot be written as JSON: {error}") from None


def _beginning(file: io.BufferedReader) -> list[bytes]:
    """As many lines as it takes to tell the two formats apart, without the mark of byte order."""
    start: list[bytes] = []
    inked = b""
    for line in lines_of(file):
        start.append(line if start else line.removeprefix(BOM))
        inked += start[-1].strip()
        if inked and not _PERHAPS_WRENCH.fullmatch(inked):
            break
    return start


class _Cast:
    """Votes as they are read: triples of item, function, and what it says, by numbers in order of first appearance."""

    def __init__(self, functions: Sequence[str]) -> None:
        self.functions = {name: j for j, name in enumerate(functions)}
        self.named: set[str] = set()
        self.said: dict[str, int] = {}
        self.triples = array("i")

    def add(self, item: int, votes: object, fail: Callable[[str], DataError]) -> None:
        if not isinstance(votes, dict):
            raise fail(f"the votes are {kind_of(votes)}; expected an object from functions to labels")
        self.named.update(votes)
        for name, label in votes.items():
            function = self.functions.setdefault(name, len(self.functions))
            if label is None or label == SILENCE:
                continue
            if not isinstance(label, str) or not label:
                found = repr(label) if isinstance(label, str) else kind_of(label)
                raise fail(f"{name!r} votes {found}; expected a label as a string, or null to abstain")
            self.triples.extend((item, function, self.said.setdefault(label, len(self.said))))
        if len(self.functions) > MAX_FUNCTIONS:
            raise fail(f"over {MAX_FUNCTIONS:,} different functions; expected the names of functions in the votes")

    def votes(self, items: int, space: Space) -> Votes | None:
        if not self.functions:
            return None
        values = np.full((items, len(self.functions)), ABSTAINS, np.int32)
        number = np.array([space.index[label] for label in self.said], np.int32)
        item, function, said = np.array(self.triples, np.int64).reshape(-1, 3).T
        values[item, function] = number[said]
        return Votes(values, tuple(self.functions), space, np.arange(items + 1, dtype=np.int64))


def _items_of(
    given: Iterable[tuple[int, Record]],
    path: str | Path,
    text: str | None,
    gold: str | None,
    votes: str,
    coarse: Mapping[str, Sequence[str]] | None,
    labels: Sequence[str] | None,
    functions: Sequence[str],
) -> Items:
    records: list[Record] = []
    numbers, cast_votes, truth = array("q"), _Cast(functions), list[str | None]()
    for line, record in given:
        label = None if gold is None or record.get(gold) == SILENCE else record.get(gold)
        if label is not None and (not isinstance(label, str) or not label):
            found = repr(label) if isinstance(label, str) else kind_of(label)
            raise DataError(f"the gold label {gold!r} is {found}; expected a label as a string, or null", path, line)
        if record.get(votes) is not None:
            cast_votes.add(len(records), record[votes], partial(DataError, path=path, line=line))
        record.pop(votes, None)
        records.append(record)
        numbers.append(line)
        truth.append(label)
    every = [*cast_votes.said, *(label for label in truth if label is not None), *(labels or ())]
    space = Space.of_labels(every, coarse)
    for line, label in zip(numbers, truth, strict=True):
        if label in space.coarse:
            raise DataError(f"the gold label {label!r} is coarse; expected one label", path, line)
    found_votes = cast_votes.votes(len(records), space)
    lines_of = np.array(numbers, np.int64)
    named = frozenset(cast_votes.named)
    return Items(records, found_votes, _gold(truth, space), space.labels, text, path, lines_of, named)


def _gold(truth: Sequence[str | None], space: Space) -> I32 | None:
    if all(label is None for label in truth):
        return None
    return np.array([ABSTAINS if label is None else space.index[label] for label in truth], np.int32)
