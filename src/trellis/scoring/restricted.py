"""theta -> scores of the allowed labels of every token, and the transpose.

A token without a choice has no scores to be made: whatever it scored would be part of every path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import Allowed
from trellis.scoring.hybrid import HybridScoring, Occurrences
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.restricted_kernels import add_restricted_gradient, add_restricted_scores, keep_allowed

F64 = NDArray[np.float64]


class RestrictedScoring(HybridScoring):
    """A layout cut into rows and single weights, for tokens whose labels are restricted.

    Scores are F64[places], see `Allowed`. `allowed` is for the tokens that are bound.
    """

    def __init__(self, layout: WeightLayout, allowed: Allowed):
        super().__init__(layout)
        self.allowed = allowed

    def bind(self, indptr: I64, ids: I32, values: F64 | None) -> Occurrences:
        """Packed attributes -> what the loops read: only weights of allowed labels, `label` being their number in the
        token's set."""
        allowed = self.allowed
        at = super().bind(indptr, ids, values)
        keep, number = keep_allowed(at.sparse, at.label, allowed.which, allowed.start, allowed.labels)
        sparse = np.concatenate([[0], np.cumsum(keep)])[at.sparse]
        pair_value = at.pair_value if values is None else at.pair_value[keep]
        return Occurrences(at.dense, at.row, at.row_value, sparse, at.pair[keep], number[keep], pair_value)

    def scores(self, rows: F64, weights: F64, at: Occurrences, first: int, last: int, out: F64) -> None:
        """Scores of the allowed labels of tokens first..last into out: F64[places]."""
        add_restricted_scores(
            first, last, rows, weights,
            at.dense, at.row, at.row_value, at.sparse, at.pair, at.label, at.pair_value, *self._sets, out,
        )  # fmt: skip

    def add_gradient(
        self, delta: F64, at: Occurrences, first: int, last: int, row_gradient: F64, gradient: F64
    ) -> None:
        """Adds what delta: F64[places] says of each weight."""
        add_restricted_gradient(
            first, last, delta,
            at.dense, at.row, at.row_value, at.sparse, at.pair, at.label, at.pair_value, *self._sets,
            row_gradient, gradient,
        )  # fmt: skip

    @property
    def _sets(self) -> tuple[I64, I32, I64, I32]:
        return self.allowed.places, self.allowed.which, self.allowed.start, self.allowed.labels


def attributes_at(tokens: NDArray[np.bool_], indptr: I64, ids: I32, values: F64 | None) -> tuple[I64, I32, F64 | None]:
    """Packed attributes of the tokens marked in BOOL[tokens]; the others are left with none."""
    counts = np.diff(indptr)
    keep = np.repeat(tokens, counts)
    start = np.concatenate([[0], np.cumsum(counts * tokens)]).astype(np.int64)
    return start, ids[keep], None if values is None else values[keep]
