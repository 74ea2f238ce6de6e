"""A chain in memory that is used up: for training, where scores are made, asked one question and dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens
from trellis.lattice.chain import F64, I32, I64, Covariance, Marginals, in_place_marginals
from trellis.lattice.solved import Solved, SolvedChain, sums_of
from trellis.rows import PAD


class TrainingChain(Protocol):
    """What a loss may ask. Nodes are laid out as the chain's scores are. Scores are used up by `marginals`, which is
    asked last."""

    @property
    def labels(self) -> int: ...

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]."""
        ...

    def mean_scores(self, soft: F64) -> F64:
        """E[S] of each sentence under distributions over labels, F64[tokens, labels], of independent tokens."""
        ...

    def add_costs(self, gold: I32, costs: F64) -> None:
        """Adds costs[gold[t], j], F64[labels, labels], to the score of label j at token t."""
        ...

    def constrained(self, known: NDArray[np.bool_], evidence: F64 | None = None) -> TrainingChain:
        """The chain of the paths whose labels are among the known ones, BOOL[tokens, labels], in memory of its own;
        with what speaks for each label, logarithms F64[tokens, labels], added to its score."""
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
    """`scores: F64[tokens, width]`, labels rounded up to whole registers (`rows.padded`), -inf in the padding;
    `transitions: F64[labels, labels]`; `offsets: I64[sentences + 1]`. `rescore()` makes the scores again, in fresh
    memory. `space` is memory for what `solve` keeps, which grows as needed: whoever gives the same list to another
    chain must be done with what the first one kept."""

    scores: F64
    transitions: F64
    offsets: I64
    rescore: Callable[[], F64]
    space: list[F64] = field(default_factory=list, kw_only=True)

    def __post_init__(self) -> None:
        assert self.scores.shape[1] % PAD == 0, "kernels read whole registers"

    @property
    def labels(self) -> int:
        return len(self.transitions)

    def mean_scores(self, soft: F64) -> F64:
        # a label that is forbidden and has no probability adds nothing
        each = np.where(soft > 0.0, self.scores[:, : self.labels], 0.0)
        totals = np.einsum("tj,tj->t", soft, each)
        inner = np.flatnonzero(~first_tokens(self.offsets))
        totals[inner] += np.einsum("ti,ij,tj->t", soft[inner - 1], self.transitions, soft[inner])
        return sums_of(totals, self.offsets)

    def mean_path_scores(self, soft: F64, pairs: F64) -> F64:
        """E[S] of each sentence under a distribution over its paths: P(label) of each token, F64[tokens, labels], and
        how often one label is expected to follow another, F64[sentences, labels, labels]."""
        each = np.where(soft > 0.0, self.scores[:, : self.labels], 0.0)
        nodes = sums_of(np.einsum("tj,tj->t", soft, each), self.offsets)
        return np.asarray(nodes + np.einsum("sij,ij->s", pairs, self.transitions))

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

    def constrained(self, known: NDArray[np.bool_], evidence: F64 | None = None) -> Self:
        scores = self.scores.copy()
        if evidence is not None:
            scores[:, : known.shape[1]] += evidence
        scores[:, : known.shape[1]][~known] = -np.inf
        return replace(self, scores=scores, rescore=scores.copy().copy, space=[])

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

    def dual_marginals(self, node_h: F64, arc_h: F64, weights: F64 | None = None) -> Covariance:
        """Cov[H, 1_e] as the derivative of forward-backward along h (see `kernels.dual`): what `solve` and `covariance`
        give, in one pass that keeps nothing. Nodes are in the memory of node_h."""
        from trellis.lattice.kernels.dual import dual_marginals
        from trellis.lattice.kernels.logdomain import covariance

        sentences = len(self.offsets) - 1
        each = np.ones(sentences) if weights is None else weights
        arcs, expectation, redo = np.zeros_like(self.transitions), np.zeros(sentences), np.zeros(sentences, bool)
        order = np.argsort(np.diff(self.offsets), kind="stable")
        node_h[:, self.labels :] = 0.0
        dual_marginals(
            self.scores, self.transitions, self.offsets, order, node_h, arc_h, each, node_h, arcs, expectation, redo
        )
        for s in np.flatnonzero(redo).tolist():
            here = slice(int(self.offsets[s]), int(self.offsets[s + 1]))
            h, added, ends = node_h[here].copy(), np.zeros((1, *arcs.shape)), np.array([0, here.stop - here.start])
            scores, found = self.scores[here], np.zeros_like(h)
            covariance(scores, self.transitions[None], 0, ends, h, arc_h[None], 0, found, added, expectation[s : s + 1])
            node_h[here] = each[s] * found
            arcs += each[s] * added[0]
        return Covariance(node_h, arcs, expectation)

    def subtract_path(self, answer: Marginals, path: I32) -> None:
        """Takes a path away from what is expected: P - 1_path in place of P."""
        from trellis.lattice.kernels.paths import subtract_path

        assert answer.arcs is not None
        ones = np.ones(len(self.offsets) - 1)
        subtract_path(answer.nodes, answer.arcs[None], 0, self.offsets, path, ones)

    def solve(self) -> Solved:
        """Forward-backward with what it leaves behind."""
        from trellis.lattice.kernels.logdomain import log_marginals
        from trellis.lattice.kernels.scaled import scaled_marginals

        log_z, redo = np.empty(len(self.offsets) - 1), np.zeros(len(self.offsets) - 1, bool)
        lengths = np.diff(self.offsets)
        order = np.argsort(lengths, kind="stable")
        # groups of four, the longest of each last; what is left over makes one more
        longest = lengths[order[np.minimum(np.arange(3, len(order) + 3, 4), len(order) - 1)]]
        base = np.concatenate([[0], np.cumsum(4 * longest)]).astype(np.int64)
        rows, arcs = int(base[-1]), np.zeros_like(self.transitions)
        if not self.space or self.space[0].shape[0] < rows:
            self.space[:] = [np.empty((rows, self.scores.shape[1])) for _ in range(4)]
        alpha, beta, step, unused = (kept[:rows] for kept in self.space)
        nodes = unused[: len(self.scores)]
        for kept in (alpha, beta, step):
            kept.fill(0.0)
        scaled_marginals(
            self.scores, self.transitions, self.offsets, order, True, nodes, arcs, log_z, redo, base, alpha, beta, step
        )
        which, apart = np.flatnonzero(redo), {}
        if len(which):
            log_marginals(self.scores, self.transitions[None], 0, self.offsets, which, True, nodes, arcs[None], log_z)
            for s in which.tolist():
                here = slice(int(self.offsets[s]), int(self.offsets[s + 1]))
                if log_z[s] == -np.inf:  # without a path nothing has been written
                    nodes[here] = 0.0
                apart[s] = self.scores[here].copy(), nodes[here].copy()
        return SolvedChain(log_z, self.transitions, self.offsets, order, base, alpha, beta, step, arcs, apart)
