"""The rule of adaptive regularisation of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran
from trellis.objective.rules.passive_aggressive import MARGINS


@dataclass(frozen=True)
class ArowRule:
    """Vectors: as the perceptron's, and the variances of all weights. Tally: as that of passive-aggressive rules."""

    steps: int
    gamma: float
    margin: str
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.arow import arow_pass

        theta, late, variance = vectors
        steps = self.steps + done
        margin = MARGINS.index(self.margin)
        return Ran(arow_pass(shard.tokens, order, theta, late, variance, steps, self.gamma, margin))
