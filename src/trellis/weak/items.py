"""Votes on whole items (texts to classify), from files and into them.

JSON lines, one object a line; the gold label and the votes may be left out, null is an abstention:

    {"text": "Check out my channel", "label": "SPAM", "votes": {"check_out": "SPAM", "short": null}}

and WRENCH's JSON (Zhang et al. 2021), one object for all items, -1 is an abstention. A file `label.json` beside it may
name the numbers ({"0": "HAM", "1": "SPAM"}); else they are the names. Functions are f0, f1, ...

    {"0": {"data": {"text": "Check out my channel"}, "label": 1, "weak_labels": [1, -1]}, ...}
"""

from __future__ import annotations

import io
import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, FileAccessError, SettingError, TrellisError, shown
from trellis.files import open_bytes, read_bytes
from trellis.weak.votes import ABSTAINS, Space, Votes

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Record = dict[str, Any]

MAX_LINE = 64 << 20  # bytes; what is longer is hardly an item, and would fill the memory before it is refused
MAX_FUNCTIONS = 10_000  # whoever has more has taken something else for their names
MAX_LABELS = 10_000  # the same of labels that are numbers without names

_WRENCH = re.compile(rb'\s*\{\s*"\d+"\s*:\s*\{')
_PERHAPS_WRENCH = re.compile(rb'\s*\{\s*("\d+"\s*(:\s*)?)?')  # lines that begin such a file, but do not tell yet
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Items:
    """`records`: all fields of each item but the votes, which are `votes` (None where no item has any); `gold
    I32[items]` into `labels`, -1 where unknown (None where all are). `text` is the field that holds the text."""

    records: list[Record]
    votes: Votes | None
    gold: I32 | None
    labels: tuple[str, ...]
    text: str | None = "text"
    path: str | Path | None = None
    lines: I64 | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def texts(self) -> list[str]:
        return [] if self.text is None else [record[self.text] for record in self.records]

    def place(self, item: int) -> str:
        """`file:line` of an item, or its number from 1 on where it has no line of its own."""
        return f"item {item + 1}" if self.lines is None else f"{self.path}:{self.lines[item]}"


