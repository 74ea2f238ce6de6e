"""Chains of order zero: the labels of tokens do not depend on one another, and every token is a lattice of its own.

A sentence's probability is the product of its tokens', so that all questions come down to rows:

    P(y_t = j) = exp(s_t[j]) / sum_k exp(s_t[k])        Cov[H, 1_(t,j)] = P(y_t = j) (h_t[j] - E[h_t])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile
from trellis.lattice.chain import F64, I32, I64, Covariance, Marginals
from trellis.lattice.plain import log_sum, softmax
from trellis.lattice.solved import ArcH, NodesInRows, renormalised, sums_of

BOOL = NDArray[np.bool_]

_NO_ARCS = np.zeros((0, 0))


@dataclass
class LocalChain:
    """`scores: F64[tokens, width]`, at least as wide as there are `labels`; padding is not read."""

    scores: F64
    labels: int
    offsets: I64

    def path_scores(self, paths: I32) -> F64:
        return sums_of(self.scores[np.arange(len(paths)), paths], self.offsets)

    def mean_scores(self, soft: F64) -> F64:
        soft = renormalised(soft, self._open)
        each = np.where(soft > 0.0, self.scores[:, : self.labels], 0.0)
        return sums_of(np.einsum("tj,tj->t", soft, each), self.offsets)

    def add_costs(self, gold: I32, costs: F64) -> None:
        self.scores[:, : self.labels] += costs[gold]

    def constrained(self, known: BOOL, evidence: F64 | None = None) -> Self:
        scores = self.scores.copy()
        if evidence is not None:
            scores[:, : self.labels] += evidence
        scores[:, : self.labels][~known] = -np.inf
        return replace(self, scores=scores)

    def best(self) -> tuple[I32, F64]:
        paths = self.scores[:, : self.labels].argmax(axis=1).astype(np.int32)
        return paths, self.path_scores(paths)

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        nodes = np.zeros_like(self.scores)
        each = _of_tokens(weights, self.offsets)
        nodes[np.arange(len(plus)), plus] += each
        nodes[np.arange(len(minus)), minus] -= each
        return nodes, _NO_ARCS

    def marginals(self) -> Marginals:
        """Nodes are in the memory of the scores."""
        log_sums = self._into(self.scores)
        return Marginals(sums_of(log_sums, self.offsets), self.scores, _NO_ARCS)

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        answer.nodes[np.arange(len(path)), path] -= 1.0

    def solve(self) -> SolvedLocal:
        nodes = np.empty_like(self.scores)
        return SolvedLocal(sums_of(self._into(nodes), self.offsets), nodes, self.labels, self.offsets, self._open)

    @property
    def _open(self) -> BOOL:
        return np.asarray(self.scores[:, : self.labels] > -np.inf)

    def _into(self, nodes: F64) -> F64:
        if not worthwhile(len(self.scores)):
            rows = self.scores[:, : self.labels].copy()
            nodes.fill(0.0)
            nodes[:, : self.labels] = softmax(rows, axis=1)
            return log_sum(rows, axis=1)
        from trellis.lattice.kernels.local import row_marginals

        log_sums = np.empty(len(self.scores))
        row_marginals(self.scores, self.labels, nodes, log_sums)
        return log_sums


@dataclass
class SolvedLocal(NodesInRows):
    """P(label) of every token, `nodes: F64[tokens, width]`; `open: BOOL[tokens, labels]`, what was not forbidden."""

    log_z: F64
    nodes: F64
    labels: int
    offsets: I64
    open: BOOL

    @property
    def width(self) -> int:
        return int(self.nodes.shape[1])

    def expected(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self.nodes * _of_tokens(weights, self.offsets)[:, None], _NO_ARCS

    def node_marginals(self) -> F64:
        return self.nodes

    def variances(self, weights: F64 | None = None) -> tuple[F64, F64]:
        return self.nodes * (1.0 - self.nodes) * _of_tokens(weights, self.offsets)[:, None], _NO_ARCS

    def covariance(self, node_h: F64, arc_h: ArcH | None, weights: F64 | None = None) -> Covariance:
        node_h[:, self.labels :] = 0.0
        means = np.einsum("tj,tj->t", self.nodes, node_h)
        node_h -= means[:, None]
        node_h *= self.nodes
        node_h *= _of_tokens(weights, self.offsets)[:, None]
        return Covariance(node_h, _NO_ARCS, sums_of(means, self.offsets))

    def third(self, node_h: F64, arc_h: ArcH | None, node_k: F64, arc_k: ArcH | None) -> Covariance:
        """How Cov[H, 1_e] changes when the scores do by k: P (h - E[h]) (k - E[k]) less its mean."""
        h = node_h - np.einsum("tj,tj->t", self.nodes, node_h)[:, None]
        k = node_k - np.einsum("tj,tj->t", self.nodes, node_k)[:, None]
        both = np.einsum("tj,tj,tj->t", self.nodes, h, k)[:, None]
        return Covariance(self.nodes * (h * k - both), _NO_ARCS, np.zeros(0))

    def covariance_on(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return self.on_path(self.covariance(node_h, arc_h).nodes, path)

    def path_sums(self, node_h: F64, arc_h: ArcH | None, path: I32) -> F64:
        return sums_of(self.on_path(node_h, path), self.offsets)

    def marginals_on(self, path: I32) -> F64:
        return self.on_path(self.nodes, path)

    def narrowed(self) -> Self:
        return self

    def sums(self, values: F64, path: I32) -> F64:
        return sums_of(values, self.offsets)

    def subtract_path(self, nodes: F64, arcs: F64, path: I32, weights: F64 | None = None) -> None:
        nodes[np.arange(len(path)), path] -= _of_tokens(weights, self.offsets)

    def subtract_soft(self, nodes: F64, arcs: F64, soft: F64, weights: F64 | None = None) -> None:
        nodes[:, : self.labels] -= renormalised(soft, self.open) * _of_tokens(weights, self.offsets)[:, None]


def _of_tokens(weights: F64 | None, offsets: I64) -> F64:
    """The weight of each token's sentence, F64[tokens]."""
    return np.ones(int(offsets[-1])) if weights is None else np.repeat(weights, np.diff(offsets))
