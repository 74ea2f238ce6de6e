"""The rule of SAGA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran


@dataclass(frozen=True)
class SAGARule:
    """Vectors: theta, the sum of the last slopes, parts of the prior (`Online.shares`), and what to multiply the step
    size by. Stores: the slopes of tokens
    F64[tokens, width] and of transitions F64[fours, labels, labels] when last seen. Tally: log loss before each update,
    sentences left out."""

    step: float
    l2: float
    in_fours: ClassVar[bool] = True
    stores: ClassVar[tuple[tuple[str, ...], ...]] = (("tokens", "width"), ("fours", "labels", "labels"))

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.saga import saga_pass

        theta, mu, share, gain = vectors
        nodes, arcs = stores
        tally = saga_pass(shard.tokens, shard.fours, order, theta, mu, share, gain, nodes, arcs, self.step, self.l2)
        return Ran(tally)
