"""The hinge loss (hidden Markov SVM, Altun et al. 2003; max-margin): max over y' of [S(y') + cost(y', y)] - S(y)."""

from __future__ import annotations

import numpy as np

from trellis.lattice import TrainingChain
from trellis.losses.contract import Answer, Loss, Target


class HingeLoss(Loss):
    """A subgradient is 1_e(y*) - 1_e(y) for the best path y* of the lattice with costs. Convex, but not smooth: it has
    no curvature, and line searches may end at a kink before the minimum, sometimes at zero weights already: training
    begins at the solution for its smooth cousin. (A quarter of CoNLL-2000, l2 = 1, 1,000 iterations of L-BFGS: 583.5
    from zero, 581.8 from there.)"""

    name = "hinge"
    uses_costs = True
    begins_with = "softmax-margin"

    def keep(self, chain: TrainingChain, target: Target) -> Answer:
        chain.add_costs(target.path, target.cost_matrix(chain.labels))
        return self.against_best(chain, target)

    @staticmethod
    def against_best(chain: TrainingChain, target: Target) -> Answer:
        """The best path's score over that of the gold path."""
        best, total = chain.best()
        nodes, arcs = chain.path_gradient(best, target.path, target.weights)
        with np.errstate(invalid="ignore"):
            # a path is no better than the best: less than 0 is rounding
            return Answer(target.weighted(np.maximum(total - chain.path_scores(target.path), 0.0)), nodes, arcs)

    def answer(self, kept: Answer, target: Target) -> Answer:
        return kept
