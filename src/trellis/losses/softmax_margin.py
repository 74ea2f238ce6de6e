"""The softmax-margin loss (Gimpel & Smith 2010): log sum exp [S(y') + cost(y', y)] - S(y).

The log loss of a lattice in which every mistake scores its cost more than it does: the gold path has to win by so much.
"""

from __future__ import annotations

from trellis.lattice import TrainingChain
from trellis.lattice.solved import Solved
from trellis.losses.contract import Target
from trellis.losses.log import LogLoss, SolvedWithPath


class SoftmaxMarginLoss(LogLoss):
    """cost(y', y) adds up `Target.costs` over the tokens where y' is wrong."""

    name = "softmax-margin"
    uses_costs = True

    def prepare(self, chain: TrainingChain, target: Target) -> None:
        chain.add_costs(target.path, target.cost_matrix(chain.labels))

    def solved_in(self, kept: SolvedWithPath) -> Solved | None:
        return None  # its scores have costs in them
