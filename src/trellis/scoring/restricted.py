"""theta -> scores of the allowed labels of every token, and the transpose.

With few labels a token there is little to gain from rows of weights. Every weight that is part of a score is listed
with that score's place, so that scores are a sparse matrix times the weights. A token without a choice has nothing in
the list: whatever it scored would be part of every path.
(Measured on UD English, 27 attributes a token: lists 44 + 49 ms for scores and gradient, the rows and single weights of
`hybrid` read at the allowed labels only 69 + 70 ms.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import Allowed
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.kernels import number_by_appearance
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.restricted_kernels import entry_gradient, entry_scores, list_entries, score_packed_places

F64 = NDArray[np.float64]


class RestrictedScoring:
    """The places of some tokens (see `Allowed`) and the weights `index: I32[local]` of theta that they add up."""

    def __init__(self, layout: WeightLayout, allowed: Allowed, indptr: I64, ids: I32, values: F64 | None):
        given = np.empty(0) if values is None else values
        self._first, pairs, self._value = list_entries(
            indptr, ids, given, layout.pair_start, layout.pair_label, *_sets(allowed)
        )
        self._entry, index = number_by_appearance(pairs, layout.pairs)
        self.index: I32 = index.astype(np.int32)

    def scores(self, weights: F64, begin: int, end: int, out: F64) -> None:
        """Scores of places begin..end into out: F64[end - begin]; weights: F64[local]."""
        entry_scores(begin, end, weights, self._first, self._entry, self._value, out)

    def add_gradient(self, delta: F64, begin: int, end: int, gradient: F64) -> None:
        """Adds what delta: F64[end - begin] says of each weight to gradient: F64[local]."""
        entry_gradient(begin, end, delta, self._first, self._entry, self._value, gradient)


def allowed_scores_of_packed(
    scoring: HybridScoring, rows: F64, weights: F64, indptr: I64, ids: I32, values: F64 | None, allowed: Allowed
) -> F64:
    """Scores F64[places] of attributes that are scored once; 0 for tokens without a choice."""
    out = np.empty(int(allowed.places[-1]))
    given = np.empty(0) if values is None else values
    score_packed_places(
        indptr, ids, given, scoring.code, scoring.layout.pair_label, rows, weights, *_sets(allowed), out
    )
    return out


def attributes_at(tokens: NDArray[np.bool_], indptr: I64, ids: I32) -> tuple[I64, I32]:
    """Packed attributes of the tokens marked in BOOL[tokens]; the others are left with none."""
    counts = np.diff(indptr)
    start = np.concatenate([[0], np.cumsum(counts * tokens)]).astype(np.int64)
    return start, ids[np.repeat(tokens, counts)]


def _sets(allowed: Allowed) -> tuple[I64, I32, I64, I32]:
    return allowed.places, allowed.which, allowed.start, allowed.labels
