"""Scores of given paths, and taking a path's arcs away from expected ones."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel

Array = Any


@kernel
def path_scores(scores: Array, transitions: Array, each: int, offsets: Array, paths: Array, totals: Array) -> None:
    """totals[s] = S(y) for the path I32[tokens]; transitions as F64[1 or tokens, labels, labels]."""
    for s in range(len(offsets) - 1):
        total = 0.0
        for t in range(offsets[s], offsets[s + 1]):
            total += scores[t, paths[t]]
            if t > offsets[s]:
                total += transitions[t * each, paths[t - 1], paths[t]]
        totals[s] = total


@kernel
def subtract_path(nodes: Array, arcs: Array, each: int, offsets: Array, paths: Array, weights: Array) -> None:
    """nodes and arcs -= weights[s] on the path: with 1, what remains is the gradient of the log loss in the scores."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            nodes[t, paths[t]] -= weights[s]
            if t > offsets[s]:
                arcs[t * each, paths[t - 1], paths[t]] -= weights[s]
