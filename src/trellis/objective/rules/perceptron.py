"""The perceptron's rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran


@dataclass(frozen=True)
class PerceptronRule:
    """Vectors: theta, and the sum of its changes times the step at which each was made; `steps` before this epoch.
    Tally: S(y*) - S(y) added up, wrong sentences, wrong labels."""

    steps: int
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.perceptron import perceptron_pass

        theta, late = vectors
        return Ran(perceptron_pass(shard.tokens, order, theta, late, self.steps + done))
