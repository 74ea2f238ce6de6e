"""Weights in the order in which shards ask for them.

A layout numbers weights by the names of attributes, so what a shard reads of theta, and adds to its gradient, lies all
over both: with millions of weights each of these numbers comes from far away. Numbered as they appear, the weights of a
shard that no shard before it has are neighbours, in its own order, and those that many shards have are at the front.
(Brown, a million tokens, 1.5 million weights in 16 shards: theta -> shards and back took 47 of the 215 ns that an
evaluation takes for a token on one thread, and now takes 25.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.objective.shard import Shard
from trellis.scoring.occurring import number_by_appearance

F64 = NDArray[np.float64]

LEAST = 1 << 18  # weights: fewer are near enough as they are


@dataclass(frozen=True)
class Order:
    """`old: I32[weights]`: which weight of the layout comes where."""

    old: NDArray[np.int32]

    def of(self, theta: F64) -> F64:
        """Weights of the layout in this order."""
        # zeros that nobody writes to take no memory
        return theta[self.old] if theta.any() else np.zeros_like(theta)

    def restored(self, theta: F64) -> F64:
        """Weights in this order as the layout has them."""
        out = np.empty_like(theta)
        out[self.old] = theta
        return out


def order_by_appearance(shards: Sequence[Shard], size: int) -> Order | None:
    """From now on the shards read theta in this order. None, and nothing has changed, where that would not pay."""
    if size < LEAST:
        return None
    new, old = number_by_appearance(np.concatenate([shard.index for shard in shards]), size)
    at = 0
    for shard in shards:
        shard.index = new[at : at + len(shard.index)]
        at += len(shard.index)
    if len(old) < size:  # weights that no shard has
        old = np.concatenate([old, np.setdiff1d(np.arange(size), old)])
    return Order(old.astype(np.int32))
