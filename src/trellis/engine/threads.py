"""Shards on threads of this process. Kernels release the GIL, so threads are enough."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from trellis.jit import threads_available
from trellis.objective import Prior, Shard

F64 = NDArray[np.float64]


class ThreadedObjective:
    """The sum of all shards' losses plus the prior. Optimisers see this and nothing below it.

    One evaluation at a time: shards use their memory again.
    """

    def __init__(self, shards: Sequence[Shard], size: int, prior: Prior, threads: int | None = None):
        self.shards = list(shards)
        self.size = size
        self.prior = prior
        self._pool = ThreadPoolExecutor(min(threads or threads_available(), max(1, len(self.shards))))

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        """The regularised objective, summed over the corpus, and its gradient F64[size]."""
        answers = list(self._pool.map(lambda shard: shard.value_and_gradient(theta), self.shards))
        value, gradient = self._sum(answers, 0, len(answers))
        self.prior.add_gradient(theta, gradient)
        return value + self.prior.value(theta), gradient

    def _sum(self, answers: list[tuple[float, F64]], first: int, last: int) -> tuple[float, F64]:
        """Adds shards along one binary tree over their numbers: the same bits for any number of threads."""
        if last - first <= 2:
            value, gradient = 0.0, np.zeros(self.size)
            for s in range(first, last):
                self.shards[s].add_to(gradient, answers[s][1])
                value += answers[s][0]
            return value, gradient
        middle = (first + last) // 2
        left, left_gradient = self._sum(answers, first, middle)
        right, right_gradient = self._sum(answers, middle, last)
        left_gradient += right_gradient
        return left + right, left_gradient

    def close(self) -> None:
        self._pool.shutdown()

    def __enter__(self) -> ThreadedObjective:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
