"""Functions of lower labels, evaluated once for each label, or pair of labels: what templates make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError
from trellis.features.functions import FUNCTIONS, Row
from trellis.features.reading import Evaluated, reach_of, types_of, views_of
from trellis.features.resources import prepare
from trellis.features.template import Template, View

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Tables:
    """Views of lower labels as digits: view v has the table from `base[v]` on, whose row j is label j, or behind all
    labels a place beyond the ends of the sentence: digit[start[row]:start[row + 1]], with a weight each. A digit is
    the number of a string of the vocabulary. `reach`: how far beyond the ends places go."""

    reach: int
    vocabulary: list[str]
    views: tuple[View, ...]
    base: tuple[int, ...]
    start: I64
    digit: I64
    weight: F64

    @classmethod
    def of(
        cls,
        templates: Sequence[Template],
        lower: Mapping[str, Sequence[str]],
        functions: Mapping[str, Callable[..., Any]],
    ) -> Tables:
        """`lower`: the labels of each stage, by its target."""
        views = tuple(view for view in views_of(templates) if view.column in lower)
        reach = reach_of(templates)
        number: dict[str, int] = {}
        rows, bases, digits, weights, size = [], [], [], [], 0
        for view in views:
            labels = lower[view.column]
            pairs = FUNCTIONS[view.function].pairs
            corpus = Corpus({view.column: Column(np.arange(len(labels), dtype=np.int32), list(labels))},
                            np.array([0, len(labels)]))  # fmt: skip
            resources = prepare([view], corpus, view.column, functions)
            if pairs is None:
                counts, strings, numbers = _cells(types_of(corpus, [view], reach, resources)[2][view])
            else:
                both = [*product(labels, labels), *((None, label) for label in labels)]
                try:
                    found = pairs(both, resources.get(view), view.arguments)
                except ValueError as error:
                    raise DataError(f"{view.described()}: {error}") from error.__cause__
                counts, strings, numbers = _cells_of(found)
            bases.append(size)
            size += len(counts)
            rows.append(counts)
            digits.append(np.array([number.setdefault(s, len(number)) for s in strings], np.int64))
            weights.append(numbers)
        starts = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *rows]))]).astype(np.int64)
        digit = np.concatenate([np.zeros(0, np.int64), *digits])
        return cls(reach, list(number), views, tuple(bases), starts, digit, np.concatenate([np.zeros(0), *weights]))


def _cells(evaluated: Evaluated) -> tuple[I64, list[str], F64]:
    """How many values each label has, and these with their numbers."""
    if evaluated.several is None:
        single = evaluated.single or []
        counts = np.array([value is not None for value in single], np.int64)
        strings = [value for value in single if value is not None]
        return counts, strings, np.ones(len(strings))
    several = evaluated.several
    return np.diff(several.start), [several.names[v] for v in several.value.tolist()], several.weight


def _cells_of(found: Sequence[Row]) -> tuple[I64, list[str], F64]:
    values = [value for row in found for value in row]
    return (
        np.array([len(row) for row in found], np.int64),
        [name for name, _ in values],
        np.array([number for _, number in values], np.float64),
    )


def rows_of(view: View, labels: int, reach: int) -> int:
    """How many rows the table of a view has."""
    return labels * (labels + 1) if is_of_pairs(view) else labels + 2 * reach


def is_of_pairs(view: View) -> bool:
    return FUNCTIONS[view.function].pairs is not None
