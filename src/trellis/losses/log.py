"""The log loss (Altun's F1; a CRF's negative log-likelihood): log Z - S(y)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved
from trellis.losses.contract import F64, Answer, Loss, Target


@dataclass(frozen=True)
class SolvedWithPath:
    """A solved chain and S(y) of the gold paths, F64[sentences]."""

    solved: Solved
    gold: F64


class LogLoss(Loss):
    """dL/ds_e = P(e) - 1_e(y); curvature Cov, exact and positive."""

    name = "log"
    curvature_is = "the Hessian"
    narrows = True

    def value_and_gradient(self, chain: TrainingChain, target: Target) -> Answer:
        if target.weights is not None:
            return super().value_and_gradient(chain, target)
        self.prepare(chain, target)
        gold = chain.path_scores(target.path)
        answer = chain.marginals()
        chain.subtract_path(answer, target.path)
        assert answer.arcs is not None
        with np.errstate(invalid="ignore"):  # both may be infinite, see WorkChain.marginals
            return Answer(answer.log_z - gold, answer.nodes, answer.arcs)

    def prepare(self, chain: TrainingChain, target: Target) -> None:
        """Which change of scores the loss wants first: none."""

    def keep(self, chain: TrainingChain, target: Target) -> SolvedWithPath:
        self.prepare(chain, target)
        gold = chain.path_scores(target.path)
        return SolvedWithPath(chain.solve(), gold)

    def answer(self, kept: SolvedWithPath, target: Target) -> Answer:
        nodes, arcs = kept.solved.expected(target.weights)
        kept.solved.subtract_path(nodes, arcs, target.path, target.weights)
        with np.errstate(invalid="ignore"):
            return Answer(target.weighted(kept.solved.log_z - kept.gold), nodes, arcs)

    def solved_in(self, kept: SolvedWithPath) -> Solved | None:
        return kept.solved

    def curvature(self, kept: SolvedWithPath, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        covariance = kept.solved.covariance(node_h, arc_h, target.weights)
        return covariance.nodes, covariance.arcs

    def diagonal(self, kept: SolvedWithPath, target: Target) -> tuple[F64, F64]:
        return kept.solved.variances(target.weights)
