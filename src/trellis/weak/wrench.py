"""WRENCH's JSON (Zhang et al. 2021): one object for all items, with votes as numbers of labels, -1 is an abstention.

    {"0": {"data": {"text": "Check out my channel"}, "label": 1, "weak_labels": [1, -1]}, ...}

A file `label.json` beside it may name the numbers ({"0": "HAM", "1": "SPAM"}); else they are the names. Functions are
f0, f1, ...; the label's name becomes the field `label` of a record, the item's key its `id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trellis.errors import DataError, shown
from trellis.files import read_bytes
from trellis.weak.item_json import BOM, check_text, decoded, kind_of
from trellis.weak.itemset import Items, Record
from trellis.weak.space import Space
from trellis.weak.votes import ABSTAINS, Votes

MAX_LABELS = 10_000  # labels that are numbers without names; whoever has more has taken something else for them


def read_wrench(
    path: str | Path,
    text: str | None = "text",
    coarse: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] | None = None,
) -> Items:
    """Reads a file; as `read_items`."""
    return parse_wrench(read_bytes(path).removeprefix(BOM), path, text, coarse, labels)


def parse_wrench(
    data: bytes,
    path: str | Path,
    text: str | None,
    coarse: Mapping[str, Sequence[str]] | None,
    labels: Sequence[str] | None,
) -> Items:
    entries = decoded(data, path)
    if not isinstance(entries, dict):
        raise DataError(f"{kind_of(entries)}; expected an object from numbers of items to items", path)
    names = _label_names(path)
    records: list[Record] = []
    truth: list[int] = []
    rows: list[list[int]] = []
    for key, entry in entries.items():
        fail = _failing(path, key)
        if not isinstance(entry, dict) or not isinstance(entry.get("data"), dict):
            raise fail("expected an object with 'data', an object, in it")
        check_text(entry["data"], text, path, None, f"the data of item {key!r}")
        label, row = entry.get("label"), entry.get("weak_labels", [])
        if not isinstance(row, list) or len(row) != len(rows[0] if rows else row):
            many = f"of {len(rows[0])} votes" if rows else "of votes"
            raise fail(f"weak_labels is {kind_of(row)}; expected a list {many}, as with the items before")
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
    return Items(records, votes, gold, space.labels, text, path, named=frozenset(votes.functions if votes else ()))


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
    found = decoded(read_bytes(beside).removeprefix(BOM), beside)
    if isinstance(found, dict):
        names = [found.get(str(k)) for k in range(len(found))]
        if all(isinstance(name, str) and name for name in names) and len({*names}) == len(names):
            return [str(name) for name in names]
    raise DataError('expected an object that gives each number a label of its own: {"0": "HAM", "1": "SPAM"}', beside)
