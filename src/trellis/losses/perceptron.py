"""The perceptron's loss (Collins 2002): max over y' of S(y') - S(y), 0 where the gold path is the best."""

from __future__ import annotations

from trellis.lattice import TrainingChain
from trellis.losses.contract import Answer, Target
from trellis.losses.hinge import HingeLoss


class PerceptronLoss(HingeLoss):
    """The hinge loss without a margin. Weights of zero are at its minimum: it is for the perceptron, which minimises it
    by single sentences and ends before."""

    name = "perceptron"
    uses_costs = False

    def keep(self, chain: TrainingChain, target: Target) -> Answer:
        return self.against_best(chain, target)
