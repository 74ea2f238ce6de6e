"""What this machine can do: multiply-adds and bytes a second, measured by loops that do nothing else.

With several threads each has memory of its own, and the figure is of all together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Barrier
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.lanes import LANES
from trellis.lattice.kernels.products import ROWS
from trellis.rows import zero_rows
from trellis.studies.clock import Times, now
from trellis.studies.roofline_kernels import (
    AT_ONCE,
    CHAINS,
    change_rows,
    multiply_adds,
    panels_of,
    read_lines,
    read_rows,
    tiled_products,
)

F64 = NDArray[np.float64]
Work = Callable[[], object]

MULTIPLY_ADDS, TILED = "multiply-adds", "tiled products"
READ, READ_ROWS, CHANGE, CHANGE_ROWS = "read", "read rows", "change", "change rows"
BANDWIDTHS = (READ, READ_ROWS, CHANGE, CHANGE_ROWS)

_STEPS = 3_000_000  # of multiply-adds, some milliseconds
_PRODUCTS = 100_000
_MOVED = 1 << 30  # bytes that are moved at the least, before the clock is looked at
_LONG = 1 << 14  # rows in an order: numbers of few rows again and again would be learnt by heart
_LINE = 8 * LANES  # numbers in a row of what is read as it lies


@dataclass
class Rates:
    """`amount`: of what is done in one run by all threads together; `seconds` of each run."""

    amount: float = 0.0
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """So many a second, by the median of all runs."""
        return self.amount / Times(tuple(self.seconds)).median

    def as_json(self) -> dict[str, float]:
        return {"best": self.amount / min(self.seconds), "median": self.median}


@dataclass
class Limits:
    """Rates by what is done and the number of threads; those of memory also by its size in bytes, smallest first."""

    width: int
    sizes: Sequence[int]
    threads: Sequence[int]
    arithmetic: dict[tuple[str, int], Rates] = field(default_factory=dict)
    memory: dict[tuple[str, int, int], Rates] = field(default_factory=dict)

    def measure(self, counted: bool = True) -> None:
        """Once more. Not counted, it warms up."""
        for threads in self.threads:
            for name, amount, make in self._arithmetic():
                seconds = _together([make() for _ in range(threads)])
                if counted:
                    _add(self.arithmetic, (name, threads), threads * amount, seconds)
        for size in self.sizes:
            tables = [Table(size, self.width, seed) for seed in range(max(self.threads))]
            for threads in self.threads:
                for kind in BANDWIDTHS:
                    works = [table.work(kind) for table in tables[:threads]]
                    seconds = _together([work for work, _ in works])
                    if counted:
                        _add(self.memory, (kind, size, threads), sum(moved for _, moved in works), seconds)

    def rate(self, threads: int) -> float:
        """Multiply-adds a second, counting each number in a register."""
        return self.arithmetic[MULTIPLY_ADDS, threads].median

    def bandwidth(self, kind: str, size: F64, threads: int) -> F64:
        """Bytes a second from memory of these sizes: between two that were measured by the logarithm, beyond them as of
        the nearest."""
        found = [self.memory[kind, known, threads].median for known in self.sizes]
        return np.interp(np.log(np.maximum(size, 1.0)), np.log(self.sizes), found)

    def highest(self, threads: int) -> float:
        """Bytes a second at the most, of all sizes and kinds."""
        return max(rates.median for (_, _, many), rates in self.memory.items() if many == threads)

    def as_json(self) -> dict[str, Any]:
        return {
            "arithmetic": {
                name: {str(n): self.arithmetic[name, n].as_json() for n in self.threads}
                for name in (MULTIPLY_ADDS, TILED)
            },
            "bandwidth": {
                kind: {
                    str(size): {str(n): self.memory[kind, size, n].as_json() for n in self.threads}
                    for size in self.sizes
                }
                for kind in BANDWIDTHS
            },
        }

    def _arithmetic(self) -> Iterator[tuple[str, float, Callable[[], Work]]]:
        """Name, multiply-adds, and what makes such work, for one thread."""

        def chains() -> Work:
            numbers = np.ones((CHAINS + 2, LANES))
            numbers[CHAINS] = 0.5  # a = a / 2 + 1: neither grows nor vanishes
            return partial(multiply_adds, _STEPS, numbers)

        def products() -> Work:
            matrix = np.full((self.width, self.width), 1.0 / self.width)  # rows of ones stay rows of ones
            panels = np.empty((self.width * self.width // LANES, LANES))
            panels_of(matrix, panels)
            return partial(tiled_products, _PRODUCTS, np.ones((2 * ROWS, self.width)), panels)

        yield MULTIPLY_ADDS, float(_STEPS * CHAINS * LANES), chains
        yield TILED, float(_PRODUCTS * ROWS * self.width**2), products


class Table:
    """Memory of about so many bytes, in rows, and a random order of these."""

    def __init__(self, size: int, width: int, seed: int):
        count = max(8, size // (8 * width)) // 8 * 8  # its numbers also make whole _LINEs
        self.rows = zero_rows(count, width)
        self.lines = self.rows.reshape(-1, _LINE)
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(count) for _ in range(-(-_LONG // count))]
        self.shuffled = np.concatenate(orders).astype(np.int32)
        self.straight = np.arange(count, dtype=np.int32)

    def work(self, kind: str) -> tuple[Work, float]:
        """What one thread does, and the bytes it moves: what is changed is both read and written."""
        if kind == READ:
            times = -(-_MOVED // self.lines.nbytes)
            return partial(read_lines, times, self.lines), float(times * self.lines.nbytes)
        order = self.straight if kind == CHANGE else self.shuffled
        moved = len(order) * self.rows[0].nbytes * (1 if kind == READ_ROWS else 2)
        times = -(-_MOVED // moved)
        if kind == READ_ROWS:
            assert len(order) % AT_ONCE == 0
            return partial(read_rows, times, self.rows, order), float(times * moved)
        return partial(change_rows, times, self.rows, order, np.zeros((1, LANES))), float(times * moved)


def _together(works: Sequence[Work]) -> float:
    """Seconds from when all have begun until the last is done, each on a thread of its own."""
    if len(works) == 1:
        began = now()
        works[0]()
        return now() - began
    gate = Barrier(len(works))

    def run(work: Work) -> tuple[float, float]:
        gate.wait()
        began = now()
        work()
        return began, now()

    with ThreadPoolExecutor(len(works)) as pool:
        spans = list(pool.map(run, works))
    return max(end for _, end in spans) - min(began for began, _ in spans)


def _add(rates: dict[Any, Rates], key: Any, amount: float, seconds: float) -> None:
    rates.setdefault(key, Rates(amount)).seconds.append(seconds)
