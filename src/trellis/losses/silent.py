"""No loss at all: of lattices that only others learn from."""

from __future__ import annotations

import numpy as np

from trellis.lattice import TrainingChain
from trellis.lattice.solved import ArcH, Solved
from trellis.losses.contract import F64, Answer, Loss, Target


class SilentLoss(Loss):
    """0 everywhere. What is kept is the solved lattice, for those who read it."""

    name = "silent"
    curvature_is = "the Hessian"

    def keep(self, chain: TrainingChain, target: Target) -> Solved:
        return chain.solve()

    def answer(self, kept: Solved, target: Target) -> Answer:
        none = np.zeros(len(kept.log_z))
        return Answer(none, *kept.expected(none))

    def solved_in(self, kept: Solved) -> Solved:
        return kept

    def curvature(self, kept: Solved, target: Target, node_h: F64, arc_h: ArcH) -> tuple[F64, F64]:
        return kept.expected(np.zeros(len(kept.log_z)))

    def diagonal(self, kept: Solved, target: Target) -> tuple[F64, F64]:
        return kept.variances(np.zeros(len(kept.log_z)))
