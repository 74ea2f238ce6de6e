"""theta -> scores of tuples of labels, and the transpose.

A tuple scores what its last two labels score, and its last three, up to all of it; what has no weight scores 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.rules import Rules
from trellis.lattice.windows import Windows
from trellis.scoring.layout import I32, WeightLayout, keys_of_tuples
from trellis.scoring.tuple_kernels import cell_gradient, cell_scores, find_tuples

F64 = NDArray[np.float64]


class TupleScoring:
    """Scores of the cells of windows, out of the weights `index: I32[local]` of theta: transitions, then tuples."""

    def __init__(self, layout: WeightLayout, windows: Windows):
        labels = windows.cell_labels()
        pairs = layout.source.astype(np.int64) * layout.labels + layout.target
        lists = [pairs, *(keys_of_tuples(rows, layout.labels) for rows in layout.tuples)]
        self._entry = np.empty((len(lists), len(labels)), np.int32)
        first = 0
        self._unseen = np.zeros(len(labels), bool)
        for row, keys, length in zip(self._entry, lists, range(2, len(lists) + 2), strict=True):
            find_tuples(labels, layout.labels, length, keys, first, row)
            first += len(keys)
            whole = (labels[:, -length:] >= 0).all(axis=1)
            self._unseen[whole] = row[whole] < 0  # the longest is looked at last
        self.index: I32 = np.concatenate(
            [np.arange(layout.pairs, layout.arcs_at), np.arange(layout.tuples_at, layout.size)]
        ).astype(np.int32)

    def scores(self, weights: F64) -> F64:
        """weights: F64[local] -> F64[cells]."""
        out = np.empty(self._entry.shape[1])
        cell_scores(self._entry, weights, out)
        return out

    def closed(self) -> F64:
        """F64[cells]: -inf where the whole tuple, as far as the sentence goes back, has no weight, else 0."""
        return np.where(self._unseen, -np.inf, 0.0)

    def add_gradient(self, cells: F64, gradient: F64) -> None:
        """Adds what F64[cells] says of each weight to gradient: F64[local]."""
        cell_gradient(self._entry, cells, gradient)


def fixed_cells(rules: Rules, windows: Windows, tuples: TupleScoring) -> F64:
    """What rules add to the scores of cells, F64[cells]."""
    fixed = windows.of_pairs(rules.pairs)
    return fixed + tuples.closed() if rules.closed else fixed
