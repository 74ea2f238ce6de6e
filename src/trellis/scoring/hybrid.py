"""theta -> scores of every (token, label), and the transpose: the compiled way.

Attributes seen with three or more labels (more where there are many labels) have a dense row of weights, padded to
whole vectors, with zeros where there is no weight; the rest, most attributes but few occurrences, are single weights.
(Measured on CoNLL-2000: all sparse 170 + 182 ms for scores and gradient, all dense 53 + 97, mixed 49 + 44.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.scoring.kernels import add_gradient, add_scores, count_occurrences, move, score_packed, split_occurrences
from trellis.scoring.layout import I32, I64, WeightLayout

F64 = NDArray[np.float64]

_DENSE_FROM = 3  # labels; with many labels one in _SPARSE of them, or rows would be all zeros
_SPARSE = 8
_LANES = 4  # numbers in a vector register


@dataclass(frozen=True)
class Occurrences:
    """Per token: rows `row[dense[t]:dense[t + 1]]` and single weights `pair[sparse[t]:sparse[t + 1]]` with their
    labels; values are empty when all are 1."""

    dense: I64
    row: I32
    row_value: F64
    sparse: I64
    pair: I32
    label: NDArray[np.uint16]
    pair_value: F64


class HybridScoring:
    """A layout cut into rows and single weights."""

    def __init__(self, layout: WeightLayout):
        self.layout = layout
        self.width = -(-layout.labels // _LANES) * _LANES
        counts = np.diff(layout.pair_start)
        dense = counts >= max(_DENSE_FROM, self.width // _SPARSE)
        self.row_of = np.where(dense, np.cumsum(dense) - 1, -1).astype(np.int32)
        self.rows = int(dense.sum())
        self.first_of_rows = layout.pair_start[:-1][dense]  # the number of each row's first weight
        # weight number dense_pair[k] is at flat place cell[k] of the rows
        self.dense_pair = np.flatnonzero(np.repeat(dense, counts))
        row = np.repeat(self.row_of, counts)[self.dense_pair].astype(np.int64)
        self.cell = row * self.width + layout.pair_label[self.dense_pair]

    @cached_property
    def code(self) -> I64:
        """Where the weights of an attribute are, in one number (see `score_packed`)."""
        single = -1 - (4096 * self.layout.pair_start[:-1] + np.diff(self.layout.pair_start))
        return np.where(self.row_of >= 0, self.row_of, single)

    def bind(self, indptr: I64, ids: I32, values: F64 | None) -> Occurrences:
        """Packed attributes -> what the loops read."""
        layout, start = self.layout, self.layout.pair_start
        dense, sparse = count_occurrences(indptr, ids, self.row_of, start)
        row, pair = np.empty(dense[-1], np.int32), np.empty(sparse[-1], np.int32)
        label = np.empty(len(pair), np.uint16)
        none = np.empty(0)
        row_value, pair_value = (none, none) if values is None else (np.empty(len(row)), np.empty(len(pair)))
        given = none if values is None else values
        split_occurrences(
            indptr, ids, given, self.row_of, start, layout.pair_label,
            dense, sparse, row, row_value, pair, label, pair_value,
        )  # fmt: skip
        return Occurrences(dense, row, row_value, sparse, pair, label, pair_value)

    def rows_of(self, weights: F64, out: F64 | None = None) -> F64:
        """theta -> F64[rows, width]. Cells without a weight are never written: a used `out` can be given again."""
        rows = np.zeros((self.rows, self.width)) if out is None else out
        move(weights, self.dense_pair, rows.reshape(-1), self.cell)
        return rows

    def scores(self, rows: F64, weights: F64, at: Occurrences, first: int, last: int, out: F64) -> None:
        """Scores of tokens first..last into out: F64[at least last - first, width]."""
        add_scores(
            first, last, self.layout.labels, rows, weights,
            at.dense, at.row, at.row_value, at.sparse, at.pair, at.label, at.pair_value, out,
        )  # fmt: skip

    def scores_of_packed(self, rows: F64, weights: F64, indptr: I64, ids: I32, values: F64 | None) -> F64:
        """Scores F64[tokens, width] of attributes that are scored once: nothing is sorted out beforehand."""
        layout = self.layout
        out = np.empty((len(indptr) - 1, self.width))
        given = np.empty(0) if values is None else values
        score_packed(indptr, ids, given, self.code, layout.pair_label, rows, weights, out)
        return out

    def add_gradient(
        self, delta: F64, at: Occurrences, first: int, last: int, row_gradient: F64, gradient: F64
    ) -> None:
        """Adds what delta: F64[last - first, width] says of each weight; rows are gathered by `collect`."""
        add_gradient(
            first, last, delta,
            at.dense, at.row, at.row_value, at.sparse, at.pair, at.label, at.pair_value, row_gradient, gradient,
        )  # fmt: skip

    def collect(self, row_gradient: F64, gradient: F64) -> None:
        """Rows back into the order of theta."""
        move(row_gradient.reshape(-1), self.cell, gradient, self.dense_pair)
