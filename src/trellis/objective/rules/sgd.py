"""The rule of stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import FOUR, I64, OnlineShard, Ran


@dataclass(frozen=True)
class SGDRule:
    """Step sizes `step` decay^(k/N), or step / (1 + k/N) where `decay` is 0, after k sentences in all, `done` of them
    in earlier epochs of N = `sentences`. Vector: theta. Tally: log loss before each update, sentences left out."""

    step: float
    decay: float
    l2: float
    sentences: int
    done: int = 0
    in_fours: ClassVar[bool] = True
    stores: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.sgd import sgd_pass

        before = float(self.done + FOUR * done)
        kept, loss, missing = sgd_pass(
            shard.tokens, shard.fours, order, vectors[0], before, float(max(1, self.sentences)), self.step, self.decay,
            self.l2,
        )  # fmt: skip
        return Ran((loss, missing), kept)
