"""The rule of AdaGrad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran


@dataclass(frozen=True)
class AdaGradRule:
    """Vectors: theta, squared slopes added up, parts of the prior (`Online.shares`), and what the step is multiplied
    by. Tally: log loss before each update, sentences left out."""

    step: float
    l2: float
    l1: float
    in_fours: ClassVar[bool] = True
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.adagrad import adagrad_pass

        theta, squares, share, gain = vectors
        tally = adagrad_pass(shard.tokens, shard.fours, order, theta, squares, share, gain, self.step, self.l2, self.l1)
        return Ran(tally)
