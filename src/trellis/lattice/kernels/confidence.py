"""Probabilities of segments in graphs whose nodes are labels of tokens (see `lattice.confidence`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def follow_segments(
    start: Array,
    source: Array,
    node_p: Array,
    arc_p: Array,
    begin: Array,
    label: Array,
    sentence_end: Array,
    is_first: Array,
    kind: Array,
    starts: Array,
    kinds: int,
    threshold: float,
) -> Array:
    """F64[segments, 4]: start, end, type and P of all segments of which more than the threshold starts. begin:
    I64[tokens + 1], where the nodes of each token begin; label: I64[nodes]; sentence_end: I64[tokens]."""
    rows, count = np.empty((256, 4)), 0
    mass, after = np.zeros(len(node_p)), np.zeros(len(node_p))
    for first in range(len(begin) - 1):
        for k in range(kinds):
            total = 0.0
            for v in range(begin[first], begin[first + 1]):
                mass[v] = 0.0
                if kind[label[v]] != k:
                    continue
                if is_first[first]:
                    mass[v] = node_p[v]
                else:
                    for e in range(start[v], start[v + 1]):
                        if starts[label[source[e]], label[v]]:
                            mass[v] += arc_p[e]
                total += mass[v]
            t = first
            while total >= threshold:
                going = 0.0
                if t + 1 < sentence_end[first]:
                    for v in range(begin[t + 1], begin[t + 2]):
                        after[v] = 0.0
                        if kind[label[v]] == k:
                            for e in range(start[v], start[v + 1]):
                                u = source[e]
                                if kind[label[u]] == k and not starts[label[u], label[v]] and node_p[u] > 0.0:
                                    after[v] += mass[u] * (arc_p[e] / node_p[u])
                        going += after[v]
                    for v in range(begin[t + 1], begin[t + 2]):
                        mass[v] = after[v]
                if count == len(rows):
                    longer = np.empty((2 * count, 4))
                    longer[:count] = rows
                    rows = longer
                rows[count, 0], rows[count, 1], rows[count, 2] = first, t + 1, k
                rows[count, 3] = min(1.0, max(0.0, total - going))
                count += 1
                total = going
                t += 1
    return rows[:count].copy()
