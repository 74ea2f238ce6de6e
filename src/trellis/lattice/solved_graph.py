"""Graphs after forward-backward, by conditional probabilities, which no score is too large or too small for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.errors import DataError
from trellis.lattice.shape import BOOL, F64, Shape

_AT_ONCE = 1 << 20  # random numbers


@dataclass(frozen=True)
class GraphMarginals:
    """`log_z: F64[sentences]`; `nodes: F64[nodes]` and `arcs: F64[arcs]`, the probability that a path goes there."""

    log_z: F64
    nodes: F64
    arcs: F64


@dataclass(frozen=True)
class GraphCovariance:
    """Cov[H, 1_v] F64[nodes], Cov[H, 1_e] F64[arcs], E[H] F64[sentences]."""

    nodes: F64
    arcs: F64
    expectation: F64


@dataclass(frozen=True)
class SolvedGraph:
    """A graph after forward-backward: `log_z`, P(v) `nodes`, P(e) `arcs`, and the conditional probabilities of which
    they are products: `given` P(e | v), `begin` P(begin | v), `end` P(end at v)."""

    shape: Shape
    log_z: F64
    nodes: F64
    arcs: F64
    given: F64
    begin: F64
    end: F64

    def covariance(self, node_h: F64, arc_h: F64 | None = None) -> GraphCovariance:
        from trellis.lattice.kernels.graph import covariance

        arc_h = self._checked(node_h, arc_h)
        nodes, arcs, expectation = np.empty_like(self.nodes), np.empty_like(self.arcs), np.empty_like(self.log_z)
        covariance(
            self.shape.start, self.shape.source, self.shape.offsets, self.given, self.end, self.nodes, self.arcs,
            node_h, arc_h, nodes, arcs, expectation,
        )  # fmt: skip
        return GraphCovariance(nodes, arcs, expectation)

    def third(self, node_h: F64, arc_h: F64, node_k: F64, arc_k: F64) -> GraphCovariance:
        """How `covariance` of h changes when the scores do by k (see `kernels.third`)."""
        from trellis.lattice.kernels.third import graph_third

        nodes, arcs = np.empty_like(self.nodes), np.empty_like(self.arcs)
        graph_third(
            self.shape.start, self.shape.source, self.shape.offsets, self.given, self.end, self.nodes, self.arcs,
            node_h, arc_h, node_k, arc_k, nodes, arcs,
        )  # fmt: skip
        return GraphCovariance(nodes, arcs, np.zeros(0))

    def expectation(self, node_h: F64, arc_h: F64 | None = None) -> F64:
        arc_h = self._checked(node_h, arc_h)
        into = np.bincount(self.shape.heads, weights=_products(self.arcs, arc_h), minlength=len(self.nodes))
        return self.shape.sums(_products(self.nodes, node_h) + into)

    def sample(self, count: int, rng: np.random.Generator) -> BOOL:
        from trellis.lattice.kernels.graph import draw_paths

        on, shape = np.zeros((count, len(self.nodes)), bool), self.shape
        some = max(1, _AT_ONCE // max(1, len(self.nodes)))  # random numbers take eight times the room of paths
        for k in range(0, count, some):
            own = on[k : k + some]
            uniform, uniform_end = rng.random(own.shape), rng.random((len(own), shape.sentences))
            draw_paths(
                shape.start, shape.source, shape.offsets, self.given, self.begin, self.end, uniform, uniform_end, own
            )  # fmt: skip
        return on

    def entropy(self) -> F64:
        from trellis.lattice.kernels.graph import entropies

        entropy = np.empty_like(self.log_z)
        entropies(self.shape.start, self.shape.offsets, self.given, self.begin, self.end, self.nodes, entropy)
        return entropy

    def _checked(self, node_h: F64, arc_h: F64 | None) -> F64:
        arc_h = np.zeros(len(self.arcs)) if arc_h is None else arc_h
        if node_h.shape != self.nodes.shape or arc_h.shape != self.arcs.shape:
            raise DataError(
                f"h of shapes {node_h.shape} and {arc_h.shape} does not fit {len(self.nodes)} nodes, "
                f"{len(self.arcs)} arcs"
            )
        return arc_h


def _products(p: F64, h: F64) -> F64:
    """p h; nothing where p is 0, not even if h is infinite."""
    return np.multiply(p, h, out=np.zeros_like(p), where=p > 0.0)
