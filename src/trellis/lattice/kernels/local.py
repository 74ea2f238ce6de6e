"""Tokens that do not bear on one another: a distribution a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel
from trellis.lattice.kernels.vector import exp_into, highest

Array = Any


@kernel
def row_marginals(scores: Array, labels: int, nodes: Array, log_sums: Array) -> None:
    """nodes[t, j] = exp(scores[t, j]) over the sum of its row; log_sums F64[tokens], -inf for a row of -inf, which has
    nodes of 0. scores: F64[tokens, width >= labels], may be the nodes themselves; padding becomes 0."""
    weight = np.empty(labels)  # in memory of its own: loops from a row into itself are not vectorised
    for t in range(len(scores)):
        row, out = scores[t, :labels], nodes[t, :labels]
        high = highest(row)
        exp_into(row, high if high > -np.inf else 0.0, weight)
        total = 0.0
        for j in range(labels):
            total += weight[j]
        log_sums[t] = high + np.log(total) if total > 0.0 else -np.inf
        scale = 1.0 / total if total > 0.0 else 0.0
        for j in range(labels):
            out[j] = weight[j] * scale
        nodes[t, labels:] = 0.0
