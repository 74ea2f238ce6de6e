"""theta -> scores of every (token, label), and the transpose: the compiled way.

Attributes seen with several labels and often enough have a dense row of weights, padded to whole vectors, with zeros
where there is no weight; the rest, most attributes but few occurrences, are single weights.
(Measured on CoNLL-2000: all sparse 170 + 182 ms for scores and gradient, all dense 53 + 97, mixed 49 + 44.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.labels.packed import ranges
from trellis.rows import empty_rows, padded
from trellis.scoring.kernels import (
    add_gradient,
    add_scores,
    count_occurrences,
    gather_rows,
    score_packed,
    split_occurrences,
    spread_rows,
)
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.occurrences import RUN, Occurrences
from trellis.scoring.sharing import find_shared

F64 = NDArray[np.float64]

_DENSE_FROM = 3  # labels; with many labels one in _SPARSE of them, or rows would be all zeros
_SPARSE = 8
_LEAST = 2  # labels of an attribute that has a row where this pays
_MANY = 1 << 16  # whose numbers fit into two bytes
# What an occurrence costs as single weights, for each of these, and as a row, for each number in it; and what a row
# costs in every evaluation, to be filled, emptied and gathered, for each weight and each number in it.
_SINGLE, _NUMBER, _KEPT, _FILLED = 4.0, 0.2, 4.0, 1.0


def are_wide(counts: I64, width: int) -> NDArray[np.bool_]:
    """Which attributes with so many weights have a row wherever they occur often enough."""
    return np.asarray((counts >= _LEAST) & (_SINGLE * counts > _NUMBER * width))


class HybridScoring:
    """A layout cut into rows and single weights."""

    def __init__(self, layout: WeightLayout, occurrences: I64 | None = None):
        """`occurrences: I64[attributes]` of each attribute, where known: then a row has to be worth its making in
        every evaluation."""
        self.layout = layout
        self.width = padded(layout.labels)
        counts = np.diff(layout.pair_start)
        wide = are_wide(counts, self.width)
        if occurrences is None:
            dense = counts >= max(_DENSE_FROM, self.width // _SPARSE)
        else:
            saved = occurrences * (_SINGLE * counts - _NUMBER * self.width)
            dense = wide & (saved > _FILLED * self.width + _KEPT * counts)
        self.dense = dense  # which attributes have a row
        self.rows = int(dense.sum())
        first, sizes = layout.pair_start[:-1][dense], counts[dense]
        # the number of each row's first weight, how many it has, and the labels of all, one row after the other
        self.first_of_rows, self.sizes_of_rows = first.astype(np.int32), sizes.astype(np.int32)
        self.labels_of_rows = layout.pair_label[ranges(first, sizes)]

    def outline(self) -> None:
        """Forgets what weights are weights of, once all that is to be scored has been bound."""
        self.layout, self.dense = self.layout.outlined(), np.zeros(0, bool)

    @property
    def row_of(self) -> I32:
        """The row of each attribute, -1 for none: I32[attributes]. Made when asked for; it is large."""
        return np.where(self.dense, np.cumsum(self.dense) - 1, -1).astype(np.int32)

    def mask(self) -> NDArray[np.uint8]:
        """Where a row has a weight, U8[rows, width]."""
        mask = np.zeros((self.rows, self.width), np.uint8)
        mask[np.repeat(np.arange(self.rows), self.sizes_of_rows), self.labels_of_rows] = 1
        return mask

    @cached_property
    def code(self) -> I64:
        """Where the weights of an attribute are, in one number (see `kernels.singles_of`)."""
        first, count = self.layout.pair_start[:-1], np.diff(self.layout.pair_start)
        label = self.layout.pair_label.take(first, mode="clip").astype(np.int64) if self.layout.pairs else first
        single = np.where(count > 0, -1 - ((label << 44) + (first << 12) + count), -1)
        row_of = self.row_of
        return np.where(row_of >= 0, row_of, single)

    def bind(self, indptr: I64, ids: I32, values: F64 | None, share: bool = False) -> Occurrences:
        """Packed attributes -> what the loops read; `share`: what comes together is in groups, where that pays."""
        shared = find_shared(indptr, ids, self.layout.attributes) if share and values is None else None
        row_of = self.row_of
        if shared is None:
            return self._bound(indptr, ids, values, row_of, self.layout.pair_start)
        groups = self._bound(shared.group_indptr, shared.group_ids, None, row_of, self.layout.pair_start)
        count = len(shared.group_indptr) - 1
        numbers = np.arange(self.rows, self.rows + count, dtype=np.int32)
        start = np.concatenate([self.layout.pair_start, np.full(count, self.layout.pair_start[-1])])
        tokens = self._bound(shared.indptr, shared.ids, None, np.concatenate([row_of, numbers]), start)
        return replace(tokens, first_group=self.rows, groups=groups)

    def _bound(self, indptr: I64, ids: I32, values: F64 | None, row_of: I32, start: I64) -> Occurrences:
        dense, sparse = count_occurrences(indptr, ids, row_of, start)
        tokens = len(indptr) - 1
        # numbers of groups come behind those of rows, and there are no more groups than tokens
        few = max(self.rows, int(row_of.max(initial=0)) + 1) <= _MANY
        row, pair = np.empty(dense[-1], np.uint16 if few else np.int32), np.empty(sparse[-1], np.int32)
        cell = np.empty(len(pair), np.uint16 if RUN * self.width <= _MANY else np.int32)
        none = np.empty(0)
        row_value, pair_value = (none, none) if values is None else (np.empty(len(row)), np.empty(len(pair)))
        given = none if values is None else values
        split_occurrences(
            indptr, ids, given, row_of, start, self.layout.pair_label,
            dense, sparse, RUN, self.width, row, row_value, pair, cell, pair_value,
        )  # fmt: skip
        run = sparse[np.minimum(np.arange(0, tokens + RUN, RUN), tokens)]
        return Occurrences(self.width, dense, row, row_value, run, pair, cell, pair_value)

    def rows_with(self, at: Occurrences | None) -> int:
        """How many rows there are, those of groups among them."""
        return self.rows + (0 if at is None or at.groups is None else at.groups.tokens)

    def rows_of(self, weights: F64, out: F64 | None = None, at: Occurrences | None = None) -> F64:
        """theta -> F64[rows, width], and those of the groups of `at`. All of `out` is written."""
        rows = empty_rows(self.rows_with(at), self.width) if out is None else out
        spread_rows(weights, self.first_of_rows, self.sizes_of_rows, self.labels_of_rows, rows)
        if at is not None and at.groups is not None:
            groups = at.groups.tokens
            add_scores(0, groups, self.width, RUN, rows, weights, *at.groups.arrays, rows[self.rows :])
        return rows

    def scores(self, rows: F64, weights: F64, at: Occurrences, first: int, last: int, out: F64) -> None:
        """Scores of tokens first..last into out: F64[at least last - first, width]."""
        add_scores(first, last, self.layout.labels, RUN, rows, weights, *at.arrays, out)

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
        add_gradient(first, last, RUN, delta, *at.arrays, row_gradient, gradient)

    def collect(self, row_gradient: F64, gradient: F64, at: Occurrences | None = None) -> None:
        """Rows back into the order of theta, those of groups as their attributes have them."""
        if at is not None and at.groups is not None:
            groups = at.groups.tokens
            add_gradient(0, groups, RUN, row_gradient[self.rows :], *at.groups.arrays, row_gradient, gradient)
        gather_rows(row_gradient, self.first_of_rows, self.sizes_of_rows, self.labels_of_rows, gradient)
