"""A trained semi-Markov chain: features of tokens and of spans, weights, types of segments. Immutable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.features import FeatureKind, Packed
from trellis.labels.encode import encoded, labels_of
from trellis.lattice.confidence import Segments
from trellis.lattice.parts import PartLattice
from trellis.lattice.segments import SegmentChain, SpanAttributes
from trellis.metrics.segments import segments
from trellis.models.batches import Batched, Sentences
from trellis.models.constraints import Prepared, SegmentsAs
from trellis.models.probabilities import Lattice, best_in

if TYPE_CHECKING:
    from trellis.scoring.hybrid import HybridScoring
    from trellis.scoring.segments import SegmentLayout

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class SegmentModel(Batched):
    """`weights: F64[layout.size]`; `kinds`: the names of the types of segments, sorted, without O; `encoding`: how
    segments are written as labels. Within, tokens have labels of iob2: O is 0, kind k has 1 + 2 k and 2 + 2 k."""

    labels: tuple[str, ...]
    features: FeatureKind
    layout: SegmentLayout
    weights: F64
    kinds: tuple[str, ...]
    encoding: str
    prepared: HybridScoring | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls, kinds: tuple[str, ...], encoding: str, features: FeatureKind, layout: SegmentLayout, weights: F64
    ) -> SegmentModel:
        return cls(tuple(labels_of(kinds, encoding)), features, layout, weights, kinds, encoding)

    def best_of_packed(self, packed: Packed, offsets: I64) -> I32:
        return self.best_of_lattice(self.chain(packed, offsets))

    def best_of_lattice(self, lattice: Lattice) -> I32:
        """The best labels, I32[tokens], of a lattice, maybe a constrained one."""
        return self.written(best_in(lattice), lattice.offsets)

    def marginals(self, data: Sentences, threads: int = 1) -> F64:
        """P(label) of every token, F64[tokens, labels]."""
        rows = self.batches(data, threads, self.marginals_of_packed)
        return np.concatenate([np.zeros((0, len(self.labels))), *rows])

    def marginals_of_packed(self, packed: Packed, offsets: I64) -> F64:
        return self.marginals_of_lattice(self.chain(packed, offsets))

    def marginals_of_lattice(self, lattice: Lattice) -> F64:
        """The same for a lattice, maybe a constrained one."""
        if self.encoding in ("iob1", "ioe1"):
            raise SettingError(
                f"in {self.encoding} the label of a token is a matter of the segments beside its own: there are no "
                "marginals of labels; ask for spans"
            )
        assert isinstance(lattice, PartLattice)
        answer, types = lattice.marginals(), self.layout.types
        lattice.require_paths(answer.log_z)
        rows = lattice.on_labels(answer.nodes)
        if self.encoding == "iob2":
            return rows
        ends = answer.nodes.reshape(-1, types.cells)
        last, single = np.zeros((2, len(ends), len(types)))
        for k, (length, own) in enumerate(zip(*(side.tolist() for side in types.of_cells), strict=True)):
            last[:, own] += ends[:, k]
            single[:, own] += ends[:, k] if length == 1 else 0.0
        own = np.argsort(types.begin)[1:]  # the types but for O, which begins with label 0, in the order of the kinds
        first, inside = rows[:, 1::2], rows[:, 2::2]
        return self._in_encoding(rows[:, 0], first, inside, last[:, own], single[:, own])

    def _in_encoding(self, outside: F64, first: F64, inside: F64, last: F64, single: F64) -> F64:
        """P(label) from P(a segment begins at a token), P(goes on there), P(ends), P(begins and ends), F64[tokens,
        kinds] each."""
        letters = {
            "io": [first + inside],
            "ioe2": [first + inside - last, last],
            "bioes": [first - single, inside - last + single, last - single, single],
        }
        columns = letters["bioes" if self.encoding == "bilou" else self.encoding]
        by_kind = np.stack(columns, axis=2).reshape(len(outside), -1)
        return np.concatenate([outside[:, None], np.maximum(by_kind, 0.0)], axis=1)  # below 0 is rounding

    def chain(self, packed: Packed, offsets: I64) -> SegmentChain:
        """The lattice of packed sentences."""
        from trellis.scoring.segments import SpanScoring

        layout, tokens = self.layout, int(offsets[-1])
        at, moves = layout.tokens.pairs, layout.spans_at
        rows = self._scoring.scores_of_packed(self._rows, self.weights[:at], packed.indptr, packed.ids, packed.values)
        transitions = layout.transition_matrix(self.weights[at:moves]) + layout.closed()
        chain = SegmentChain(np.zeros(0), transitions, offsets, layout.types)
        scores = chain.on_nodes(rows)
        spans = SpanAttributes.none(tokens) if packed.spans is None else packed.spans
        cells = scores.reshape(tokens, layout.types.cells)
        SpanScoring(layout, spans).add_scores(self.weights[moves:], 0, tokens, cells)
        return replace(chain, node_scores=scores)

    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> SegmentChain:
        """The same; nothing is left out, whatever is imposed."""
        return self.chain(packed, offsets)

    def segments_of_lattice(self, lattice: Lattice, threshold: float | None) -> Segments:
        """All segments with at least that probability; without a threshold those of the best path. O is none."""
        assert isinstance(lattice, PartLattice)
        types, answer = self.layout.types, lattice.marginals()
        lattice.require_paths(answer.log_z)
        if threshold is None:
            parts = lattice.node_parts_of(lattice.best()[0])[0]
        else:
            parts = np.flatnonzero(answer.nodes >= threshold)
        token, cell = np.divmod(parts, types.cells)
        length, own = (side[cell] for side in types.of_cells)
        kind = np.where(types.begin > 0, (types.begin - 1) // 2, -1)[own]
        inside = kind >= 0
        found = Segments(token - length + 1, token + 1, kind, answer.nodes[parts])
        return found.chosen(inside).sorted()

    def bounds_left_out(self, packed: Packed, offsets: I64, lattice: Lattice) -> F64 | float:
        """Nothing is left out."""
        return -np.inf

    @property
    def segments_as(self) -> SegmentsAs:
        """How segments are written as labels."""
        return self.kinds, self.encoding

    @property
    def kinds_of_segments(self) -> list[str]:
        return list(self.kinds)

    @property
    def summary(self) -> str:
        return f"{self.layout.size:,} weights"

    def with_weights(self, weights: F64) -> SegmentModel:
        """The same model with other weights; what was prepared for scoring is shared."""
        return replace(self, weights=weights, prepared=self._scoring)

    def within(self, labels: I32, offsets: I64) -> I32:
        """Labels in the encoding -> within."""
        if self.encoding == "iob2":
            return labels
        return encoded(*segments(labels, self.labels, offsets), self.kinds, offsets, "iob2")[0]

    def written(self, paths: I32, offsets: I64) -> I32:
        """Labels within -> in the encoding."""
        if self.encoding == "iob2":
            return paths
        start = np.flatnonzero(paths % 2 == 1)
        inside = np.flatnonzero((paths > 0) & (paths % 2 == 0))
        owner = np.searchsorted(start, inside, side="right") - 1
        end = start + 1 + np.bincount(owner, minlength=len(start))
        return encoded(start, end, (paths[start].astype(np.int64) - 1) // 2, self.kinds, offsets, self.encoding)[0]

    @cached_property
    def _scoring(self) -> HybridScoring:
        from trellis.scoring.hybrid import HybridScoring

        return self.prepared or HybridScoring(self.layout.tokens)

    @cached_property
    def _rows(self) -> F64:
        return self._scoring.rows_of(self.weights[: self.layout.tokens.pairs])
