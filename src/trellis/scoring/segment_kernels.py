"""Compiled loops over the attributes of spans (see `scoring.segments`)."""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel

Array = Any


@kernel
def add_segment_scores(
    start: Array, ids: Array, longest: int, span_start: Array, span_type: Array, cells: Array, weights: Array,
    first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """out[t - first, cell] += the weights of the span's attributes with the cell's type. cells: where those of each
    length begin."""
    lengths = min(longest, len(cells) - 1)
    for t in range(first, last):
        for d in range(lengths):
            types = cells[d + 1] - cells[d]
            for k in range(start[t * longest + d], start[t * longest + d + 1]):
                for w in range(span_start[ids[k]], span_start[ids[k] + 1]):
                    if span_type[w] < types:
                        out[t - first, cells[d] + span_type[w]] += weights[w]


@kernel
def segment_gradient(
    start: Array, ids: Array, longest: int, span_start: Array, span_type: Array, cells: Array, values: Array,
    first: int, last: int, gradient: Array,
) -> None:  # fmt: skip
    """The transpose: values[t - first, cell] are added to the gradient of the span's weights."""
    lengths = min(longest, len(cells) - 1)
    for t in range(first, last):
        for d in range(lengths):
            types = cells[d + 1] - cells[d]
            for k in range(start[t * longest + d], start[t * longest + d + 1]):
                for w in range(span_start[ids[k]], span_start[ids[k] + 1]):
                    if span_type[w] < types:
                        gradient[w] += values[t - first, cells[d] + span_type[w]]
