"""Scores in plain NumPy, for small inputs: no compiler, nothing to prepare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.scoring.layout import I32, I64, U16, WeightLayout

F64 = NDArray[np.float64]


def plain_scores(layout: WeightLayout, weights: F64, indptr: I64, ids: I32, values: F64 | None) -> F64:
    """Scores of every (token, label): F64[tokens, labels]."""
    sums = _sums(layout.pair_start, layout.pair_label, layout.labels, weights, indptr, ids, values)
    return sums.reshape(-1, layout.labels)


def plain_transitions(
    layout: WeightLayout, weights: F64, indptr: I64, ids: I32, values: F64 | None, first: int, last: int
) -> F64:
    """Scores of every (label before, label) into tokens first..last, from transitions and packed arc attributes:
    F64[last - first, labels, labels]."""
    labels, at = layout.labels, layout.arcs_at
    p, q = indptr[first], indptr[last]
    here = (indptr[first : last + 1] - p, ids[p:q], None if values is None else values[p:q])
    sums = _sums(layout.arc_start, layout.arc_pair, labels * labels, weights[at:], *here)
    base = layout.transition_matrix(weights[layout.pairs : at])
    return np.asarray(sums.reshape(-1, labels, labels) + base)


def _sums(start: I64, cell: I32 | U16, cells: int, weights: F64, indptr: I64, ids: I32, values: F64 | None) -> F64:
    """F64[tokens * cells]: attribute a adds weights `start[a]:start[a + 1]` to the cells `cell` there."""
    token = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    known = ids >= 0
    token, ids = token[known], ids[known]
    counts = start[ids + 1] - start[ids]
    ends = np.cumsum(counts)
    pair = np.repeat(start[ids] - (ends - counts), counts) + np.arange(counts.sum())
    contribution = weights[pair]
    if values is not None:
        contribution = contribution * np.repeat(values[known], counts)
    places = np.repeat(token, counts) * cells + cell[pair]
    size = (len(indptr) - 1) * cells
    return np.bincount(places, contribution, minlength=size).astype(np.float64, copy=False)
