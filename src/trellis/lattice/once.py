"""Lattices in which segments of some types may occur once at most.

Whether one has occurred already is part of where a path is: each node of the graph is there once for every set of such
types that may have occurred before. Every question is then answered exactly, for up to four types; with n of them the
graph is 2^n times as large. Paths, parts and scores are those of the lattice itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from trellis.errors import SettingError
from trellis.labels import first_tokens
from trellis.lattice.graph import BOOL, F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.shape import Shape
from trellis.lattice.spelling import Spelling

MOST_ONCE = 4  # types


@dataclass
class AtMostOnce(PartLattice):
    """`base` with segments of the types `kinds` at most once each; scores are read here, not there."""

    base: PartLattice
    spelling: Spelling
    kinds: tuple[int, ...]

    @classmethod
    def of(cls, base: PartLattice, spelling: Spelling, kinds: tuple[int, ...]) -> AtMostOnce:
        if len(kinds) > MOST_ONCE:
            raise SettingError(f"{len(kinds)} types that may occur once; exact for up to {MOST_ONCE}")
        return cls(base.node_scores, base.arc_scores, base.offsets, base, spelling, kinds)

    @property
    def labels(self) -> int:
        return self.base.labels

    def parts(self) -> Parts:
        return self.larger()[0]

    def larger(self) -> tuple[Parts, I64]:
        """The parts, and which arc of the base's graph each arc of the graph is, I64[arcs]."""
        from trellis.lattice.kernels.once import count_once, once_shape

        parts, masks = self.base.parts(), 1 << len(self.kinds)
        shape = parts.shape
        event, first_event = self.base.segment_events(parts, self.spelling, self.kinds)
        nodes, arcs = len(shape.first) * masks, count_once(event, masks)
        start, source, which = np.empty(nodes + 1, np.int64), np.empty(arcs, np.int32), np.empty(arcs, np.int64)
        first, last = np.empty(nodes, bool), np.empty(nodes, bool)
        once_shape(
            shape.start, shape.source, shape.first, shape.last, event, first_event, masks,
            start, source, first, last, which,
        )  # fmt: skip
        larger = Shape(start, source, first, last, shape.offsets * masks)
        found = Parts(larger, np.repeat(parts.of_nodes, masks), parts.of_arcs[which], parts.nodes, parts.arcs)
        return found, which

    def too_often(self, paths: I32) -> BOOL:
        """Whether the path of each sentence has a type more than once, BOOL[sentences]."""
        begins, kind = first_tokens(self.offsets), self.spelling.kind[paths]
        begins[1:] |= self.spelling.starts[paths[:-1], paths[1:]]
        starts = np.flatnonzero(begins & np.isin(kind, self.kinds))
        sentence = np.searchsorted(self.offsets, starts, side="right") - 1
        found = np.bincount(
            sentence * self.spelling.kinds + kind[starts], minlength=self.sentences * self.spelling.kinds
        )
        return np.asarray((found.reshape(self.sentences, self.spelling.kinds) > 1).any(axis=1))

    def path_scores(self, paths: I32) -> F64:
        return np.where(self.too_often(paths), -np.inf, super().path_scores(paths))

    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        return self.base.node_parts_of(path)

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        return self.base.arc_parts_of(path)

    def path_of(self, node_parts: I64) -> I32:
        return self.base.path_of(node_parts)

    def on_nodes(self, rows: F64) -> F64:
        return self.base.on_nodes(rows)

    def on_labels(self, nodes: F64) -> F64:
        return self.base.on_labels(nodes)

    @property
    def owners(self) -> I64:
        return self.base.owners

    def tokens_of(self, parts: Parts) -> I64:
        return np.repeat(self.base.tokens_of(self.base.parts()), 1 << len(self.kinds))

    def path_labels(self, parts: Parts) -> I64:
        return np.repeat(self.base.path_labels(self.base.parts()), 1 << len(self.kinds))

    def sentence(self, s: int) -> Self:
        base = replace(self.base, node_scores=self.node_scores, arc_scores=self.arc_scores).sentence(s)
        return replace(self, node_scores=base.node_scores, arc_scores=base.arc_scores, offsets=base.offsets, base=base)
