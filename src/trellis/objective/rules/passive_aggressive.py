"""The rule of the passive-aggressive algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran

MARGINS = ("one", "root", "count", "worst")  # as the kernel numbers them


@dataclass(frozen=True)
class PassiveAggressiveRule:
    """Vectors and steps as the perceptron's. Tally: losses added up, sentences with a loss, wrong labels in these."""

    steps: int
    variant: int
    aggressiveness: float
    margin: str
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.passive_aggressive import passive_aggressive_pass

        theta, late = vectors
        return Ran(
            passive_aggressive_pass(
                shard.tokens, order, theta, late, self.steps + done, self.variant, self.aggressiveness,
                MARGINS.index(self.margin),
            )
        )  # fmt: skip
