"""How much a process grows when it runs a method, measured in a process of its own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from trellis.studies.process import run_apart
from trellis.studies.tsuboi.methods import SOME, Method, all_methods
from trellis.studies.tsuboi.problem import Problem
from trellis.studies.tsuboi.tasks import load_tasks

_NOTHING = ""  # in place of a method: one evaluation, which every method needs


class Growth:
    """Of one case, by method."""

    def __init__(self, data: Path | None, quick: bool, task: str, weights: str, l2: float, threads: int):
        self._given = (None if data is None else str(data.resolve()), quick, task, weights, l2, threads)
        self._ground = self._peak(_NOTHING)

    def of(self, method: Method) -> int | None:
        """Bytes at the peak above those of one evaluation; None where the platform does not tell."""
        peak = self._peak(method.key)
        return None if peak is None or self._ground is None else max(0, peak - self._ground)

    def _peak(self, key: str) -> int | None:
        return run_apart("trellis.studies.tsuboi.memory:hold", *self._given, key).peak_bytes


def hold(data: str | None, quick: bool, task: str, weights: str, l2: float, threads: int, key: str) -> None:
    """Runs a method until it holds as much as it ever will, for a process that is measured."""
    (one,) = load_tasks(None if data is None else Path(data), quick, [task])
    problem = Problem(one.train, one.test, one.target, one.features, weights)
    method = all_methods(SOME)[key or "lbfgs-5"]
    with problem.objective(l2, threads, method.cache, method.hvp) as objective:
        _forget_the_peak()
        if key == _NOTHING:
            objective.value_and_gradient(np.zeros(problem.size))
            return
        optimizer = method.optimizer(0.0)
        state = optimizer.start(objective, np.zeros(problem.size))
        while state.iteration < method.filled and not (state.converged or state.stuck):
            state = optimizer.step(objective, state)


def _forget_the_peak() -> None:
    """Reading data and making features may have taken more for a moment (Linux only; elsewhere that is included)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