def read_items(
    path: str | Path,
    text: str | None = "text",
    gold: str = "label",
    votes: str = "votes",
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Items:
    """Reads either of the formats at the top of this file; `-` is standard input.

    text, gold, votes: the names of the fields; with text=None items need not have any. coarse: names for several
    labels. labels: what the truth can be beside the labels that are voted for and the gold ones.
    """
    if len({text, gold, votes}) < 3:
        raise SettingError(f"the fields are {text!r}, {gold!r} and {votes!r}; expected three different names")
    with _opened(path) as file:
        start = _beginning(file)
        if _WRENCH.match(b"".join(start)):
            return _wrench(b"".join([*start, file.read()]), path, text, coarse, labels)
        return _json_lines(chain(start, _lines(file)), path, text, gold, votes, coarse, labels)


def read_wrench(
    path: str | Path,
    text: str | None = "text",
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Items:
    """Reads WRENCH's format. The label's name becomes the field `label` of a record, the item's key its `id`."""
    return _wrench(read_bytes(path).removeprefix(_BOM), path, text, coarse, labels)


def item_records(path: str | Path, text: str | None = "text") -> Iterator[tuple[int, Record]]:
    """(line, object) one after the other as they come, out of JSON lines; votes stay in the objects."""
    with _opened(path) as file:
        yield from _records(chain(_beginning(file), _lines(file)), path, text)


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

    votes: every function with its label or null. gold: I32[items], -1 becomes null. probabilities: F64[items, labels],
    as an object from label to number. labels: what gold and probabilities are of, if not of votes.labels.
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
            row = votes.values[item].tolist()
            said = [None if k == ABSTAINS else votes.names[k] for k in row]
            own[votes_field] = dict(zip(votes.functions, said, strict=True))
        if probabilities is not None:
            own["probabilities"] = dict(zip(names, probabilities[item].tolist(), strict=True))
        yield _dumped(own, item)


def _check_shape(what: str, values: NDArray[Any] | None, expected: tuple[int, ...]) -> None:
    if values is not None and values.shape != expected:
        raise DataError(f"{what} of the shape {values.shape} for {expected[0]} items; expected {expected}")


def _dumped(record: Record, item: int) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"item {item + 1} cannot be written as JSON: {error}") from None


@contextmanager
def _opened(path: str | Path) -> Iterator[io.BufferedReader]:
    file = open_bytes(path)
    with file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", file)) as buffered:
        try:
            yield buffered
        except OSError as error:
            if isinstance(error, TrellisError):
                raise
            raise FileAccessError(f"{path}: cannot be read: {error.strerror or error}") from None


def _lines(file: io.BufferedReader) -> Iterator[bytes]:
    """Lines; of one that is longer than MAX_LINE, more than that at least."""
    return iter(lambda: file.readline(MAX_LINE + 1), b"")


def _beginning(file: io.BufferedReader) -> list[bytes]:
    """As many lines as it takes to tell the two formats apart, without the mark of byte order."""
    start: list[bytes] = []
    inked = b""
    for line in _lines(file):
        start.append(line if start else line.removeprefix(_BOM))
        inked += start[-1].strip()
        if inked and not _PERHAPS_WRENCH.fullmatch(inked):
            break
    return start


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refused(digits)


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


def _decoded(data: bytes, path: str | Path, line: int = 1) -> Any:
    """The JSON value in bytes that begin at a line of a file, or DataError."""
    if b"\0" in data:
        at = line + data[: data.index(b"\0")].count(b"\n")
        raise DataError("a NUL byte; JSON in UTF-8 is expected (UTF-16 or a binary file?)", path, at)
    try:
        value = _DECODER.decode(data.decode("utf-8"))
        if b"\\ud" in data or b"\\uD" in data:  # half of a pair of surrogates could never be written again
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        at, found = line + data[: error.start].count(b"\n"), data[error.start]
        what = f"byte 0x{found:02x} is not valid UTF-8; convert the file (for example with iconv)"
        raise DataError(what, path, at) from None
    except UnicodeEncodeError:
        raise DataError("half of a pair of surrogates (\\ud800 to \\udfff) is no character", path, line) from None
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}; expected an object a line, or one of WRENCH's files"
        raise DataError(what, path, line + error.lineno - 1, error.colno) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply", path, line) from None
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise DataError(f"the JSON cannot be read: {error}", path, line) from None
    return value


def _records(lines: Iterable[bytes], path: str | Path, text: str | None) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise DataError(f"a line of more than {MAX_LINE:,} bytes; expected one item a line", path, number)
        if not line.strip():
            continue
        record = _decoded(line.rstrip(b"\r\n"), path, number)
        if not isinstance(record, dict):
            raise DataError(f"{_kind(record)}; expected an object a line: {{...}}", path, number)
        _check_text(record, text, path, number, "the item")
        yield number, record


def _check_text(record: Record, text: str | None, path: str | Path, line: int | None, whose: str) -> None:
    if text is not None and not isinstance(record.get(text), str):
        found = f"{text!r} is {_kind(record[text])}" if text in record else f"there is no {text!r}"
        raise DataError(f"{found} in {whose}; expected a string: name the field that has the text", path, line)


