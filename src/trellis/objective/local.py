"""A shard of chains of order zero: scored as in `plain`, with tokens that do not bear on one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.lattice.local import LocalChain
from trellis.losses import Loss
from trellis.objective.examples import Examples
from trellis.objective.plain import F64, Point, Rows
from trellis.scoring.layout import WeightLayout


class LocalShard(Rows):
    def __init__(self, layout: WeightLayout, examples: Examples, loss: Loss, **shared: Any):
        super().__init__(layout, examples, loss, **shared)
        self._arc_sums = np.zeros((0, 0))

    def _chain(self, point: Point, block: int, keep: bool = False) -> LocalChain:
        (first, last), (a, b) = self.blocks[block], self._tokens(block)
        scores = self._scores_again(point, a, b) if keep else self._scores[: b - a]
        self._score(point, a, b, scores)
        return LocalChain(scores, self.scoring.layout.labels, self.offsets[first : last + 1] - a)

    def _collected(self) -> F64:
        self.scoring.collect(self._row_gradient, self._gradient, self.at)
        return self._gradient
