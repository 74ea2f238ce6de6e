"""The pointwise losses (Altun's F3 and F4): of the marginal probability p_t = P(y_t) of each gold label by itself.

With phi(p) = -log p or 1 / p, dL/ds_e = sum_t phi'(p_t) dp_t/ds_e = Cov[H, 1_e] for h = phi'(p_t) on the gold node at t
(MATH sections 2 and 4): one covariance pass. They are not convex. In place of the Hessian the curvature is that of
Gauss and Newton, J^T diag(c_t) J with J = dp/ds, which is positive: c_t = 1 / p_t^2 for the logarithm, whose own second
derivative in p that is, and 2 / p_t^3 for the inverse. What is left out is the curvature of p_t itself. Small p_t weigh
most: lattices stay in double precision.

Training begins at the solution for the log loss, which is near and quickly found. (CoNLL-2002 Spanish, Altun's S1,
l2 = 0.1, the logarithm, to a tolerance of 1e-3: L-BFGS is at 23,603 after 330 evaluations from zero; with the diagonal
of the curvature it ends at 19,388 after 127 from zero, and at 19,382 after 53 from there.)

A probability below 1e-140 makes the loss infinite: its derivatives would overflow, and a step that leads there is a
step too far.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved
from trellis.losses.contract import F64, Answer, Loss, Target

_TOO_FAR = 1e-140


@dataclass(frozen=True)
class SolvedWithMarginals:
    """A solved chain and p_t for the places of the gold path."""

    solved: Solved
    p: F64


class PointwiseLoss(Loss):
    """`Target.costs` are the weights of tokens."""

    curvature_is = "Gauss and Newton's matrix"
    uses_costs = True
    begins_with = "log"

    def keep(self, chain: TrainingChain, target: Target) -> SolvedWithMarginals:
        solved = chain.solve()
        return SolvedWithMarginals(solved, solved.marginals_on(target.path))

    def answer(self, kept: SolvedWithMarginals, target: Target) -> Answer:
        gone = ~(kept.p >= _TOO_FAR)
        p = np.where(gone, 1.0, kept.p)
        value, slope = self.value_and_slope(p)
        costs = target.token_costs()
        values = kept.solved.sums(np.where(gone & (np.asarray(costs) > 0.0), np.inf, costs * value), target.path)
        values = np.where(np.isfinite(kept.solved.log_z), values, np.inf)
        h = kept.solved.path_nodes(np.where(gone, 0.0, costs * slope), target.path)
        covariance = kept.solved.covariance(h, None, target.weights)
        return Answer(target.weighted(values), covariance.nodes, covariance.arcs)

    def solved_in(self, kept: SolvedWithMarginals) -> Solved | None:
        return kept.solved

    def curvature(self, kept: SolvedWithMarginals, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        change = kept.solved.covariance_on(node_h, arc_h, target.path)
        bent = self.second(np.maximum(kept.p, _TOO_FAR ** (1 / 3)))
        h = kept.solved.path_nodes(target.token_costs() * bent * change, target.path)
        covariance = kept.solved.covariance(h, None, target.weights)
        return covariance.nodes, covariance.arcs

    def diagonal(self, kept: SolvedWithMarginals, target: Target) -> tuple[F64, F64]:
        return kept.solved.variances(target.weights)

    @abstractmethod
    def value_and_slope(self, p: F64) -> tuple[F64, F64]:
        """phi(p) and phi'(p)."""

    @abstractmethod
    def second(self, p: F64) -> F64:
        """phi''(p)."""


class PointwiseLogLoss(PointwiseLoss):
    """- sum_t log P(y_t)."""

    name = "pointwise-log"

    def value_and_slope(self, p: F64) -> tuple[F64, F64]:
        return -np.log(p), -1.0 / p

    def second(self, p: F64) -> F64:
        return 1.0 / (p * p)


class PointwiseExpLoss(PointwiseLoss):
    """sum_t 1 / P(y_t)."""

    name = "pointwise-exp"

    def value_and_slope(self, p: F64) -> tuple[F64, F64]:
        return 1.0 / p, -1.0 / (p * p)

    def second(self, p: F64) -> F64:
        return 2.0 / (p * p * p)
