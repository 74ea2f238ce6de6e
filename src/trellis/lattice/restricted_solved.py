"""Chains over allowed labels after forward-backward: full rows answer, places are what comes and goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from trellis.lattice.allowed import Allowed
from trellis.lattice.chain import F64, I32, I64, Covariance
from trellis.lattice.solved import ArcH, Solved, sums_of


@dataclass
class RestrictedSolved:
    """`rows`: the same chain with -inf scores for what is not allowed. Nodes are F64[places] (see `Allowed`).

    A label that is not allowed has probability 0: `on_path` gives 0 for it, `path_nodes` has no place for it.
    """

    rows: Solved
    allowed: Allowed
    offsets: I64

    @property
    def log_z(self) -> F64:
        return self.rows.log_z

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        nodes, arcs = self.rows.expected(weights)
        return self._places(nodes), arcs

    def node_marginals(self) -> F64:
        return self._places(self.rows.node_marginals())

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        nodes, arcs = self.rows.variances(weights)
        return self._places(nodes), arcs

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        answer = self.rows.covariance(self._rows(node_h), arc_h, weights)
        node_h[:] = self._places(answer.nodes)
        return Covariance(node_h, answer.arcs, answer.expectation)

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.rows.covariance_on(self._rows(node_h), arc_h, path)

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.rows.path_sums(self._rows(node_h), arc_h, path)

    def marginals_on(self, path: I32) -> F64:
        return self.rows.marginals_on(path)

    def narrowed(self) -> Self:
        return replace(self, rows=self.rows.narrowed())

    def sums(self, values: F64, path: I32) -> F64:
        return sums_of(values, self.offsets)

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        """Over full rows: what is not allowed has no part in the distribution over paths."""
        full = np.zeros((len(self.allowed), self.allowed.width))
        full.ravel()[self.allowed.in_rows] = soft[self.allowed.sites]
        full /= full.sum(axis=1, keepdims=True)
        rows = np.zeros_like(full)
        self.rows.subtract_soft(rows, arcs, full[:, : self.allowed.size], weights)
        nodes += self._places(rows)

    def on_path(self, nodes: F64, path: I32) -> F64:
        at = self._on(path)
        return np.where(at >= 0, nodes[at], 0.0)

    def path_nodes(self, values: F64, path: I32) -> F64:
        nodes, at = np.zeros(len(self.allowed.in_rows)), self._on(path)
        nodes[at[at >= 0]] = values[at >= 0]
        return nodes

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        from trellis.lattice.kernels.restricted_paths import subtract_restricted_path

        each = np.ones(len(self.log_z)) if weights is None else weights
        subtract_restricted_path(nodes, *self.allowed.for_loops, arcs, self.offsets, path, each)

    def _rows(self, places: F64) -> F64:
        """F64[places] -> F64[tokens, width]."""
        rows = np.zeros((len(self.allowed), self.allowed.width))
        rows.ravel()[self.allowed.in_rows] = places
        return rows

    def _places(self, rows: F64) -> F64:
        return rows.ravel()[self.allowed.in_rows]

    def _on(self, path: I32) -> I64:
        """The place of each label on a path, I64[tokens]; -1 for none."""
        from trellis.lattice.kernels.restricted_paths import places_on_path

        at = np.empty(len(path), np.int64)
        places_on_path(*self.allowed.for_loops, path, at)
        return at
