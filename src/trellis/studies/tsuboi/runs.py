"""Running a method by the clock: what it has come to after each iteration, and what it holds in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.optim import Optimizer, is_over
from trellis.studies.clock import Stopwatch
from trellis.studies.tsuboi.methods import Method
from trellis.studies.tsuboi.problem import Problem
from trellis.studies.tsuboi.results import Moment, Run
from trellis.training.estimate import array_bytes

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """A run ends where no part of the gradient is above `gradient_tol`, or after `max_passes` over the data."""

    gradient_tol: float = 0.05
    max_passes: int = 3000


@dataclass
class Finished:
    """A run and where it ended."""

    run: Run
    theta: F64 = field(repr=False)


def run_method(
    problem: Problem, method: Method, l2: float, threads: int, limits: Limits, score: Callable[[F64], float]
) -> Finished:
    """From zero to the end. Objectives and scores that the method does not itself ask for are outside the clock."""
    clock, moments = Stopwatch(), []
    optimizer = method.optimizer(limits.gradient_tol)
    with problem.objective(l2, threads, method.cache, method.hvp) as objective:
        before = array_bytes(objective.shards)

        def note(state: Any) -> None:
            value = float(state.value if method.exact else objective.value(state.theta))
            passes = int(state.evaluations), int(state.products)
            moments.append(Moment(clock.seconds, clock.cpu_seconds, *passes, value, score(state.theta)))

        state = clock.of(lambda: optimizer.start(objective, np.zeros(problem.size)))
        note(state)
        while not _ended(state, min(limits.max_passes, method.most_passes or limits.max_passes)):
            state = clock.of(partial(optimizer.step, objective, state))
            note(state)
        held = array_bytes(objective, state) - before
    run = Run(
        method.key, method.name, method.paper, method.batch, bool(state.converged),
        held, None, (clock.seconds,), tuple(moments),
    )  # fmt: skip
    return Finished(run, state.theta)


def _ended(state: Any, max_passes: int) -> bool:
    return is_over(state) or bool(state.evaluations + state.products >= max_passes)


def merged(rounds: Sequence[Run]) -> Run:
    """Rounds of the same run, which differ in nothing but time: the median at every moment."""
    each = zip(*(run.moments for run in rounds), strict=True)
    moments = tuple(
        replace(
            of_all[0],
            seconds=median(moment.seconds for moment in of_all),
            cpu_seconds=median(moment.cpu_seconds for moment in of_all),
        )
        for of_all in each
    )
    return replace(rounds[0], moments=moments, round_seconds=tuple(run.last.seconds for run in rounds))


def minimised(problem: Problem, optimizer: Optimizer, l2: float, theta: F64, max_iter: int) -> tuple[F64, float]:
    """Where an optimiser ends, and the objective there; on all threads, as nobody looks at the clock."""
    with problem.objective(l2, None) as objective:
        state = optimizer.start(objective, theta)
        while not (state.converged or state.stuck or state.iteration >= max_iter):
            state = optimizer.step(objective, state)
        return state.theta, objective.value(state.theta)
