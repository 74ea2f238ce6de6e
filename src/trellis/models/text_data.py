"""Texts, and other items that are classified as a whole, as sentences of one token each.

a list of strings           the one field `text`
a list of records           dicts; their fields are the columns that features read: text as it is, numbers as they are
                            printed, True and False as true and false; None, or no such field, is an empty text, but
                            for the field `text`, which has to be there; lists and dicts within are left out
a matrix [items, columns]   NumPy's or SciPy's: ready-made features

A byte order mark within a text is no sign that anybody wrote: it is left out. (Of comments on YouTube that a benchmark
has, nearly all that are no spam end in one, and a classifier that reads it would learn how the file was made.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.corpus.corpus import check_names
from trellis.errors import DataError, SettingError, shown
from trellis.features import Given
from trellis.features.arrays import Singles

TEXT = "text"
UNKNOWN = "_"  # in files of items: a label that is not known, as null is

_MARK = "\ufeff"  # of byte order
_READ = str | Real | np.bool_

Items = Any  # one of the above, or what has them as `records`


def sentences_of_items(
    items: Items, columns: Sequence[str] | None = None, target: str | None = None, like: Corpus | Given | None = None
) -> Corpus | Given:
    """`columns`: those that a model reads; by default all fields but the target, and those of items `like` which these
    stand: a field that all records lack is empty."""
    if isinstance(items, Corpus):
        for sentence in np.flatnonzero(np.diff(items.offsets) != 1)[:1].tolist():
            raise DataError(f"sentence {sentence + 1} of the corpus is not one token; expected an item in each")
        return items
    if _is_matrix(items):
        return _rows_of(items)
    listed = _listed(items)
    if not listed and columns is not None:
        return _one_token_each({name: [] for name in columns}, 0)
    if all(isinstance(one, str) for one in listed):
        return _one_token_each({TEXT: [_text(one) for one in listed]}, len(listed))
    kind, what = (str, "a text") if isinstance(listed[0], str) else (Mapping, "a record (a dict of fields)")
    for i, one in enumerate(listed, 1):
        if not isinstance(one, kind):
            hint = "as the first is" if i > 1 else "or a text"
            raise DataError(f"item {i} is {_called(one)}; expected {what}, {hint}")
    names = [name for name in columns or _fields(listed, target) if name != target]
    if isinstance(like, Corpus):
        names += [name for name in like.columns if name not in (*names, TEXT)]
    if TEXT in names:
        _check_texts(items, listed)
    if columns is not None and not any(one.keys() & names for one in listed):
        warnings.warn(
            f"no item has any of the fields that the model reads: {', '.join(names)}; all are taken to be empty",
            stacklevel=4,
        )
    return _one_token_each({name: [_text(one.get(name)) for one in listed] for name in names}, len(listed))


def labels_of_items(items: Items, y: Any, target: str | None) -> list[list[Any]]:
    """The label of each item, as lists of one: as given, or the field of records; None where it is not known."""
    if y is not None:
        if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
            raise DataError(f"y is a {type(y).__name__}; expected a list with a label for each item")
        given = [[_label(label, i, "y")] for i, label in enumerate(y.tolist() if isinstance(y, np.ndarray) else y, 1)]
        many = int(items.shape[0]) if _is_matrix(items) else len(items if isinstance(items, Corpus) else _listed(items))
        if len(given) != many:
            raise DataError(f"X and y do not match: {many} items and {len(given)} labels")
        return given
    records = getattr(items, "records", items)
    if target is None or not isinstance(records, list) or not all(isinstance(one, Mapping) for one in records):
        raise SettingError("labels are needed: y, or records that have them in the field that `target` names")
    found = [[_label(one.get(target), i, f"the field '{target}'")] for i, one in enumerate(records, 1)]
    found = [[None if label == UNKNOWN else label] for (label,) in found]
    if records and not any(label is not None for (label,) in found):
        raise SettingError(f"no record has a label in the field '{target}'; name the field (target), or give y")
    return found


def labelled_items(items: Items, y: Any, target: str | None) -> tuple[Items, list[list[Any]]]:
    """Those items whose labels are known, and these."""
    labels = labels_of_items(items, y, target)
    known = [i for i, (label,) in enumerate(labels) if label is not None]
    if not known:
        raise DataError("no item has a label to compare with")
    if len(known) == len(labels):
        return items, labels
    if isinstance(items, Corpus):
        return items.picked(known), [labels[i] for i in known]
    listed = items.tocsr()[known] if hasattr(items, "tocsr") else items[known] if _is_matrix(items) else None
    return listed if listed is not None else [_listed(items)[i] for i in known], [labels[i] for i in known]


def _is_matrix(items: Items) -> bool:
    if hasattr(items, "tocsr"):
        return True
    return isinstance(items, np.ndarray) and (items.ndim != 1 or items.dtype.kind not in "USTO")


def _listed(items: Items) -> list[Any]:
    items = getattr(items, "records", items)
    if hasattr(items, "iloc") and getattr(items, "ndim", 1) == 2:
        raise DataError("items are a table of pandas; expected its records, table.to_dict('records'), or one column")
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise DataError(f"items are a {type(items).__name__}; expected a list of texts, of records, or a matrix")
    if isinstance(items, Iterator):
        raise DataError("items can be read only once, as a generator; expected a list: list(items)")
    return list(items)


def _label(label: object, item: int, where: str) -> str | None:
    """As given: what is no text would be answered by text."""
    if label is None or isinstance(label, str):
        return label
    raise DataError(f"item {item}: the label {shown(label)} in {where} is no text; expected text, as str(label)")


def _check_texts(items: Items, records: Sequence[Mapping[str, Any]]) -> None:
    """That each has one: an item without would be taken for an empty text."""
    for i, record in enumerate(records):
        if not isinstance(record.get(TEXT), str):
            found = f"'{TEXT}' is {_called(record[TEXT])}" if TEXT in record else f"there is no field '{TEXT}'"
            path = getattr(items, "path", None)
            line = items.line(i) if path is not None else None
            raise DataError(f"item {i + 1}: {found}; expected the text of the item", path, line)


def _called(value: object) -> str:
    """A value, if it is short, and else its type."""
    return shown(value) if value is None or isinstance(value, int | float) else f"of the type {type(value).__name__}"


def _fields(records: Sequence[Mapping[str, Any]], target: str | None) -> list[str]:
    """Those that are a text or a number somewhere."""
    found: dict[str, None] = {}
    for one in records:
        found.update(dict.fromkeys(name for name, value in one.items() if isinstance(value, _READ)))
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
    if isinstance(value, str):
        return str.__str__(value).replace(_MARK, "")  # NumPy's strings as plain ones
    return str(value) if isinstance(value, Real) else ""


def _one_token_each(columns: Mapping[str, Sequence[str]], many: int) -> Corpus:
    offsets = np.arange(many + 1, dtype=np.int64)
    return Corpus({name: Column.of(values) for name, values in columns.items()}, offsets)


def _rows_of(matrix: NDArray[Any] | Any) -> Given:
    if matrix.ndim != 2:
        raise DataError(f"a matrix of the shape {matrix.shape}; expected a row for each item")
    return Singles(matrix)
