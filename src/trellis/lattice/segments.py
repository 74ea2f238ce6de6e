"""Semi-Markov chains: a path is a sequence of segments, which cover the sentence (see `kernels.segments`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from trellis.errors import DataError
from trellis.labels.packed import ranges
from trellis.lattice.chain import Marginals
from trellis.lattice.graph import F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.shape import Shape
from trellis.lattice.spelling import Spelling


@dataclass(frozen=True)
class SegmentTypes:
    """The types of segments. `longest: I64[types]`, how long one may be, the longest type first; `begin`, `inside:
    I64[types]`, the labels of its first token and of all others (-1 where none is longer than 1); `labels`, how many
    labels there are."""

    longest: I64
    begin: I64
    inside: I64
    labels: int

    @classmethod
    def of(cls, longest: ArrayLike, begin: ArrayLike, inside: ArrayLike, labels: int) -> SegmentTypes:
        """Types in any order -> in that of their lengths; of equal ones the first comes first."""
        lengths, first, others = (np.asarray(each, np.int64) for each in (longest, begin, inside))
        if not len(lengths) == len(first) == len(others):
            raise DataError("types of segments need a length, a label to begin with and one for the inside each")
        order = np.argsort(-lengths, kind="stable")
        return cls(lengths[order], first[order], others[order], labels)

    def __post_init__(self) -> None:
        if not len(self.longest) or self.longest.min() < 1 or np.any(np.diff(self.longest) > 0):
            raise DataError("types of segments need lengths of 1 or more, the longest first")
        if not len(self.longest) == len(self.begin) == len(self.inside):
            raise DataError("types of segments need a length, a label to begin with and one for the inside each")
        used = np.concatenate([self.begin, self.inside[self.longest > 1]])
        if used.min() < 0 or used.max() >= self.labels or len(np.unique(used)) < len(used):
            raise DataError("every label of a type of segments must be one of its own, below the number of labels")

    def __len__(self) -> int:
        return len(self.longest)

    @cached_property
    def first(self) -> I64:
        """Where the cells of each length begin, I64[lengths + 1]."""
        counts = (self.longest[:, None] > np.arange(self.longest[0])).sum(axis=0)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @property
    def cells(self) -> int:
        """How many segments can end at a token."""
        return int(self.first[-1])

    @cached_property
    def of_cells(self) -> tuple[I64, I64]:
        """The length and the type of each cell, I64[cells] both."""
        lengths = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        return lengths + 1, np.arange(self.cells) - self.first[lengths]


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

    def picked(self, tokens: I64) -> SpanAttributes:
        """These tokens, I64[...], in this order, whole sentences of them."""
        slots = tokens[:, None] * self.longest + np.arange(self.longest)
        start, taken = gathered(self.start, slots.reshape(-1))
        return SpanAttributes(start, self.ids[taken], self.longest)


def gathered(start: I64, which: I64) -> tuple[I64, I64]:
    """Of lists one after the other, list k from start[k] to start[k + 1], those named in this order: where they begin
    then, and where what they hold was."""
    counts = np.diff(start)[which]
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return begins, ranges(start[which], counts)


@dataclass
class SegmentChain(PartLattice):
    """`node_scores: F64[tokens * cells]`, of the segments that end at each token, -inf for those that would begin
    before the sentence; `arc_scores: F64[types * types]`, of one type after another. Paths are the labels of tokens."""

    types: SegmentTypes

    @property
    def labels(self) -> int:
        return self.types.labels

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    def best(self) -> tuple[I32, F64]:
        from trellis.lattice.kernels.segments import segment_best

        ends, totals = np.full(self.tokens, -1, np.int64), np.empty(self.sentences)
        segment_best(self._rows, self.types.first, self._transitions, self.offsets, ends, totals)
        return self._labelled(ends), totals

    def marginals(self) -> Marginals:
        from trellis.lattice.kernels.segments import segment_marginals

        nodes, arcs = np.empty_like(self._rows), np.zeros((len(self.types), len(self.types)))
        log_z, redo = np.empty(self.sentences), np.empty(self.sentences, bool)
        segment_marginals(self._rows, self.types.first, self._transitions, self.offsets, nodes, arcs, log_z, redo)
        flat, flat_arcs = nodes.reshape(-1), arcs.reshape(-1)
        for s in np.flatnonzero(redo).tolist():
            solved = self.sentence(s).solve()
            here, more = solved.expected()
            flat[self._parts_of(s)] = here
            flat_arcs += more
            log_z[s] = solved.log_z[0]
        return Marginals(log_z, flat, flat_arcs)

    def parts(self) -> Parts:
        from trellis.lattice.kernels.segment_parts import segment_shape

        types, tokens = len(self.types), self.tokens
        place = np.arange(tokens) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        reach = self.types.first[np.minimum(place + 1, len(self.types.first) - 1)]
        arcs = int(reach.sum()) + types * types * int((place > 0).sum())
        nodes = 2 * types * tokens
        start, source, of_arcs = np.empty(nodes + 1, np.int64), np.empty(arcs, np.int32), np.empty(arcs, np.int64)
        first, last = np.empty(nodes, bool), np.empty(nodes, bool)
        segments = tokens * self.types.cells
        segment_shape(self.types.first, types, self.offsets, start, source, first, last, of_arcs, segments)
        shape = Shape(start, source, first, last, 2 * types * self.offsets)
        return Parts(shape, np.full(nodes, -1), of_arcs, segments, types * types)

    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        ends = self._ends(path)
        at = np.flatnonzero(ends != -1)
        return np.where(ends[at] >= 0, at * self.types.cells + ends[at], -1), self._sentence_of_tokens[at]

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        ends = self._ends(path)
        at = np.flatnonzero(ends != -1)
        kind = np.where(ends[at] >= 0, self.types.of_cells[1][ends[at]], -1)
        owner = self._sentence_of_tokens[at]
        inner = np.flatnonzero(np.diff(owner) == 0) + 1  # a segment of the same sentence comes before
        before, here = kind[inner - 1], kind[inner]
        return np.where((before >= 0) & (here >= 0), before * len(self.types) + here, -1), owner[inner]

    def path_of(self, node_parts: I64) -> I32:
        ends = np.full(self.tokens, -1, np.int64)
        ends[node_parts // self.types.cells] = node_parts % self.types.cells
        return self._labelled(ends)

    def on_nodes(self, rows: F64) -> F64:
        from trellis.lattice.kernels.segment_parts import sums_over_segments

        out = np.empty((self.tokens, self.types.cells))
        sums_over_segments(rows, self.types.first, self.types.begin, self.types.inside, self.offsets, out)
        return out.reshape(-1)

    def on_labels(self, nodes: F64) -> F64:
        from trellis.lattice.kernels.segment_parts import sums_over_labels

        rows, values = np.zeros((self.tokens, self.labels)), nodes.reshape(self.tokens, self.types.cells)
        sums_over_labels(values, self.types.first, self.types.begin, self.types.inside, self.offsets, rows)
        return rows

    @property
    def owners(self) -> I64:
        return np.repeat(self._sentence_of_tokens, self.types.cells)

    def tokens_of(self, parts: Parts) -> I64:
        token, place = np.divmod(np.arange(len(parts.of_nodes)), 2 * len(self.types))
        return token - (place < len(self.types))

    def segment_events(self, parts: Parts, spelling: Spelling, kinds: tuple[int, ...]) -> tuple[I64, I64]:
        """Types are numbered as in `spelling`, by the labels that they begin with."""
        number = np.full(spelling.kinds + 1, -1)
        number[list(kinds)] = np.arange(len(kinds))
        place = np.arange(len(parts.of_nodes)) % (2 * len(self.types))
        begins = place < len(self.types)
        begun = np.where(begins, number[spelling.kind[self.types.begin[place % len(self.types)]]], -1)
        return begun[parts.shape.heads], begun

    def sentence(self, s: int) -> Self:
        length = int(self.offsets[s + 1] - self.offsets[s])
        return replace(self, node_scores=self.node_scores[self._parts_of(s)], offsets=np.array([0, length]))

    def _ends(self, path: I32) -> I64:
        """The cell of the segment that ends at each token, -1 for none, -2 for one that there is not."""
        from trellis.lattice.kernels.segment_parts import segments_on_path

        ends = np.empty(len(path), np.int64)
        segments_on_path(path, self.types.first, self.types.begin, self.types.inside, self.offsets, ends)
        return ends

    def _labelled(self, ends: I64) -> I32:
        from trellis.lattice.kernels.segment_parts import labels_of_segments

        path = np.zeros(len(ends), np.int32)
        labels_of_segments(ends, self.types.first, self.types.begin, self.types.inside, path)
        return path

    @property
    def _rows(self) -> F64:
        return self.node_scores.reshape(self.tokens, self.types.cells)

    @property
    def _transitions(self) -> F64:
        return self.arc_scores.reshape(len(self.types), len(self.types))

    @property
    def _sentence_of_tokens(self) -> I64:
        return np.repeat(np.arange(self.sentences), np.diff(self.offsets))

    def _parts_of(self, s: int) -> slice:
        cells = self.types.cells
        return slice(int(self.offsets[s]) * cells, int(self.offsets[s + 1]) * cells)
