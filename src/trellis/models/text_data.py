"""Texts, and other items that are classified as a whole, as sentences of one token each.

a list of strings           the one field `text`
a list of records           dicts; their fields are the columns that features read: text as it is, numbers as they are
                            printed, True and False as true and false; None, or no such field, is an empty text; lists
                            and dicts within are left out
a matrix [items, columns]   NumPy's or SciPy's: ready-made features
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.corpus.corpus import check_names
from trellis.errors import DataError, SettingError
from trellis.features import Given

TEXT = "text"

Items = Any  # one of the above, or what has them as `records`


def sentences_of_items(items: Items, columns: Sequence[str] | None = None, target: str | None = None) -> Corpus | Given:
    """`columns`: those that a model knows; by default all fields but the target."""
    if isinstance(items, Corpus):
        return items
    if hasattr(items, "records"):
        items = items.records
    if isinstance(items, np.ndarray) or hasattr(items, "tocsr"):
        return _rows_of(items)
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise DataError(f"items are a {type(items).__name__}; expected a list of texts, of records, or a matrix")
    listed = list(items)
    if all(isinstance(one, str) for one in listed):
        return _one_token_each({TEXT: listed}, len(listed))
    for i, one in enumerate(listed, 1):
        if not isinstance(one, Mapping):
            what = "a text" if isinstance(listed[0], str) else "a record (a dict of fields)"
            raise DataError(f"item {i} is a {type(one).__name__}; expected {what}, as the others")
    names = _fields(listed, target) if columns is None else [name for name in columns if name != target]
    return _one_token_each({name: [_text(one.get(name)) for one in listed] for name in names}, len(listed))


def labels_of_items(items: Items, y: Any, target: str | None) -> list[list[Any]]:
    """The label of each item, as lists of one: as given, or the field of records; None where it is not known."""
    if y is not None:
        if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
            raise DataError(f"y is a {type(y).__name__}; expected a list with a label for each item")
        return [[label] for label in (y.tolist() if isinstance(y, np.ndarray) else y)]
    records = getattr(items, "records", items)
    if target is None or not isinstance(records, list) or not all(isinstance(one, Mapping) for one in records):
        raise SettingError("labels are needed: y, or records that have them in the field that `target` names")
    if records and not any(one.get(target) is not None for one in records):
        raise SettingError(f"no record has a label in the field '{target}'; name the field (target), or give y")
    return [[one.get(target)] for one in records]


def _fields(records: Sequence[Mapping[str, Any]], target: str | None) -> list[str]:
    """Those that are a text or a number somewhere."""
    found: dict[str, None] = {}
    for one in records:
        found.update(dict.fromkeys(name for name, value in one.items() if isinstance(value, str | Real)))
    names = [name for name in found if name != target and isinstance(name, str)]
    return check_names([name for name in names if _can_be_named(name)]) if names else [TEXT]


def _can_be_named(name: str) -> bool:
    """Fields of other names than columns may have are not read."""
    try:
        return bool(check_names([name]))
    except SettingError:
        return False


def _text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, Real) else ""


def _one_token_each(columns: Mapping[str, Sequence[str]], many: int) -> Corpus:
    offsets = np.arange(many + 1, dtype=np.int64)
    return Corpus({name: Column.of(values) for name, values in columns.items()}, offsets)


def _rows_of(matrix: NDArray[Any] | Any) -> Given:
    if matrix.ndim != 2:
        raise DataError(f"a matrix of the shape {matrix.shape}; expected a row for each item")
    rows = matrix.tocsr() if hasattr(matrix, "tocsr") else matrix
    return [rows[i : i + 1] for i in range(rows.shape[0])]