def _kind(value: object) -> str:
    """What was found, in JSON's words; not all of it, which may be long."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


class _Cast:
    """Votes as they are read: triples of item, function, and what it says, by numbers in order of first appearance."""

    def __init__(self) -> None:
        self.functions: dict[str, int] = {}
        self.said: dict[str, int] = {}
        self.triples = array("i")

    def add(self, item: int, votes: object, fail: Callable[[str], DataError]) -> None:
        if not isinstance(votes, dict):
            raise fail(f"the votes are {_kind(votes)}; expected an object from functions to labels")
        for name, label in votes.items():
            function = self.functions.setdefault(name, len(self.functions))
            if label is None:
                continue
            if not isinstance(label, str) or not label:
                found = repr(label) if isinstance(label, str) else _kind(label)
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


def _json_lines(
    lines: Iterable[bytes],
    path: str | Path,
    text: str | None,
    gold: str,
    votes: str,
    coarse: Mapping[str, Sequence[str]] | None,
    labels: Sequence[str] | None,
) -> Items:
    records: list[Record] = []
    numbers, cast_votes, truth = array("q"), _Cast(), list[str | None]()
    for line, record in _records(lines, path, text):
        label = record.get(gold)
        if label is not None and (not isinstance(label, str) or not label):
            found = repr(label) if isinstance(label, str) else _kind(label)
            raise DataError(f"the gold label {gold!r} is {found}; expected a string, or null", path, line)
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
    return Items(records, found_votes, _gold(truth, space), space.labels, text, path, lines_of)


def _gold(truth: Sequence[str | None], space: Space) -> I32 | None:
    if all(label is None for label in truth):
        return None
    return np.array([ABSTAINS if label is None else space.index[label] for label in truth], np.int32)


def _wrench(
    data: bytes,
    path: str | Path,
    text: str | None,
    coarse: Mapping[str, Sequence[str]] | None,
    labels: Sequence[str] | None,
) -> Items:
    entries = _decoded(data, path)
    if not isinstance(entries, dict):
        raise DataError(f"{_kind(entries)}; expected an object from numbers of items to items", path)
    names = _label_names(path)
    records: list[Record] = []
    truth: list[int] = []
    rows: list[list[int]] = []
    for key, entry in entries.items():
        fail = _failing(path, key)
        if not isinstance(entry, dict) or not isinstance(entry.get("data"), dict):
            raise fail("expected an object with 'data', an object, in it")
        _check_text(entry["data"], text, path, None, f"the data of item {key!r}")
        label, row = entry.get("label"), entry.get("weak_labels", [])
        if not isinstance(row, list) or len(row) != len(rows[0] if rows else row):
            many = f"of {len(rows[0])} votes" if rows else "of votes"
            raise fail(f"weak_labels is {_kind(row)}; expected a list {many}, as with the items before")
        truth.append(ABSTAINS if label is None else _number(label, names, fail, "label"))
        rows.append([_number(vote, names, fail, "weak_labels") for vote in row])
        records.append({"id": key, **entry["data"]})
    most = max((max(row, default=0) for row in [truth, *rows]), default=0)
    given = names if names is not None else [str(k) for k in range(most + 1)] if records else []
    space = Space.of_labels([*given, *(labels or ())], coarse)
    table = np.array([*(space.index[name] for name in given), ABSTAINS], np.int32)
    for record, k in zip(records, truth, strict=True):
        if k != ABSTAINS:
            record["label"] = given[k]
    gold = table[np.array(truth, np.int64)] if any(k != ABSTAINS for k in truth) else None
    if gold is not None and gold.max() >= len(space.labels):
        raise DataError(f"the gold label {space.names[gold.max()]!r} is coarse; expected one label", path)
    votes = None
    if rows and rows[0]:
        functions = tuple(f"f{j}" for j in range(len(rows[0])))
        votes = Votes(table[np.array(rows, np.int64)], functions, space, np.arange(len(rows) + 1, dtype=np.int64))
    return Items(records, votes, gold, space.labels, text, path)


def _failing(path: str | Path, key: str) -> Callable[[str], DataError]:
    return lambda message: DataError(f"item {key!r}: {message}", path)


def _number(value: object, names: Sequence[str] | None, fail: Callable[[str], DataError], where: str) -> int:
    many = MAX_LABELS if names is None else len(names)
    if type(value) is not int or not ABSTAINS <= value < many:
        raise fail(f"{where} has {shown(value)[:60]}; expected a number from 0 to {many - 1}, or -1")
    return value


def _label_names(path: str | Path) -> list[str] | None:
    """Those that the file `label.json` in the same folder gives to 0, 1, ...; None where there is none."""
    beside = Path(path).parent / "label.json"
    if str(path) == "-" or not beside.is_file():
        return None
    found = _decoded(read_bytes(beside).removeprefix(_BOM), beside)
    if isinstance(found, dict):
        names = [found.get(str(k)) for k in range(len(found))]
        if all(isinstance(name, str) and name for name in names) and len({*names}) == len(names):
            return [str(name) for name in names]
    raise DataError('expected an object that gives each number a label of its own: {"0": "HAM", "1": "SPAM"}', beside)
