"""Columns of labels over the same sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.labels import is_gappy
from trellis.metrics.report import Report, evaluate


def compare(
    gold: Column,
    predicted: Column,
    offsets: NDArray[np.int64],
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> Report:
    """Scores predicted labels against gold ones; the two may have different tables of strings. `scheme` and `encoding`
    are as for `evaluate`. Labels with gaps are known by their small letters and scored by their spans."""
    (right, guess), names = same_table(gold, predicted)
    if is_gappy(names):
        from trellis.metrics.span_scores import score_gappy

        return score_gappy(gold, predicted, offsets, scheme)
    return evaluate(right, guess, names, offsets, scheme, encoding)


def same_table(*columns: Column) -> tuple[list[NDArray[np.int32]], list[str]]:
    """Ids of each column, I32[tokens], and the one table of strings that all of them are into."""
    index = {name: i for i, name in enumerate(dict.fromkeys(name for column in columns for name in column.strings))}
    return [column.translated(index) for column in columns], list(index)
