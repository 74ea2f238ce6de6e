"""Scores in plain NumPy, for small inputs: no compiler, nothing to prepare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.scoring.layout import I32, I64, WeightLayout

F64 = NDArray[np.float64]


def plain_scores(layout: WeightLayout, weights: F64, indptr: I64, ids: I32, values: F64 | None) -> F64:
    """Scores of every (token, label): F64[tokens, labels]."""
    token = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    known = ids >= 0
    token, ids = token[known], ids[known]
    counts = layout.pair_start[ids + 1] - layout.pair_start[ids]
    ends = np.cumsum(counts)
    pair = np.repeat(layout.pair_start[ids] - (ends - counts), counts) + np.arange(counts.sum())
    contribution = weights[pair]
    if values is not None:
        contribution = contribution * np.repeat(values[known], counts)
    cells = np.repeat(token, counts) * layout.labels + layout.pair_label[pair]
    size = (len(indptr) - 1) * layout.labels
    sums: F64 = np.bincount(cells, contribution, minlength=size).astype(np.float64, copy=False)
    return sums.reshape(-1, layout.labels)
