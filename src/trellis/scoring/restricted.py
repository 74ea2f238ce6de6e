"""theta -> scores of the allowed labels of every token, and the transpose.

A token without a choice has nothing to be scored: whatever it scored would be part of every path. Where all labels are
allowed, scores are made as in `hybrid`. For the rest, most tokens with a handful of labels each, every weight that is
part of a score is listed with that score's place: scores are a sparse matrix times the weights.
(Measured on UD English, 27 attributes a token, words seen three times or more, interleaved on a busy machine: lists for
all tokens 44 + 49 ms for scores and gradient; rows of weights read at the allowed labels only 69 + 70 ms.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import Allowed
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.occurrences import Occurrences
from trellis.scoring.occurring import number_by_appearance
from trellis.scoring.restricted_kernels import (
    entry_gradient,
    entry_scores,
    list_entries,
    places_to_rows,
    rows_to_places,
    score_packed_places,
)

F64 = NDArray[np.float64]


class RestrictedScoring:
    """Scores of some tokens' places (see `Allowed`), out of the weights `index: I32[local]` of theta.

    Local weights are `pairs` weights of attributes, first those listed, then those of tokens with all labels (a weight
    can be in both), and all transitions.
    """

    def __init__(self, layout: WeightLayout, allowed: Allowed, indptr: I64, ids: I32, values: F64 | None):
        self.places, self.labels = allowed.places, allowed.size
        given = np.empty(0) if values is None else values
        self._first, pairs, self._value = list_entries(
            indptr, ids, given, layout.pair_start, layout.pair_label, *allowed.for_loops
        )
        entry, listed = number_by_appearance(pairs, layout.pairs)
        self._entry = entry.view(np.uint32)  # see Allowed.for_loops
        self._listed = len(listed)
        free = allowed.open & (allowed.counts == allowed.size)
        self._free = np.flatnonzero(free)
        indptr, ids, values = attributes_at(free, indptr, ids, values)
        ids, attributes = number_by_appearance(ids, layout.attributes)
        part, index = layout.restricted(attributes)
        self._hybrid = HybridScoring(part)
        self._at = self._hybrid.bind(np.append(indptr[self._free], indptr[-1]), ids, values)
        self._row_gradient = np.zeros((self._hybrid.rows, self._hybrid.width))
        self._space = np.empty((0, self._hybrid.width))
        self.pairs = self._listed + part.pairs
        self.index: I32 = np.concatenate([listed.astype(np.int32), index])

    @cached_property
    def _squared(self) -> tuple[F64, Occurrences]:
        """Values of attributes squared."""
        at = self._at
        return self._value**2, replace(at, row_value=at.row_value**2, pair_value=at.pair_value**2)

    def rows_of(self, weights: F64, out: F64 | None = None) -> F64:
        """weights: F64[local] ready to score with tokens that may have all labels."""
        return self._hybrid.rows_of(weights[self._listed :], out)

    def scores(self, weights: F64, rows: F64, first: int, last: int, out: F64) -> None:
        """Scores of the places of tokens first..last into out: F64[places]; `rows` are those of the weights."""
        begin, end = self.places[first], self.places[last]
        entry_scores(begin, end, weights, self._first, self._entry, self._value, out)
        a, b, at, scored = self._free_between(first, last)
        self._hybrid.scores(rows, weights[self._listed :], self._at, a, b, scored)
        rows_to_places(scored, at, self.labels, out)

    def begin(self) -> None:
        """Forgets gradients."""
        self._row_gradient.fill(0.0)

    def add_gradient(self, delta: F64, first: int, last: int, gradient: F64, squared: bool = False) -> None:
        """Adds what delta: F64[places] says of each weight, times the value of its attribute or that squared, to
        gradient: F64[local]; `collect` adds the rest."""
        value, occurrences = self._squared if squared else (self._value, self._at)
        begin, end = self.places[first], self.places[last]
        entry_gradient(begin, end, delta, self._first, self._entry, value, gradient)
        a, b, at, rows = self._free_between(first, last)
        places_to_rows(delta, at, self.labels, rows)
        self._hybrid.add_gradient(rows, occurrences, a, b, self._row_gradient, gradient[self._listed :])

    def collect(self, gradient: F64) -> None:
        """Rows back into the order of the local weights."""
        self._hybrid.collect(self._row_gradient, gradient[self._listed :])

    def _free_between(self, first: int, last: int) -> tuple[int, int, I64, F64]:
        """Tokens first..last with all labels: which of them, their places counted from `first`, memory for rows."""
        a, b = np.searchsorted(self._free, (first, last)).tolist()
        if len(self._space) < b - a:
            self._space = np.empty((b - a, self._hybrid.width))
        return a, b, self.places[self._free[a:b]] - self.places[first], self._space[: b - a]


def allowed_scores_of_packed(
    scoring: HybridScoring, rows: F64, weights: F64, indptr: I64, ids: I32, values: F64 | None, allowed: Allowed
) -> F64:
    """Scores F64[places] of attributes that are scored once; 0 for tokens without a choice."""
    out = np.empty(int(allowed.places[-1]))
    given = np.empty(0) if values is None else values
    score_packed_places(
        indptr, ids, given, scoring.code, scoring.layout.pair_label, rows, weights, *allowed.for_loops, out
    )
    return out


def attributes_at(
    tokens: NDArray[np.bool_], indptr: I64, ids: I32, values: F64 | None = None
) -> tuple[I64, I32, F64 | None]:
    """Packed attributes of the tokens marked in BOOL[tokens]; the others are left with none."""
    counts = np.diff(indptr)
    start = np.concatenate([[0], np.cumsum(counts * tokens)]).astype(np.int64)
    keep = np.repeat(tokens, counts)
    return start, ids[keep], None if values is None else values[keep]
