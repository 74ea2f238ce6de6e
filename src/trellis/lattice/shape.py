"""The shape of explicit graphs: nodes, and the arcs between them, without scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.labels import check_packed

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class Shape:
    """Graphs of many sentences without their scores: nodes are numbered through, those of sentence s are
    offsets[s]:offsets[s + 1] (I64[sentences + 1]), in topological order.

    `start: I64[nodes + 1]`, `source: I32[arcs]`: the arcs into node v are start[v]:start[v + 1] and come from these
    nodes, ascending; `first`, `last: BOOL[nodes]`: where paths may begin and end. A sentence without nodes has one
    path, which is empty.
    """

    start: I64
    source: I32
    first: BOOL
    last: BOOL
    offsets: I64

    @classmethod
    def of_arcs(cls, arcs: I64, offsets: I64, first: BOOL | None = None, last: BOOL | None = None) -> tuple[Shape, I64]:
        """From arcs I64[arcs, 2], from node to node, in any order; the second answer is which of them each arc of the
        shape is. Paths begin where no arc leads to and end where none goes on, unless it is said where."""
        nodes = int(offsets[-1])
        arcs = np.asarray(arcs, np.int64).reshape(-1, 2)
        if len(arcs) and (arcs.min() < 0 or arcs.max() >= nodes):
            raise DataError(f"arcs name nodes {arcs.min()} to {arcs.max()}; there are {nodes}, counted from 0")
        order = np.lexsort((arcs[:, 0], arcs[:, 1]))
        start = np.concatenate([[0], np.cumsum(np.bincount(arcs[:, 1], minlength=nodes))]).astype(np.int64)
        source = arcs[order, 0].astype(np.int32)
        if first is None:
            first = np.diff(start) == 0
        if last is None:
            last = np.bincount(arcs[:, 0], minlength=nodes) == 0
        return cls(start, source, np.asarray(first, bool), np.asarray(last, bool), offsets).checked(), order

    def checked(self) -> Shape:
        """The same, or DataError. Shapes that lattices make of themselves need no check, which takes longer than they
        do."""
        nodes = len(self.first)
        check_packed(np.zeros(nodes, np.int32), self.offsets, 1, "graph")
        if len(self.last) != nodes or len(self.start) != nodes + 1 or self.start[0] != 0:
            raise DataError("the arrays of a graph do not fit: one number a node in first and last, one more in start")
        if np.any(np.diff(self.start) < 0) or self.start[-1] != len(self.source):
            raise DataError(f"start must rise from 0 to the number of arcs, {len(self.source)}")
        head, sentence = self.heads, np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        wrong = (self.source < 0) | (self.source >= head)
        for e in np.flatnonzero(wrong)[:1].tolist():
            raise DataError(
                f"an arc leads from node {self.source[e]} to node {head[e]}; nodes must be in such an order that arcs "
                "lead to later ones"
            )
        for e in np.flatnonzero(sentence[self.source] != sentence[head])[:1].tolist():
            raise DataError(f"the arc from node {self.source[e]} to node {head[e]} joins two sentences")
        twice = (np.diff(self.source) <= 0) & (np.diff(head) == 0)
        for e in np.flatnonzero(twice)[:1].tolist():
            raise DataError(f"arcs into node {head[e]} must come from different nodes, in ascending order")
        return self

    def part(self, first: int, last: int) -> Shape:
        """Sentences first..last."""
        a, b = int(self.offsets[first]), int(self.offsets[last])
        p, q = int(self.start[a]), int(self.start[b])
        return Shape(
            self.start[a : b + 1] - p, self.source[p:q] - np.int32(a), self.first[a:b], self.last[a:b],
            self.offsets[first : last + 1] - a,
        )  # fmt: skip

    def chosen(self, which: BOOL) -> Shape:
        """The sentences marked in BOOL[sentences]."""
        nodes = np.repeat(which, np.diff(self.offsets))
        arcs = nodes[self.heads]
        number = np.cumsum(nodes) - 1
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[nodes])]).astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[which])]).astype(np.int64)
        source = number[self.source[arcs]].astype(np.int32)
        return Shape(start, source, self.first[nodes], self.last[nodes], offsets)

    @cached_property
    def heads(self) -> I64:
        """The node that each arc leads to, I64[arcs]."""
        return np.repeat(np.arange(len(self.first)), np.diff(self.start))

    @cached_property
    def levels(self) -> I32:
        """The number of arcs on the longest way to each node, I32[nodes]."""
        from trellis.lattice.kernels.graph_paths import depths

        level = np.zeros(len(self.first), np.int32)
        depths(self.start, self.source, level)
        return level

    @property
    def sentences(self) -> int:
        return len(self.offsets) - 1

    def sums(self, values: F64) -> F64:
        """F64[nodes] added up over each sentence."""
        owner = np.repeat(np.arange(self.sentences), np.diff(self.offsets))
        return np.bincount(owner, weights=values, minlength=self.sentences).astype(np.float64)
