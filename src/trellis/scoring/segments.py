"""theta -> scores of segments, and the transpose.

A segment scores what its tokens score with their labels, and what its own attributes score with its type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.segments import SegmentTypes
from trellis.scoring.layout import I32, I64, WeightLayout
from trellis.scoring.segment_kernels import add_segment_scores, segment_gradient

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class SpanAttributes:
    """The span of d tokens that ends at token t has attributes `ids[start[t * longest + d - 1]:...]` (I64[tokens *
    longest + 1], I32[occurrences]); spans that would begin before the sentence have none."""

    start: I64
    ids: I32
    longest: int

    @classmethod
    def none(cls, tokens: int) -> SpanAttributes:
        return cls(np.zeros(tokens + 1, np.int64), np.zeros(0, np.int32), 1)

    def part(self, first: int, last: int) -> SpanAttributes:
        """Tokens first..last."""
        start = self.start[first * self.longest : last * self.longest + 1]
        return SpanAttributes(start - start[0], self.ids[start[0] : start[-1]], self.longest)


@dataclass(frozen=True)
class SegmentLayout:
    """theta = [ weights of token attributes with labels (`tokens`, which has no transitions); transitions `source[k] ->
    target[k]` from type to type, ascending; attribute a of spans with the types `span_type[span_start[a]:...]` ].

    Types are numbered as in `types`, which says how long they may be and how their tokens are labelled."""

    tokens: WeightLayout
    types: SegmentTypes
    source: I32  # [transitions]
    target: I32  # [transitions]
    span_start: I64  # [span attributes + 1]
    span_type: I32  # [span weights]

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
