"""The log loss of soft labels: log Z - E_q[S] for a distribution q over labels at each token.

Tokens are taken to be independent under q: q(arc) is the product of its two nodes' probabilities. A distribution over
paths (`SoftPathLogLoss`) says itself how probable arcs are; a chain needs only their sum over each sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved, SolvedChain
from trellis.lattice.work import WorkChain
from trellis.losses.contract import F64, Answer, Loss, Target


@dataclass(frozen=True)
class SolvedWithMean:
    """A solved chain and E_q[S], F64[sentences]."""

    solved: Solved
    mean: F64


class SoftLogLoss(Loss):
    """dL/ds_e = P(e) - q(e); curvature Cov, exact and positive."""

    name = "log"
    curvature_is = "the Hessian"
    narrows = True

    def keep(self, chain: TrainingChain, target: Target) -> SolvedWithMean:
        assert target.soft is not None
        mean = chain.mean_scores(target.soft)
        return SolvedWithMean(chain.solve(), mean)

    def answer(self, kept: SolvedWithMean, target: Target) -> Answer:
        assert target.soft is not None
        nodes, arcs = kept.solved.expected(target.weights)
        kept.solved.subtract_soft(nodes, arcs, target.soft, target.weights)
        with np.errstate(invalid="ignore"):
            return Answer(target.weighted(kept.solved.log_z - kept.mean), nodes, arcs)

    def solved_in(self, kept: SolvedWithMean) -> Solved | None:
        return kept.solved

    def curvature(self, kept: SolvedWithMean, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        covariance = kept.solved.covariance(node_h, arc_h, target.weights)
        return covariance.nodes, covariance.arcs

    def diagonal(self, kept: SolvedWithMean, target: Target) -> tuple[F64, F64]:
        return kept.solved.variances(target.weights)


class SoftPathLogLoss(SoftLogLoss):
    """The same for q over paths, with `pairs` in the target: of chains of order 1 whose transitions are one matrix."""

    def keep(self, chain: TrainingChain, target: Target) -> SolvedWithMean:
        assert isinstance(chain, WorkChain)
        assert target.soft is not None
        assert target.pairs is not None
        mean = chain.mean_path_scores(target.soft, target.pairs)
        return SolvedWithMean(chain.solve(), mean)

    def answer(self, kept: SolvedWithMean, target: Target) -> Answer:
        assert isinstance(kept.solved, SolvedChain)
        assert target.soft is not None
        assert target.pairs is not None
        nodes, arcs = kept.solved.expected(target.weights)
        kept.solved.subtract_paths(nodes, arcs, target.soft, target.pairs, target.weights)
        with np.errstate(invalid="ignore"):
            return Answer(target.weighted(kept.solved.log_z - kept.mean), nodes, arcs)
