"""Chains whose tokens have few labels each: the same questions with the same answers as the full lattice with -inf
scores for what is not allowed, over the allowed labels alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from trellis.lattice.allowed import BOOL, Allowed
from trellis.lattice.chain import F64, I32, I64, Marginals
from trellis.lattice.pairs import PairChain, SolvedPairs
from trellis.lattice.restricted_solved import RestrictedSolved
from trellis.lattice.work import WorkChain

MANY = 128  # labels from which on full rows are mostly empty


@dataclass
class RestrictedWorkChain:
    """`scores: F64[places]`, one for each allowed label of each token (see `Allowed`); `transitions: F64[labels,
    labels]`; `offsets: I64[sentences + 1]`.

    The one score of a token without a choice is part of every path: it may be left at 0, which changes S(y) and log Z
    alike and no answer else.
    """

    scores: F64
    allowed: Allowed
    transitions: F64
    offsets: I64

    @property
    def labels(self) -> int:
        return len(self.transitions)

    def mean_scores(self, soft: F64) -> F64:
        return self._written_out.mean_scores(soft)

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]; -inf where a label is not allowed."""
        from trellis.lattice.kernels.restricted_paths import restricted_path_scores

        totals = np.empty(len(self.offsets) - 1)
        restricted_path_scores(self.scores, *self.allowed.for_loops, self.transitions, self.offsets, paths, totals)
        return totals

    def add_costs(self, gold: I32, costs: F64) -> None:
        token, label = self.allowed.sites
        self.scores += costs[gold[token], label]

    def constrained(self, known: BOOL, evidence: F64 | None = None) -> Self:
        scores = self.scores if evidence is None else self.scores + evidence[self.allowed.sites]
        return replace(self, scores=np.where(known[self.allowed.sites], scores, -np.inf))

    def best(self) -> tuple[I32, F64]:
        """The best path of each sentence, I32[tokens], and its score, F64[sentences] (-inf where there is none)."""
        from trellis.lattice.kernels.restricted_paths import restricted_best_paths

        paths, totals = np.empty(len(self.allowed), np.int32), np.empty(len(self.offsets) - 1)
        restricted_best_paths(self.scores, *self.allowed.for_loops, self.transitions, self.offsets, paths, totals)
        return paths, totals

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        from trellis.lattice.kernels.restricted_paths import subtract_restricted_path

        each = np.ones(len(self.offsets) - 1) if weights is None else weights
        nodes, arcs = np.zeros_like(self.scores), np.zeros_like(self.transitions)
        for path, weight in ((plus, -each), (minus, each)):
            subtract_restricted_path(nodes, *self.allowed.for_loops, arcs, self.offsets, path, weight)
        return nodes, arcs

    def marginals(self) -> Marginals:
        """log Z, nodes F64[places], expected transitions F64[labels, labels]; not finite as `WorkChain.marginals`."""
        from trellis.lattice.kernels.restricted import restricted_marginals

        nodes, log_z = np.empty_like(self.scores), np.empty(len(self.offsets) - 1)
        arcs, redo = np.zeros_like(self.transitions), np.empty(len(log_z), bool)
        restricted_marginals(
            self.scores, *self.allowed.for_loops, self.transitions, self.offsets, nodes, arcs, log_z, redo
        )
        if redo.any():
            self._redo(np.flatnonzero(redo), nodes, arcs, log_z)
        return Marginals(log_z, nodes, arcs)

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        """Takes a path with allowed labels away from what is expected: P - 1_path in place of P."""
        from trellis.lattice.kernels.restricted_paths import subtract_restricted_path

        assert answer.arcs is not None
        ones = np.ones(len(self.offsets) - 1)
        subtract_restricted_path(answer.nodes, *self.allowed.for_loops, answer.arcs, self.offsets, path, ones)

    def solve(self) -> RestrictedSolved | SolvedPairs:
        """Over full rows with -inf for what is not allowed: most questions beyond marginals are asked of them several
        times, and there are no exponentials in those. With many labels, over what is allowed alone."""
        if self.labels > MANY:
            return self._written_out.solve()
        rows = np.full((len(self.allowed), self.allowed.width), -np.inf)
        rows.ravel()[self.allowed.in_rows] = self.scores
        full = WorkChain(rows, self.transitions, self.offsets, rows.copy)
        return RestrictedSolved(full.solve(), self.allowed, self.offsets)

    @property
    def _written_out(self) -> PairChain:
        return PairChain.of(self.scores, self.allowed, self.transitions, self.offsets)

    def _redo(self, which: I64, nodes: F64, arcs: F64, log_z: F64) -> None:
        """These sentences in the log domain, as full lattices with -inf: rare, so exactness is all that counts."""
        from trellis.lattice.kernels.logdomain import log_marginals

        for s in which.tolist():
            a, b = int(self.offsets[s]), int(self.offsets[s + 1])
            here = slice(int(self.allowed.places[a]), int(self.allowed.places[b]))
            mask = self.allowed.part(a, b).mask()
            full = np.full(mask.shape, -np.inf)
            full[mask] = self.scores[here]
            ends, one = np.array([0, b - a]), np.zeros(1, np.int64)
            log_marginals(full, self.transitions[None], 0, ends, one, True, full, arcs[None], log_z[s : s + 1])
            nodes[here] = full[mask]
