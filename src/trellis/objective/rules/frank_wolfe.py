"""The rule of block-coordinate Frank-Wolfe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from trellis.objective.kernels.places import Vector
from trellis.objective.online import I64, OnlineShard, Ran


@dataclass(frozen=True)
class FrankWolfeRule:
    """Vectors: theta, and the sum of its changes, each times c (c - 1) / 2 for the step c >= 1 it was made at; `steps`
    before this epoch. Stores: of each token and each sentence, how far the gold path is from what is expected, and of
    each sentence the expected cost; all 0 at the start, where theta is 0. Tally: gaps added up, gaps above 0."""

    l2: float
    steps: int
    in_fours: ClassVar[bool] = False
    stores: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("tokens", "labels"),
        ("sentences", "pairs"),
        ("sentences", "one"),
    )

    def run(self, shard: OnlineShard, order: I64, vectors: Sequence[Vector], stores: Sequence[Any], done: int) -> Ran:
        from trellis.objective.kernels.frank_wolfe import frank_wolfe_pass

        (theta, late), (nodes, arcs, expected) = vectors, stores
        given = [target.costs for target in shard.shard.targets if target.costs is not None]
        costs = given[0] if given else np.ones(len(theta.transitions))
        steps = self.steps + done
        return Ran(frank_wolfe_pass(shard.tokens, order, costs, theta, late, nodes, arcs, expected, self.l2, steps))
