"""Segments and the labels of their tokens, and segments as a graph (see `kernels.segments`).

Type y labels its first token begin[y] and all others inside[y].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def sums_over_segments(rows: Array, first: Array, begin: Array, inside: Array, offsets: Array, out: Array) -> None:
    """out[t, cell] = the sum of rows: F64[tokens, labels or more] over the labels of the segment's tokens; -inf for
    segments that would begin before the sentence."""
    types, lengths = len(begin), len(first) - 1
    inner = np.empty(types)
    for s in range(len(offsets) - 1):
        a = offsets[s]
        for t in range(a, offsets[s + 1]):
            for y in range(types):
                inner[y] = 0.0
            for d in range(lengths):
                for y in range(first[d + 1] - first[d]):
                    if t - d < a:
                        out[t, first[d] + y] = -np.inf
                        continue
                    if d > 0:
                        inner[y] += rows[t - d + 1, inside[y]]
                    out[t, first[d] + y] = rows[t - d, begin[y]] + inner[y]


@ordered_kernel
def sums_over_labels(values: Array, first: Array, begin: Array, inside: Array, offsets: Array, rows: Array) -> None:
    """The transpose: rows[t, label] += the values F64[tokens, cells] of all segments with that label at t."""
    types, lengths = len(begin), len(first) - 1
    longer = np.empty(types)
    for s in range(len(offsets) - 1):
        a = offsets[s]
        for t in range(a, offsets[s + 1]):
            for y in range(types):
                longer[y] = 0.0
            for d in range(min(lengths, t - a + 1) - 1, -1, -1):
                for y in range(first[d + 1] - first[d]):
                    value = values[t, first[d] + y]
                    rows[t - d, begin[y]] += value
                    longer[y] += value
                    if d > 0:
                        rows[t - d + 1, inside[y]] += longer[y]


@ordered_kernel
def segments_on_path(path: Array, first: Array, begin: Array, inside: Array, offsets: Array, ends: Array) -> None:
    """ends[t] = the cell of the segment of a path that ends at token t, I64[tokens]; -1 where none does, -2 where one
    does that there is not: labels inside that do not go on, or too long a segment."""
    types, lengths = len(begin), len(first) - 1
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        t = a
        while t < b:
            kind = -1
            for y in range(types):
                if begin[y] == path[t]:
                    kind = y
            u = t + 1
            while u < b and kind >= 0 and path[u] == inside[kind]:
                u += 1
            for v in range(t, u - 1):
                ends[v] = -1
            d = u - t - 1
            good = kind >= 0 and d < lengths and kind < first[d + 1] - first[d]
            ends[u - 1] = first[d] + kind if good else -2
            t = u


@ordered_kernel
def labels_of_segments(ends: Array, first: Array, begin: Array, inside: Array, path: Array) -> None:
    """The labels of all tokens of the segments that end at tokens where ends[t] >= 0 is their cell."""
    for t in range(len(ends)):
        if ends[t] >= 0:
            d = 0
            while ends[t] >= first[d + 1]:
                d += 1
            y = ends[t] - first[d]
            path[t - d] = begin[y]
            for u in range(t - d + 1, t + 1):
                path[u] = inside[y]


@ordered_kernel
def segment_shape(
    first: Array, types: int, offsets: Array, start: Array, source: Array, is_first: Array, is_last: Array,
    of_arcs: Array, nodes: int,
) -> None:  # fmt: skip
    """The graph: for each token and type a node where it begins and, after those of all types, one where it ends. An
    arc from begin to end is a segment, one from end to begin a transition; of_arcs: its part, segments first, `nodes`
    of them."""
    lengths, cells = len(first) - 1, first[-1]
    arc = 0
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        for t in range(a, b):
            for y in range(types):
                v = 2 * types * t + y
                start[v], is_first[v], is_last[v] = arc, t == a, False
                if t > a:
                    for z in range(types):
                        source[arc] = 2 * types * (t - 1) + types + z
                        of_arcs[arc] = nodes + z * types + y
                        arc += 1
            for y in range(types):
                v = 2 * types * t + types + y
                start[v], is_first[v], is_last[v] = arc, False, t == b - 1
                for d in range(min(lengths, t - a + 1) - 1, -1, -1):
                    if y < first[d + 1] - first[d]:
                        source[arc] = 2 * types * (t - d) + y
                        of_arcs[arc] = t * cells + first[d] + y
                        arc += 1
    start[len(is_first)] = arc
