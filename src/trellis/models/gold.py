"""Gold labels: a column of a corpus, or lists given beside the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError
from trellis.features import offsets_of
from trellis.models.batches import Sentences

Labels = Sequence[Sequence[str | int]] | Sequence[NDArray[Any]] | NDArray[Any]


def gold_of(X: Sentences, y: Labels | None, target: str | None) -> Column:
    """The label of every token."""
    if y is not None:
        _check_match(np.diff(token_offsets(X)).tolist(), _counts(y))
        return Column.of(_label(label, s, t) for s, row in enumerate(y, 1) for t, label in enumerate(row, 1))
    if not isinstance(X, Corpus):
        raise SettingError("labels `y` are needed when sentences are given as lists")
    if target is None:
        raise SettingError(f"no target; the columns are: {', '.join(X.columns)}")
    if target not in X.columns:
        raise SettingError(f"unknown target '{target}'; the columns are: {', '.join(X.columns)}")
    return X[target]


def token_offsets(X: Sentences) -> NDArray[np.int64]:
    """Where each sentence begins, I64[sentences + 1]."""
    return X.offsets if isinstance(X, Corpus) else offsets_of(X)


def _label(label: object, sentence: int, token: int) -> str:
    if isinstance(label, str):
        return str.__str__(label)  # NumPy's strings as plain ones
    if isinstance(label, Integral | np.bool_):
        return str(label)
    raise DataError(f"sentence {sentence}, token {token}: the label {label!r} is no text")


def _counts(y: Labels) -> list[int]:
    try:
        return list(map(len, y))
    except TypeError:
        raise DataError("expected `y` to be a list with a list of labels for each sentence") from None


def _check_match(expected: list[int], found: list[int]) -> None:
    if len(expected) != len(found):
        raise DataError(f"X and y do not match: {len(expected)} sentences and {len(found)} lists of labels")
    for s, (tokens, labels) in enumerate(zip(expected, found, strict=True), 1):
        if tokens != labels:
            raise DataError(f"X and y do not match: sentence {s} has {tokens} tokens and {labels} labels")
