"""theta -> scores of the nodes and arcs of lattices that are given arc by arc, and the transpose.

A node scores what its attributes score with its label, an arc what its two labels score one after the other and what
its own attributes score. Every weight that is part of a score is listed with it: scores are a sparse matrix times the
weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.lattice.graph import I32, I64
from trellis.lattice.shape import Shape
from trellis.scoring.layout import WeightLayout
from trellis.scoring.restricted_kernels import entry_gradient, entry_scores

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class ArcAttributes:
    """Arc e has the attributes `ids[indptr[e]:indptr[e + 1]]`, -1 for what is not known, with these values, 1 each if
    None."""

    indptr: I64
    ids: I32
    values: F64 | None = None

    def part(self, first: int, last: int) -> ArcAttributes:
        p, q = int(self.indptr[first]), int(self.indptr[last])
        return ArcAttributes(
            self.indptr[first : last + 1] - p, self.ids[p:q], None if self.values is None else self.values[p:q]
        )


@dataclass(frozen=True)
class LatticeData:
    """Lattices of many sentences: `shape`, the label of each node I32[nodes], and the attributes of arcs."""

    shape: Shape
    labels: I32
    arcs: ArcAttributes

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.shape.first) or len(self.arcs.indptr) != len(self.shape.source) + 1:
            raise DataError("lattices need a label for each node and attributes, maybe none, for each arc")

    def part(self, first: int, last: int) -> LatticeData:
        """Sentences first..last."""
        nodes = slice(int(self.shape.offsets[first]), int(self.shape.offsets[last]))
        arcs = self.arcs.part(int(self.shape.start[nodes.start]), int(self.shape.start[nodes.stop]))
        return LatticeData(self.shape.part(first, last), self.labels[nodes], arcs)


@dataclass(frozen=True)
class ExplicitLayout:
    """theta = [ weights of node attributes with labels (`pairs`, which has the transitions too); one weight for each
    attribute of arcs ]."""

    pairs: WeightLayout
    arc_attributes: int

    @property
    def labels(self) -> int:
        """Of paths: on a node, or not."""
        return 2

    @property
    def attributes(self) -> int:
        return self.pairs.attributes

    @property
    def size(self) -> int:
        return self.pairs.arcs_at + self.arc_attributes


class EntryScoring:
    """Scores that are sums of listed weights: `first: I64[scores + 1]`, `entry`: the weights of each, `value`: what
    they are multiplied with (none if all are 1)."""

    def __init__(self, first: I64, entry: I32, value: F64):
        self._first, self._entry, self._value = first, entry.astype(np.int32).view(np.uint32), value
        self._squares = value**2

    def scores(self, weights: F64, begin: int, end: int) -> F64:
        out = np.empty(end - begin)
        entry_scores(begin, end, weights, self._first, self._entry, self._value, out)
        return out

    def add_gradient(self, delta: F64, begin: int, end: int, gradient: F64, squared: bool = False) -> None:
        value = self._squares if squared else self._value
        entry_gradient(begin, end, delta, self._first, self._entry, value, gradient)


def node_entries(layout: WeightLayout, labels: I32, indptr: I64, ids: I32, values: F64 | None) -> EntryScoring:
    """The weights of nodes: those of their attributes with their labels."""
    keys = np.repeat(np.arange(layout.attributes), np.diff(layout.pair_start)) * layout.labels + layout.pair_label
    node = np.repeat(np.arange(len(labels)), np.diff(indptr))
    known = np.flatnonzero(ids >= 0)
    wanted = ids[known].astype(np.int64) * layout.labels + labels[node[known]]
    at = np.searchsorted(keys, wanted)
    found = np.flatnonzero(keys.take(at, mode="clip") == wanted) if len(keys) else np.zeros(0, np.int64)
    return _entries(node[known[found]], at[found], None if values is None else values[known[found]], len(labels))


def arc_entries(layout: ExplicitLayout, data: LatticeData) -> EntryScoring:
    """The weights of arcs: that of their two labels, and those of their attributes."""
    pairs, shape, arcs = layout.pairs, data.shape, data.arcs
    keys = pairs.source.astype(np.int64) * pairs.labels + pairs.target
    wanted = data.labels[shape.source].astype(np.int64) * pairs.labels + data.labels[shape.heads]
    at = np.searchsorted(keys, wanted)
    moves = np.flatnonzero(keys.take(at, mode="clip") == wanted) if len(keys) else np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(shape.source)), np.diff(arcs.indptr))
    known = np.flatnonzero(arcs.ids >= 0)
    of = np.concatenate([moves, owner[known]])
    entry = np.concatenate([at[moves] + pairs.pairs, arcs.ids[known] + pairs.arcs_at])
    values = None if arcs.values is None else np.concatenate([np.ones(len(moves)), arcs.values[known]])
    return _entries(of, entry, values, len(shape.source))


def _entries(of: I64, entry: I64, values: F64 | None, count: int) -> EntryScoring:
    order = np.argsort(of, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=count))]).astype(np.int64)
    return EntryScoring(first, entry[order].astype(np.int32), np.empty(0) if values is None else values[order])
