"""Lattices by way of a graph after forward-backward: what training asks of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from trellis.lattice.chain import Covariance
from trellis.lattice.graph import F64, I32
from trellis.lattice.solved import ArcH, sums_of
from trellis.lattice.solved_graph import SolvedGraph

if TYPE_CHECKING:
    from trellis.lattice.parts import PartLattice, Parts


@dataclass
class SolvedParts:
    """A part lattice after forward-backward (see `Solved`)."""

    lattice: PartLattice
    parts: Parts
    graph: SolvedGraph

    @property
    def log_z(self) -> F64:
        return self.graph.log_z

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self.parts.gathered(*self._weighted(self.graph.nodes, self.graph.arcs, weights))

    def label_marginals(self) -> F64:
        """P(label) of every token, F64[tokens, labels]."""
        return self.lattice.on_labels(self.expected()[0])

    def node_marginals(self) -> F64:
        return self.expected()[0]

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        nodes, _ = self.expected()
        # several of the graph's nodes may be one node part, at one place in the text; an arc part is somewhere else in
        # the text each time
        _, arcs = self.parts.gathered(
            *self._weighted(self.graph.nodes, self.graph.arcs * (1.0 - self.graph.arcs), weights)
        )
        return self._each(weights)[self.lattice.owners] * nodes * (1.0 - nodes), arcs

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        found = self.graph.covariance(*self._spread(node_h, arc_h))
        nodes, arcs = self.parts.gathered(*self._weighted(found.nodes, found.arcs, weights))
        node_h[:] = nodes
        return Covariance(node_h, arcs, found.expectation)

    def third(self, node_h: F64, arc_h: ArcH | None, node_k: F64, arc_k: ArcH | None) -> Covariance:
        """How Cov[H, 1_e] changes when the scores do by k (see `kernels.third`)."""
        found = self.graph.third(*self._spread(node_h, arc_h), *self._spread(node_k, arc_k))
        return Covariance(*self.parts.gathered(found.nodes, found.arcs), np.zeros(0))

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        found = self.graph.covariance(*self._spread(node_h, arc_h))
        return self.on_path(self.parts.gathered(found.nodes, found.arcs)[0], path)

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.lattice.path_sums(node_h, self._arc_values(arc_h), path)

    def marginals_on(self, path: I32) -> F64:
        return self.on_path(self.expected()[0], path)

    def narrowed(self) -> Self:
        return self

    def sums(self, values: F64, path: I32) -> F64:
        return sums_of(values, self.lattice.offsets)

    def on_path(self, nodes: F64, path: I32) -> F64:
        return self.lattice.on_labels(nodes)[np.arange(len(path)), path]

    def path_nodes(self, values: F64, path: I32) -> F64:
        rows = np.zeros((len(path), self.lattice.labels))
        rows[np.arange(len(path)), path] = values
        return self.lattice.on_nodes(rows)

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        self.lattice.add_path(nodes, arcs, path, -self._each(weights))

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        less_nodes, less_arcs = self.lattice.softened(soft).solve().expected(weights)
        nodes -= less_nodes
        arcs -= less_arcs

    def _each(self, weights: F64 | None) -> F64:
        return np.ones(len(self.log_z)) if weights is None else weights

    def _weighted(self, nodes: F64, arcs: F64, weights: F64 | None) -> tuple[F64, F64]:
        """Numbers on the graph times the weight of their sentence."""
        if weights is None:
            return nodes, arcs
        shape = self.parts.shape
        per_node = np.repeat(weights, np.diff(shape.offsets))
        return nodes * per_node, arcs * per_node[shape.heads]

    def _spread(self, node_h: F64, arc_h: ArcH | None) -> tuple[F64, F64]:
        return self.parts.spread(node_h, self._arc_values(arc_h))

    def _arc_values(self, arc_h: ArcH | None) -> F64:
        assert arc_h is None or isinstance(arc_h, np.ndarray)
        return np.zeros(self.parts.arcs) if arc_h is None else arc_h
