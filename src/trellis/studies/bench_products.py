"""`trellis bench products`: Hessian-vector products beside a value with its gradient, on real data at a trained point.

The value with its gradient is timed with and without keeping the lattices it solves; a product from what was kept, one
that solves them again, and one by algorithmic differentiation. All by turns, on one clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trellis.engine import ThreadedObjective
from trellis.objective import L2
from trellis.optim import LBFGS
from trellis.studies import ours
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

_TRAINED = 20  # iterations to the point where products are timed
VALUE, KEEPING = "value and gradient", "value and gradient, lattices kept"
KEPT, AGAIN, DUAL = "product, from kept lattices", "product, solved again", "product, by differentiation"
DIAGONAL = "diagonal"


@dataclass(frozen=True)
class ProductBench:
    """Times by name."""

    task: Task
    machine: dict[str, Any]
    threads: int
    times: dict[str, Times]

    def ratios(self) -> dict[str, float]:
        """Best times over one another: what Newton's method may count on."""
        best = {name: times.best for name, times in self.times.items()}
        return {
            "kept / value and gradient": best[KEPT] / best[VALUE],
            "kept / value and gradient that keeps": best[KEPT] / best[KEEPING],
            "kept / solved again": best[KEPT] / best[AGAIN],
            "kept / by differentiation": best[KEPT] / best[DUAL],
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": "products",
            "machine": self.machine,
            "data": str(self.task.train),
            "features": self.task.features,
            "threads": self.threads,
            "seconds": {name: times.as_json() for name, times in self.times.items()},
            "ratio": self.ratios(),
        }


def bench_products(task: Task, threads: int = 1, repeat: int = 7, say: Say = lambda text: None) -> ProductBench:
    """Some L-BFGS iterations, then rounds of every kind of product with a random direction."""
    check_counts(threads=threads, repeat=repeat)
    say("preparing")
    shards, size = ours.cut(task, ours.prepare(task))
    prior, direction = L2(task.l2), np.random.default_rng(0).normal(size=size)
    with ThreadedObjective(shards, size, prior, threads) as objective:
        optimizer = LBFGS()
        state = optimizer.start(objective, np.zeros(size))
        while state.iteration < _TRAINED and not (state.converged or state.stuck):
            state = optimizer.step(objective, state)
    theta, seconds = state.theta, defaultdict[str, list[float]](list)
    for turn in range(repeat + 1):
        say(f"round {turn + 1} of {repeat + 1}")
        for options, work in _kinds(theta, direction).items():
            cache, hvp = options
            with ThreadedObjective(shards, size, prior, threads, cache=cache, hvp=hvp) as objective:
                for name, ask in work.items():
                    ask(objective)  # memory is there, and so are kernels
                    taken = timed(partial(ask, objective))[1]
                    if turn:  # the first round warms up
                        seconds[name].append(taken)
    return ProductBench(task, machine(), threads, {name: Times(tuple(taken)) for name, taken in seconds.items()})


def _kinds(
    theta: np.ndarray[Any, Any], direction: np.ndarray[Any, Any]
) -> dict[tuple[int | str, str], dict[str, Callable[[ThreadedObjective], object]]]:
    """Work by what the objective keeps and how it multiplies."""

    def value(objective: ThreadedObjective) -> object:
        return objective.value_and_gradient(theta)

    def product(objective: ThreadedObjective) -> object:
        return objective.hessian_vector(theta, direction)

    def diagonal(objective: ThreadedObjective) -> object:
        return objective.hessian_diagonal(theta)

    return {
        (0, "kept"): {VALUE: value, AGAIN: product, DIAGONAL: diagonal},
        ("all", "kept"): {KEEPING: value, KEPT: product},
        (0, "ad"): {DUAL: product},
    }
