"""The kernels of an evaluation one by one, on the shards of real data, each with a stopwatch of its own.

They are called as training calls them, block by block, so that what one leaves in the cache the next one finds there.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from trellis.lattice import WorkChain
from trellis.objective.plain import PlainShard
from trellis.rows import empty_rows
from trellis.scoring.kernels import take
from trellis.studies.clock import Stopwatch
from trellis.studies.roofline_counts import FORWARD_BACKWARD, GRADIENT, KERNELS, ROWS, SCORES

F64 = NDArray[np.float64]


class Pace:
    """One thread's memory and stopwatches, for some of the shards."""

    def __init__(self, shards: Sequence[PlainShard]):
        self.shards = shards
        self.watches = {name: Stopwatch() for name in KERNELS}
        width = max(shard.scoring.width for shard in shards)
        rows = max(shard.scoring.rows_with(shard.at) for shard in shards)
        longest = max(int(shard.offsets[b] - shard.offsets[a]) for shard in shards for a, b in shard.blocks)
        self._weights, self._gradient = (np.empty(max(len(shard.index) for shard in shards)) for _ in range(2))
        self._rows, self._row_gradient = empty_rows(rows, width), empty_rows(rows, width)
        self._scores = empty_rows(longest, width)

    def run(self, theta: F64) -> None:
        """What an evaluation does on these shards, but for gold paths and the sum over shards."""
        for shard in self.shards:
            self._evaluate(shard, theta)

    def _evaluate(self, shard: PlainShard, theta: F64) -> None:
        scoring, at, watches = shard.scoring, shard.at, self.watches
        weights, gradient = self._weights[: len(shard.index)], self._gradient[: len(shard.index)]
        count = scoring.rows_with(at)
        rows, row_gradient = self._rows[:count], self._row_gradient[:count]
        layout = scoring.layout

        def fill() -> None:
            take(theta, shard.index, weights)
            scoring.rows_of(weights, rows, at)
            row_gradient.fill(0.0)
            gradient.fill(0.0)

        watches[ROWS].of(fill)
        transitions = layout.transition_matrix(weights[layout.pairs : layout.arcs_at])
        for first, last in shard.blocks:
            a, b = int(shard.offsets[first]), int(shard.offsets[last])
            scores = self._scores[: b - a]

            def score(a: int = a, b: int = b, scores: F64 = scores) -> None:
                scoring.scores(rows, weights, at, a, b, scores)

            def slope(a: int = a, b: int = b, nodes: F64 = scores) -> None:
                scoring.add_gradient(nodes, at, a, b, row_gradient, gradient)

            watches[SCORES].of(score)
            chain = WorkChain(scores, transitions, shard.offsets[first : last + 1] - a, scores.copy)
            watches[FORWARD_BACKWARD].of(chain.marginals)
            watches[GRADIENT].of(slope)
        watches[ROWS].of(lambda: scoring.collect(row_gradient, gradient, at))


def seconds_of(shards: Sequence[PlainShard], theta: F64, threads: int) -> dict[str, float]:
    """Of each kernel on all shards, which are dealt out to the threads: the seconds of all threads together, over their
    number."""
    dealt = [shards[k::threads] for k in range(min(threads, len(shards)))]
    paces = [Pace(some) for some in dealt]
    with ThreadPoolExecutor(len(paces)) as pool:
        for _ in range(2):  # once for memory to be there
            for pace in paces:
                pace.watches = {name: Stopwatch() for name in KERNELS}
            list(pool.map(lambda pace: pace.run(theta), paces))
    return {name: sum(pace.watches[name].seconds for pace in paces) / threads for name in KERNELS}
