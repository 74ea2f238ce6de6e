"""The log loss of labels known in part: log Z - log Z(paths that agree with what is known).

A token may be known to have one of some labels, or nothing may be known of it (Tsuboi et al. 2008). With one label
known at every token it is the log loss; with nothing known it is 0. Where evidence speaks for some labels more than for
others, paths agree as far as theirs do: e_t(j) from 0 to 1 for label j at token t, and

    log Z - log sum over y of exp(S(y)) prod_t e_t(y_t)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved
from trellis.losses.contract import F64, Answer, Loss, Target


@dataclass(frozen=True)
class SolvedTwice:
    """The lattice of all paths and that of the paths that agree with what is known."""

    all: Solved
    known: Solved


class PartialLogLoss(Loss):
    """dL/ds_e = P(e) - P(e | known); curvature Cov - Cov given what is known: the Hessian, which is not positive
    everywhere (a trust region minds that)."""

    name = "log"
    curvature_is = "the Hessian"
    narrows = True

    def keep(self, chain: TrainingChain, target: Target) -> SolvedTwice:
        assert target.known is not None
        known = chain.constrained(target.known, target.evidence).solve()
        return SolvedTwice(chain.solve(), known)

    def answer(self, kept: SolvedTwice, target: Target) -> Answer:
        nodes, arcs = kept.all.expected(target.weights)
        less_nodes, less_arcs = kept.known.expected(self._minus(kept, target))
        with np.errstate(invalid="ignore"):
            values = target.weighted(kept.all.log_z - kept.known.log_z)
        return Answer(values, nodes + less_nodes, arcs + less_arcs)

    def solved_in(self, kept: SolvedTwice) -> Solved | None:
        return kept.all

    def curvature(self, kept: SolvedTwice, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        less = kept.known.covariance(node_h.copy(), arc_h, self._minus(kept, target))
        covariance = kept.all.covariance(node_h, arc_h, target.weights)
        return covariance.nodes + less.nodes, covariance.arcs + less.arcs

    def narrowed(self, kept: SolvedTwice) -> SolvedTwice:
        return SolvedTwice(kept.all.narrowed(), kept.known.narrowed())

    def diagonal(self, kept: SolvedTwice, target: Target) -> tuple[F64, F64]:
        return kept.all.variances(target.weights)

    def _minus(self, kept: SolvedTwice, target: Target) -> F64:
        return -np.ones(len(kept.all.log_z)) if target.weights is None else -target.weights


class EvidenceLogLoss(PartialLogLoss):
    """The same with evidence in the target."""

    # both covariances are large where evidence speaks against the scores, and single precision loses the difference
    narrows = False
