"""Chains of first order over the allowed labels of each token, written out arc by arc.

As chains of windows of two tokens, but with one score for a pair of labels wherever it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.labels import first_tokens
from trellis.lattice.allowed import Allowed
from trellis.lattice.chain import Covariance
from trellis.lattice.graph import F64, I32, I64
from trellis.lattice.parts import PartLattice, Parts
from trellis.lattice.solved import ArcH
from trellis.lattice.solved_parts import SolvedParts
from trellis.lattice.windows import WindowChain, Windows


@dataclass
class PairChain(WindowChain):
    """`arc_scores: F64[labels * labels]`."""

    @classmethod
    def of(cls, scores: F64, allowed: Allowed, transitions: F64, offsets: I64) -> PairChain:
        return cls(scores, transitions.ravel(), offsets, Windows.of(1, allowed, offsets))

    def on_pairs(self, pairs: F64) -> F64:
        return pairs.ravel()

    best, marginals = PartLattice.best, PartLattice.marginals  # cells have no scores here

    def parts(self) -> Parts:
        parts, labels = super().parts(), self.windows.cell_labels().astype(np.int64)
        pair = labels[:, 0] * self.labels + labels[:, 1]
        return Parts(
            parts.shape, parts.of_nodes, parts.nodes + pair[parts.of_arcs - parts.nodes], parts.nodes, self.labels**2
        )

    def arc_parts_of(self, path: I32) -> tuple[I64, I64]:
        here = np.flatnonzero(~first_tokens(self.offsets))
        sentence = np.repeat(np.arange(self.sentences), np.diff(self.offsets))
        return path[here - 1].astype(np.int64) * self.labels + path[here], sentence[here]

    def solve(self) -> SolvedPairs:
        parts, graph = self.graph()
        return SolvedPairs(self, parts, graph.attempt())


class SolvedPairs(SolvedParts):
    """Arcs are F64[labels, labels]."""

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        nodes, arcs = super().expected(weights)
        return nodes, self._square(arcs)

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        nodes, arcs = super().variances(weights)
        return nodes, self._square(arcs)

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        found = super().covariance(node_h, arc_h, weights)
        return Covariance(found.nodes, self._square(found.arcs), found.expectation)

    def third(self, node_h: F64, arc_h: ArcH | None, node_k: F64, arc_k: ArcH | None) -> Covariance:
        found = super().third(node_h, arc_h, node_k, arc_k)
        return Covariance(found.nodes, self._square(found.arcs), found.expectation)

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        super().subtract_path(nodes, arcs.reshape(-1), path, weights)

    def _arc_values(self, arc_h: ArcH | None) -> F64:
        return super()._arc_values(arc_h).reshape(-1)

    def _square(self, arcs: F64) -> F64:
        return arcs.reshape(self.lattice.labels, self.lattice.labels)
