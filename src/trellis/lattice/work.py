"""A chain in memory that is used up: for training, where scores are made, asked one question and dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trellis.lattice.chain import F64, I32, I64, Marginals, in_place_marginals
from trellis.lattice.solved import Solved, SolvedChain


class TrainingChain(Protocol):
    """What a loss may ask. Nodes are laid out as the chain's scores are. Scores are used up by `marginals` and `solve`,
    so that only one of these is asked, once, and last."""

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]."""
        ...

    def add_costs(self, gold: I32, costs: F64) -> None:
        """Adds costs[gold[t], j], F64[labels, labels], to the score of label j at token t."""
        ...

    def constrained(self, known: NDArray[np.bool_]) -> TrainingChain:
        """The chain of those paths whose labels are all known, BOOL[tokens, labels], with memory of its own."""
        ...

    def best(self) -> tuple[I32, F64]:
        """The best path of each sentence, I32[tokens], and its score, F64[sentences]."""
        ...

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        """1 on the nodes and transitions of one path and -1 on those of another, times the sentences' weights."""
        ...

    def marginals(self) -> Marginals: ...

    def subtract_path(self, answer: Marginals, path: I32) -> None: ...

    def solve(self) -> Solved: ...


@dataclass
class WorkChain:
    """`scores: F64[tokens, width]`, labels rounded up to a multiple of four, -inf in the padding; `transitions:
    F64[labels, labels]`; `offsets: I64[sentences + 1]`. `rescore()` makes the scores again, in fresh memory."""

    scores: F64
    transitions: F64
    offsets: I64
    rescore: Callable[[], F64]

    def path_scores(self, paths: I32) -> F64:
        from trellis.lattice.kernels.paths import path_scores

        totals = np.empty(len(self.offsets) - 1)
        path_scores(self.scores, self.transitions[None], 0, self.offsets, paths, totals)
        return totals

    def add_costs(self, gold: I32, costs: F64) -> None:
        rescore, labels = self.rescore, len(costs)

        def with_costs() -> F64:
            scores = rescore()
            scores[:, :labels] += costs[gold]
            return scores

        self.scores[:, :labels] += costs[gold]
        self.rescore = with_costs

    def constrained(self, known: NDArray[np.bool_]) -> Self:
        scores = self.scores.copy()
        scores[:, : known.shape[1]][~known] = -np.inf
        return replace(self, scores=scores, rescore=scores.copy().copy)

    def best(self) -> tuple[I32, F64]:
        from trellis.lattice.kernels.best import best_paths

        paths, totals = np.zeros(len(self.scores), np.int32), np.empty(len(self.offsets) - 1)
        best_paths(self.scores, self.transitions[None], 0, self.offsets, paths, totals)
        return paths, totals

    def path_gradient(self, plus: I32, minus: I32, weights: F64 | None) -> tuple[F64, F64]:
        from trellis.lattice.kernels.paths import subtract_path

        each = np.ones(len(self.offsets) - 1) if weights is None else weights
        nodes, arcs = np.zeros_like(self.scores), np.zeros_like(self.transitions)
        subtract_path(nodes, arcs[None], 0, self.offsets, plus, -each)
        subtract_path(nodes, arcs[None], 0, self.offsets, minus, each)
        return nodes, arcs

    def marginals(self) -> Marginals:
        """log Z, nodes F64[tokens, width] in the memory of the scores, expected transitions F64[labels, labels].

        Where scores overflow, log Z is not finite: a line search that went too far tries a shorter step.
        """
        log_z = np.empty(len(self.offsets) - 1)
        arcs = np.zeros_like(self.transitions)
        redo = in_place_marginals(self.scores, self.transitions, self.offsets, True, arcs, log_z)
        if len(redo):
            from trellis.lattice.kernels.logdomain import log_marginals

            scores = self.rescore()
            log_marginals(scores, self.transitions[None], 0, self.offsets, redo, True, self.scores, arcs[None], log_z)
        return Marginals(log_z, self.scores, arcs)

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        """Takes a path away from what is expected: P - 1_path in place of P."""
        from trellis.lattice.kernels.paths import subtract_path

        assert answer.arcs is not None
        ones = np.ones(len(self.offsets) - 1)
        subtract_path(answer.nodes, answer.arcs[None], 0, self.offsets, path, ones)

    def solve(self) -> Solved:
        """Forward-backward with what it leaves behind, in memory of its own."""
        from trellis.lattice.kernels.logdomain import log_marginals
        from trellis.lattice.kernels.scaled import scaled_marginals

        log_z, redo = np.empty(len(self.offsets) - 1), np.zeros(len(self.offsets) - 1, bool)
        lengths = np.diff(self.offsets)
        order = np.argsort(lengths, kind="stable")
        # groups of four, the longest of each last; what is left over makes one more
        longest = lengths[order[np.minimum(np.arange(3, len(order) + 3, 4), len(order) - 1)]]
        base = np.concatenate([[0], np.cumsum(4 * longest)]).astype(np.int64)
        alpha, beta, step = (np.empty((int(base[-1]), self.scores.shape[1])) for _ in range(3))
        arcs, nodes = np.zeros_like(self.transitions), np.empty_like(self.scores)
        scaled_marginals(
            self.scores, self.transitions, self.offsets, order, True, nodes, arcs, log_z, redo, base, alpha, beta, step
        )
        which = np.flatnonzero(redo)
        apart = {}
        if len(which):
            log_marginals(self.scores, self.transitions[None], 0, self.offsets, which, True, nodes, arcs[None], log_z)
            for s in which.tolist():
                here = slice(int(self.offsets[s]), int(self.offsets[s + 1]))
                if log_z[s] == -np.inf:  # without a path nothing has been written
                    nodes[here] = 0.0
                apart[s] = self.scores[here].copy(), nodes[here].copy()
        return SolvedChain(log_z, self.transitions, self.offsets, order, base, alpha, beta, step, arcs, apart)
