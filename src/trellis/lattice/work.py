"""A chain in memory that is used up: for training, where scores are made, asked one question and dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trellis.lattice.chain import F64, I32, I64, Marginals, in_place_marginals


class TrainingChain(Protocol):
    """What a loss may ask. Nodes are laid out as the chain's scores are; each question is asked once."""

    def path_scores(self, paths: I32) -> F64: ...

    def marginals(self) -> Marginals: ...

    def subtract_path(self, answer: Marginals, path: I32) -> None: ...


@dataclass
class WorkChain:
    """`scores: F64[tokens, width]`, labels rounded up to a multiple of four, -inf in the padding; `transitions:
    F64[labels, labels]`; `offsets: I64[sentences + 1]`. `rescore()` makes the scores again, in fresh memory."""

    scores: F64
    transitions: F64
    offsets: I64
    rescore: Callable[[], F64]

    def path_scores(self, paths: I32) -> F64:
        """S(y) of one path a sentence, F64[sentences]. To be asked before the scores are used up."""
        from trellis.lattice.kernels.paths import path_scores

        totals = np.empty(len(self.offsets) - 1)
        path_scores(self.scores, self.transitions[None], 0, self.offsets, paths, totals)
        return totals

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
        subtract_path(answer.nodes, answer.arcs[None], 0, self.offsets, path)
