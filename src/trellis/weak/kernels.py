"""Compiled loops over patterns of votes."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel

Array = Any


@kernel
def add_counts(cast: Array, weights: Array, counts: Array) -> None:
    """counts[cast[p, v], k] += weights[p, k]; cast: I64[patterns, voters], no -1 in it."""
    patterns, voters = cast.shape
    for p in range(patterns):
        for v in range(voters):
            outcome = cast[p, v]
            for k in range(weights.shape[1]):
                counts[outcome, k] += weights[p, k]


@kernel
def add_rows(of: Array, nodes: Array, sums: Array) -> None:
    """sums[of[t], k] += nodes[t, k]."""
    for t in range(len(of)):
        p = of[t]
        for k in range(nodes.shape[1]):
            sums[p, k] += nodes[t, k]


@kernel
def add_scores(cast: Array, logs: Array, scores: Array) -> None:
    """scores[p, k] += logs[cast[p, v], k]; -1 adds nothing."""
    patterns, voters = cast.shape
    for p in range(patterns):
        for v in range(voters):
            outcome = cast[p, v]
            if outcome >= 0:
                for k in range(logs.shape[1]):
                    scores[p, k] += logs[outcome, k]
