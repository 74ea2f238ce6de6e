"""A shard of semi-Markov chains: tokens are scored as in `plain`, and segments by their tokens and by themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.parts import PartLattice
from trellis.lattice.segments import SegmentChain, SpanAttributes
from trellis.lattice.solved import ArcH
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.shard import Shard
from trellis.scoring.hybrid import HybridScoring
from trellis.scoring.occurrences import Occurrences
from trellis.scoring.occurring import number_by_appearance
from trellis.scoring.segments import SegmentLayout, SpanScoring

F64 = NDArray[np.float64]

_CELLS = 1 << 19  # segments in a block


@dataclass(frozen=True)
class _Point:
    """Weights ready to score with: F64[local], those of tokens as rows, and transitions."""

    weights: F64
    rows: F64
    transitions: F64


class SegmentShard(Shard):
    """`examples` have the labels of tokens, as the types say, and the attributes of spans, if there are any."""

    def __init__(self, layout: SegmentLayout, examples: Examples, loss: Loss):
        tokens = len(examples.gold)
        spans = SpanAttributes.none(tokens) if examples.spans is None else examples.spans
        super().__init__(examples, loss, np.full(tokens, layout.types.cells + len(layout.types) ** 2), _CELLS)
        self.layout = layout
        ids, attributes = number_by_appearance(examples.ids, layout.attributes)
        local, index = layout.tokens.restricted(attributes)
        self._tokens_of_words = HybridScoring(local)
        self._at = self._tokens_of_words.bind(examples.indptr, ids, examples.values)
        self._spans = SpanScoring(layout, spans)
        self.forbidden = None if examples.allowed is None else ~examples.allowed.mask()
        self._pairs = local.pairs
        self._moves = self._pairs + len(layout.source)
        self.index = np.concatenate([index, np.arange(layout.tokens.pairs, layout.size)]).astype(np.int32)
        self._gradient = np.empty(len(self.index))
        self._rows = np.zeros((self._tokens_of_words.rows, self._tokens_of_words.width))
        self._types = np.zeros(len(layout.types) ** 2)
        self._closed = layout.closed()

    def _load(self, theta: F64) -> _Point:
        weights = self._taken(theta, np.empty(len(self.index)))
        transitions = self.layout.transition_matrix(weights[self._pairs : self._moves])
        return _Point(weights, self._tokens_of_words.rows_of(weights[: self._pairs]), transitions)

    def _load_direction(self, direction: F64) -> _Point:
        return self._load(direction)

    def _chain(self, point: _Point, block: int, keep: bool = False) -> PartLattice:
        chain = self._empty(block)
        chain.arc_scores = point.transitions + self._closed
        chain.node_scores = self._scores(chain, point, block, -np.inf, self.added)
        return self._constrained(chain, block)

    def _h(self, along: _Point, block: int) -> tuple[F64, ArcH]:
        h = self._scores(self._empty(block), along, block, 0.0, self.added_h)
        h[h == -np.inf] = 0.0  # segments that would begin before the sentence
        return h, along.transitions

    def _empty(self, block: int) -> SegmentChain:
        (first, last), (a, _) = self.blocks[block], self._tokens(block)
        none = np.zeros(0)
        return SegmentChain(none, none, self.offsets[first : last + 1] - a, self.layout.types)

    def on_labels(self, nodes: F64, block: int) -> F64:
        a, b = self._tokens(block)
        rows = np.zeros((b - a, self._tokens_of_words.width))
        rows[:, : self.layout.labels] = self._empty(block).on_labels(nodes)
        return rows

    def on_nodes(self, rows: F64, block: int) -> F64:
        nodes = self._empty(block).on_nodes(rows)
        nodes[nodes == -np.inf] = 0.0
        return nodes

    def _scores(self, chain: SegmentChain, point: _Point, block: int, closed: float, added: F64 | None) -> F64:
        """F64[segments]; labels that are forbidden score `closed`."""
        a, b = self._tokens(block)
        rows = np.empty((b - a, self._tokens_of_words.width))
        self._tokens_of_words.scores(point.rows, point.weights[: self._pairs], self._at, a, b, rows)
        if added is not None:
            rows += added
        if self.forbidden is not None:
            rows[:, : self.forbidden.shape[1]][self.forbidden[a:b]] = closed
        scores = chain.on_nodes(rows)
        cells = scores.reshape(b - a, self.layout.types.cells)
        self._spans.add_scores(point.weights[self._moves :], a, b, cells)
        return scores

    def _begin(self) -> None:
        self._gradient.fill(0.0)
        self._rows.fill(0.0)
        self._types.fill(0.0)

    def _add(self, nodes: F64, arcs: F64, block: int, squared: bool = False) -> None:
        """Squared values of token attributes are taken as if a segment's tokens did not bear on one another."""
        a, b = self._tokens(block)
        rows = self.on_labels(nodes, block)
        at = self._squared if squared else self._at
        self._tokens_of_words.add_gradient(rows, at, a, b, self._rows, self._gradient)
        cells = nodes.reshape(b - a, self.layout.types.cells)
        self._spans.add_gradient(cells, a, b, self._gradient[self._moves :])
        self._types += arcs

    def _collected(self) -> F64:
        self._tokens_of_words.collect(self._rows, self._gradient)
        layout = self.layout
        self._gradient[self._pairs : self._moves] = self._types[layout.source * len(layout.types) + layout.target]
        return self._gradient

    @cached_property
    def _squared(self) -> Occurrences:
        """With the squares of all values."""
        return replace(self._at, row_value=self._at.row_value**2, pair_value=self._at.pair_value**2)
