"""`trellis bench optimum`: how long from a text file to objectives within given gaps of the optimum.

The optimum f* is the lowest value of a long run outside the clock. Every optimiser starts from the file: reading,
features, layout and shards are part of its time. CRFsuite's lines are timed as they arrive, by the same clock.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.objective import L2
from trellis.optim import LBFGS, OPTIMIZERS, Auto, Optimizer, find_optimizer, is_over
from trellis.studies import crfsuite, ours
from trellis.studies.clock import now
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

GAPS = (1e-2, 1e-3, 1e-4)
_LONG = 2000  # iterations of the run that finds f*
_MOST = 1000  # iterations of an optimiser in a race
_TOL = 1e-9  # so small that no optimiser stops before the last gap
PEER = "crfsuite"


@dataclass(frozen=True)
class Run:
    """`seconds` to each gap, None where it was not reached; how many evaluations and products were made by then."""

    seconds: dict[float, float | None]
    evaluations: dict[float, int | None]
    products: dict[float, int | None]


@dataclass(frozen=True)
class OptimumBench:
    """Runs of each optimiser by name, in the order they took turns; `optimum`: f*."""

    task: Task
    machine: dict[str, Any]
    threads: int
    optimum: float
    runs: Mapping[str, Sequence[Run]]

    def seconds(self, name: str, gap: float) -> float | None:
        """The median of its runs."""
        found = [run.seconds[gap] for run in self.runs[name]]
        known = [seconds for seconds in found if seconds is not None]
        return median(known) if len(known) == len(found) else None

    def ratio(self, name: str, gap: float) -> float | None:
        """CRFsuite's time over this one's."""
        peer = self.seconds(PEER, gap) if PEER in self.runs else None
        own = self.seconds(name, gap)
        return None if peer is None or own is None else peer / own

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": "optimum",
            "machine": self.machine,
            "data": str(self.task.train),
            "features": self.task.features,
            "l2": self.task.l2,
            "threads": self.threads,
            "optimum": self.optimum,
            "runs": {
                name: {
                    f"{gap:g}": {
                        "seconds": [run.seconds[gap] for run in runs],
                        "evaluations": [run.evaluations[gap] for run in runs],
                        "products": [run.products[gap] for run in runs],
                        "ratio": self.ratio(name, gap),
                    }
                    for gap in GAPS
                }
                for name, runs in self.runs.items()
            },
        }


def bench_optimum(
    task: Task,
    optimizers: Mapping[str, tuple[str, Mapping[str, Any]]],
    threads: int = 2,
    repeat: int = 3,
    against: bool = True,
    say: Say = lambda text: None,
) -> OptimumBench:
    """Races to the optimum, by turns. `optimizers`: what to call each -> its name and options."""
    check_counts(threads=threads, repeat=repeat)
    if not optimizers:
        raise SettingError(f"no optimizer to race; there are: {', '.join(OPTIMIZERS)}")
    entrants = {name: find_optimizer(kind, _TOL, **options) for name, (kind, options) in optimizers.items()}
    if against:
        crfsuite.require_pycrfsuite()
    ours.warm_up(task.columns, task.target, task.features)
    say("looking for the optimum")
    best = _optimum(task, threads)
    runs: dict[str, list[Run]] = {name: [] for name in ([PEER] if against else []) + list(entrants)}
    for turn in range(repeat):
        for name, optimizer in entrants.items():
            say(f"{name}, run {turn + 1} of {repeat}")
            runs[name].append(_race(task, optimizer, best, threads))
        if against and turn == 0:  # slow enough not to be noisy
            say("CRFsuite")
            runs[PEER].append(_race_of_peer(task, best))
    return OptimumBench(task, machine(), threads, best, runs)


def _optimum(task: Task, threads: int) -> float:
    shards, size = ours.cut(task, ours.prepare(task))
    auto, optimizer = Auto(tol=1e-6), LBFGS(memory=30, tol=_TOL)
    with ThreadedObjective(shards, size, L2(task.l2), threads) as objective:
        begun = auto.start(objective, np.zeros(size))
        while not (begun.converged or begun.stuck):
            begun = auto.step(objective, begun)
        state = optimizer.start(objective, begun.theta)
        while not (state.converged or state.stuck) and state.iteration < _LONG:
            state = optimizer.step(objective, state)
    return state.value


def _race(task: Task, optimizer: Optimizer, best: float, threads: int) -> Run:
    marks = _Marks(best)
    began = now()
    shards, size = ours.cut(task, ours.prepare(task))
    cache, hvp = getattr(optimizer, "cache", 0), getattr(optimizer, "hvp", "kept")
    with ThreadedObjective(shards, size, L2(task.l2), threads, cache=cache, hvp=hvp) as objective:
        state = optimizer.start(objective, np.zeros(size))
        while not (is_over(state) or marks.done or state.iteration >= _MOST):
            state = optimizer.step(objective, state)
            # the loss on the way of an epoch is not the objective anywhere
            if state.evaluations:
                marks.note(state.value, now() - began, state.evaluations, state.products)
    return marks.run()


def _race_of_peer(task: Task, best: float) -> Run:
    marks = _Marks(best)
    trainer, log = crfsuite.new_trainer(task.c2)
    began = now()
    crfsuite.fill(trainer, str(task.train), task.patterns(), task.columns.index(task.target))
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    for time, loss, evaluations in log.course():
        marks.note(loss, time - began, evaluations, 0)
    return marks.run()


class _Marks:
    """When each gap was reached first."""

    def __init__(self, best: float):
        self.best = best
        self.found: dict[float, tuple[float, int, int]] = {}

    @property
    def done(self) -> bool:
        return len(self.found) == len(GAPS)

    def note(self, value: float, seconds: float, evaluations: int, products: int) -> None:
        for gap in GAPS:
            if gap not in self.found and value <= self.best + gap * abs(self.best):
                self.found[gap] = seconds, evaluations, products

    def run(self) -> Run:
        none = None, None, None
        seconds, evaluations, products = zip(*(self.found.get(gap, none) for gap in GAPS), strict=True)
        return Run(
            dict(zip(GAPS, seconds, strict=True)),
            dict(zip(GAPS, evaluations, strict=True)),
            dict(zip(GAPS, products, strict=True)),
        )
