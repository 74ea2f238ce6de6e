"""Lattices that are given arc by arc, as word lattices are: a graph whose nodes and arcs are the parts.

A path is written as I32[nodes], 1 on its nodes and 0 on all others: nodes take the place of tokens, and whether a path
goes there that of labels. The places of a path, as losses see them, are its nodes: that it does not go to another is no
achievement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from trellis.lattice.graph import F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.shape import Shape
from trellis.lattice.solved_parts import SolvedParts


@dataclass
class ExplicitLattice(PartLattice):
    """`node_scores: F64[nodes]`, `arc_scores: F64[arcs]` on the nodes and arcs of `shape`, whose offsets these are."""

    shape: Shape

    @property
    def labels(self) -> int:
        return 2

    def parts(self) -> Parts:
        nodes, arcs = len(self.shape.first), len(self.shape.source)
        return Parts(self.shape, np.arange(nodes), nodes + np.arange(arcs), nodes, arcs)

    def node_parts_of(self, path: I32) -> tuple[I64, I64]:
        on = np.flatnonzero(path == 1)
        return on, self.owners[on]

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        """-1 between neighbours that no arc joins, and where a path begins or ends that may not."""
        from trellis.lattice.kernels.graph_paths import path_arcs

        on = np.flatnonzero(path == 1)
        owner = self.owners[on]
        inner = np.flatnonzero(np.diff(owner) == 0)
        found = np.empty(len(inner), np.int64)
        path_arcs(self.shape.start, self.shape.source, on[inner], on[inner + 1], found)
        starts = np.flatnonzero(np.diff(owner, prepend=-1) != 0)
        stops = np.flatnonzero(np.diff(owner, append=-1) != 0)
        wrong = np.concatenate([starts[~self.shape.first[on[starts]]], stops[~self.shape.last[on[stops]]]])
        empty = np.setdiff1d(np.flatnonzero(np.diff(self.offsets) > 0), owner)
        none = np.full(len(wrong) + len(empty), -1)
        return np.concatenate([found, none]), np.concatenate([owner[inner], owner[wrong], empty])

    def path_of(self, node_parts: I64) -> I32:
        path = np.zeros(len(self.shape.first), np.int32)
        path[node_parts] = 1
        return path

    def on_nodes(self, rows: F64) -> F64:
        """What is on a node that the path does not visit counts for nothing."""
        return np.ascontiguousarray(rows[:, 1])

    def on_labels(self, nodes: F64) -> F64:
        return np.stack([np.zeros_like(nodes), nodes], axis=1)

    @property
    def owners(self) -> I64:
        return np.repeat(np.arange(self.sentences), np.diff(self.offsets))

    def require_paths(self, totals: F64) -> None:
        if not np.isfinite(totals).all():
            self.graph()[1].require_paths(totals)

    def tokens_of(self, parts: Parts) -> I64:
        return np.arange(len(parts.of_nodes))

    def softened(self, soft: F64) -> Self:
        """The lattice whose paths go on from each node as the probabilities of the next ones, F64[nodes, 2], are to one
        another. Where any node leads to all that begin where it ends, and the probabilities are those of nodes of some
        distribution over paths, they are those of nodes here, too. (Products over a path would favour short ones.)"""
        shape = self.shape
        open_ = (self.node_scores > -np.inf) & (soft[:, 1] > 0.0)
        p = np.where(open_, soft[:, 1], 0.0)
        ways = np.where(self.arc_scores > -np.inf, p[shape.heads], 0.0)
        after = np.bincount(shape.source, weights=ways, minlength=len(p))
        begin = np.bincount(self.owners, weights=np.where(shape.first, p, 0.0), minlength=self.sentences)
        with np.errstate(divide="ignore", invalid="ignore"):
            nodes = np.where(open_, np.where(shape.first, np.log(p / begin[self.owners]), 0.0), -np.inf)
            arcs = np.where(ways > 0.0, np.log(ways / after[shape.source]), -np.inf)
        # what a path begins with is no matter of arcs
        again = np.where(shape.first & open_, nodes, 0.0)[shape.heads]
        return replace(self, node_scores=nodes, arc_scores=arcs - again)

    def solve(self) -> SolvedExplicit:
        parts, graph = self.graph()
        return SolvedExplicit(self, parts, graph.attempt())

    def sentence(self, s: int) -> Self:
        a, b = int(self.offsets[s]), int(self.offsets[s + 1])
        own = self.shape.part(s, s + 1)
        p, q = int(self.shape.start[a]), int(self.shape.start[b])
        return replace(
            self, node_scores=self.node_scores[a:b], arc_scores=self.arc_scores[p:q], offsets=own.offsets, shape=own
        )


@dataclass
class SolvedExplicit(SolvedParts):
    """The same after forward-backward."""

    def on_path(self, nodes: F64, path: I32) -> F64:
        return np.asarray(nodes[path == 1])

    def path_nodes(self, values: F64, path: I32) -> F64:
        nodes = np.zeros(len(path))
        nodes[path == 1] = values
        return nodes

    def sums(self, values: F64, path: I32) -> F64:
        owners = self.lattice.owners[path == 1]
        return np.bincount(owners, weights=values, minlength=self.lattice.sentences).astype(np.float64)
