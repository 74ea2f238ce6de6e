"""theta -> scores of segments, and the transpose.

A segment scores what its tokens score with their labels, and what its own attributes score with its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.segments import SegmentTypes, SpanAttributes
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.segment_kernels import add_segment_scores, segment_gradient

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class SegmentLayout:
    """theta = [ weights of token attributes with labels (`tokens`, which has no transitions); transitions `source[k] ->
    target[k]` from type to type, ascending; attribute a of spans with the types `span_type[span_start[a]:...]` ].

    Types are numbered as in `types`, which says how long they may be and how their tokens are labelled. `apart`: no
    segment follows another of its type, where labels could not tell the two from one."""

    tokens: WeightLayout
    types: SegmentTypes
    source: I32  # [transitions]
    target: I32  # [transitions]
    span_start: I64  # [span attributes + 1]
    span_type: I32  # [span weights]
    apart: bool = False

    @property
    def labels(self) -> int:
        return self.tokens.labels

    @property
    def attributes(self) -> int:
        return self.tokens.attributes

    @property
    def spans_at(self) -> int:
        """Where the weights of span attributes begin in theta."""
        return self.tokens.pairs + len(self.source)

    @property
    def size(self) -> int:
        return self.spans_at + len(self.span_type)

    def transition_matrix(self, weights: F64) -> F64:
        """Weights of the transitions -> F64[types * types]; one without a weight scores 0."""
        matrix = np.zeros((len(self.types), len(self.types)))
        matrix[self.source, self.target] = weights
        return matrix.ravel()

    def closed(self) -> F64:
        """F64[types * types], -inf for types that may not follow each other, else 0."""
        matrix = np.zeros((len(self.types), len(self.types)))
        if self.apart:
            inside = np.flatnonzero(self.types.inside >= 0)  # all but O
            matrix[inside, inside] = -np.inf
        return matrix.ravel()


@dataclass(frozen=True)
class SpanScoring:
    """Scores of the attributes of spans."""

    layout: SegmentLayout
    spans: SpanAttributes

    @cached_property
    def _loops(self) -> tuple[I64, I32, int, I64, I32, I64]:
        spans, layout = self.spans, self.layout
        return spans.start, spans.ids, spans.longest, layout.span_start, layout.span_type, layout.types.first

    def add_scores(self, weights: F64, first: int, last: int, out: F64) -> None:
        """Adds to out: F64[last - first, cells] what the weights of span attributes say of tokens first..last."""
        add_segment_scores(*self._loops, weights, first, last, out)

    def add_gradient(self, values: F64, first: int, last: int, gradient: F64) -> None:
        """Adds what values: F64[last - first, cells] say of each weight to the gradient of span attributes."""
        segment_gradient(*self._loops, values, first, last, gradient)


def observed_segments(
    tokens: WeightLayout,
    types: SegmentTypes,
    gold: I32,
    offsets: I64,
    spans: SpanAttributes | None,
    attributes: int,
    everything: bool = False,
    apart: bool = False,
) -> SegmentLayout:
    """Weights for the types that follow each other and those of so many attributes that segments of a type have, in the
    labels of the training data; or for all of both. `apart`: see `SegmentLayout`."""
    from trellis.lattice.segments import SegmentChain

    count = len(types)
    if everything:
        follows, seen = np.ones(count * count, bool), np.ones((attributes, count), bool)
    else:
        none = np.zeros(0)
        chain = SegmentChain(none, none, offsets, types)
        arcs, segments = chain.arc_parts_of(gold)[0], chain.node_parts_of(gold)[0]
        follows, seen = np.zeros(count * count, bool), np.zeros((attributes, count), bool)
        follows[arcs[arcs >= 0]] = True
        if spans is not None:
            token, cell = np.divmod(segments[segments >= 0], types.cells)
            length, kind = (side[cell] for side in types.of_cells)
            short = length <= spans.longest
            slot = token[short] * spans.longest + length[short] - 1
            counts = spans.start[slot + 1] - spans.start[slot]
            at = np.repeat(spans.start[slot] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            seen[spans.ids[at], np.repeat(kind[short], counts)] = True
    source, target = np.divmod(np.flatnonzero(follows), count)
    start = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    kinds = np.nonzero(seen)[1].astype(np.int32)
    return SegmentLayout(tokens, types, source.astype(np.int32), target.astype(np.int32), start, kinds, apart)
