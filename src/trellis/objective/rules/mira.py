"""The rule of the margin-infused relaxed algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran
from trellis.objective.rules.passive_aggressive import PassiveAggressiveRule


@dataclass(frozen=True)
class MiraRule:
    """Vectors and steps as the perceptron's. Tally: the losses of worst constraints added up, wrong sentences, wrong
    labels."""

    steps: int
    k: int
    aggressiveness: float
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.mira import mira_pass

        if self.k == 1:  # one constraint has a closed form
            alone = PassiveAggressiveRule(self.steps, 1, self.aggressiveness, "count")
            return alone.run(shard, order, vectors, stores, done)
        theta, late = vectors
        return Ran(mira_pass(shard.tokens, order, theta, late, self.steps + done, self.k, self.aggressiveness))
