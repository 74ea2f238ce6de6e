"""The exponential loss (Altun's F2): exp(l) - 1 with l = log Z - S(y), that is 1 / P(y) - 1.

At theta = 0, l is the length of the sentence times log L: 2,700 for the longest of CoNLL-2002 Spanish, where exp(l) has
no number. Beyond l = 50 the loss goes on along its tangent, exp(50) (1 + l - 50) - 1: it stays convex, has one
derivative and is finite for any sentence. Where every sentence has P(y) >= exp(-50), as at the minimum on real data,
value and minimum are those of the exponential loss itself.

Training begins at the solution for the log loss. From zero, and from far away, the sentences that are longest outweigh
all others by many powers of ten, and the objective falls by little more than a factor of e in an iteration. (CoNLL-2002
Spanish, Altun's S3, l2 = 1, L-BFGS: from zero 2.9e15 after 200 iterations; from the log loss' solution, where the worst
sentence has l = 26, 2.9e4 after 300. At the minimum, 2.82e4, the worst has l = 8.6.)
"""

from __future__ import annotations

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH
from trellis.losses.contract import F64, Answer, Target
from trellis.losses.log import LogLoss, SolvedWithPath

STRAIGHT_FROM = 50.0


class ExpLoss(LogLoss):
    """dL/ds_e = exp(l) (P(e) - 1_e(y)); curvature exp(l) (Cov + g g^T) with g = P - 1(y), exact and positive."""

    name = "exp"
    begins_with = "log"
    narrows = False  # exp(l) makes much of what rounding leaves of the covariances of improbable paths

    def value_and_gradient(self, chain: TrainingChain, target: Target) -> Answer:
        return self.answer(self.keep(chain, target), target)

    def answer(self, kept: SolvedWithPath, target: Target) -> Answer:
        with np.errstate(invalid="ignore"):
            excess = kept.solved.log_z - kept.gold
        slope = _slope(excess)
        straight = slope * (1.0 + excess - STRAIGHT_FROM) - 1.0
        values = np.where(excess < STRAIGHT_FROM, np.expm1(np.minimum(excess, STRAIGHT_FROM)), straight)
        weights = target.weighted(slope)
        nodes, arcs = kept.solved.expected(weights)
        kept.solved.subtract_path(nodes, arcs, target.path, weights)
        return Answer(target.weighted(values), nodes, arcs)

    def curvature(self, kept: SolvedWithPath, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        excess = kept.solved.log_z - kept.gold
        slope = target.weighted(_slope(excess))
        on_gold = kept.solved.path_sums(node_h, arc_h, target.path)
        covariance = kept.solved.covariance(node_h, arc_h, slope)
        # g^T h = E[H] - H(y); no curvature of this kind where the loss is straight
        along = np.where(excess < STRAIGHT_FROM, slope * (covariance.expectation - on_gold), 0.0)
        nodes, arcs = kept.solved.expected(along)
        kept.solved.subtract_path(nodes, arcs, target.path, along)
        return covariance.nodes + nodes, covariance.arcs + arcs

    def diagonal(self, kept: SolvedWithPath, target: Target) -> tuple[F64, F64]:
        return kept.solved.variances(target.weighted(_slope(kept.solved.log_z - kept.gold)))


def _slope(excess: F64) -> F64:
    return np.exp(np.minimum(excess, STRAIGHT_FROM))
