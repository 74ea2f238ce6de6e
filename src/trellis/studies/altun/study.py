"""The experiments, one cell after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trellis.corpus.corpus import concatenate
from trellis.errors import SettingError
from trellis.studies.altun.cells import Cell
from trellis.studies.altun.methods import METHODS
from trellis.studies.altun.plan import PARTS, Scope, cells_of, cells_to_choose_from, check_parts
from trellis.studies.altun.results import Study
from trellis.studies.altun.runs import run_cell
from trellis.studies.altun.tasks import KINDS, Task, load_tasks
from trellis.studies.clock import now
from trellis.studies.folder import check_alike, plain_settings
from trellis.studies.machine import machine
from trellis.training.estimate import roughly_seconds

Say = Callable[[str], None]

_ENOUGH = 8  # times the sentences of a quick run


@dataclass(frozen=True)
class Settings:
    """`parts` of the study to run; `grid`: how many strengths of a prior are tried; `tol` and `max_iter` of every
    method that has none of its own; `seed` of smaller corpora and of wrong labels."""

    quick: bool = False
    parts: Sequence[str] = tuple(PARTS)
    tasks: Sequence[str] = tuple(KINDS)
    threads: int | None = None
    tol: float = 1e-3
    max_iter: int = 300
    sizes: Sequence[int] = (300, 1000, 3000)
    noise: Sequence[float] = (0.0, 0.05, 0.1, 0.2)
    grid: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_parts(self.parts)
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"threads is {self.threads}; expected a whole number >= 1")
        if self.max_iter < 1:
            raise SettingError(f"max_iter is {self.max_iter}; expected a whole number >= 1")


def quick_settings(settings: Settings) -> Settings:
    """All that there is, but so small that its figures mean nothing."""
    return replace(settings, quick=True, max_iter=5, sizes=(40,), noise=(0.0, 0.2), grid=2)


def run_study(
    data: Path | None,
    settings: Settings,
    say: Say = lambda text: None,
    keep: Callable[[Study], None] | None = None,
    earlier: Study | None = None,
) -> Study:
    """`keep` is given what has been found so far, after every cell. The cells of an earlier study are not run again."""
    tasks = load_tasks(data, settings.quick, settings.tasks)
    plain = plain_settings(settings)
    if earlier is not None:
        check_alike(plain, earlier.settings, ("parts", "tasks", "sizes", "noise", "grid", "threads"))
    study = _begun(plain, settings, tasks, earlier)
    say("warming up")
    _warm_up(settings)
    runner = _Runner(tasks, settings, say, keep or (lambda study: None))
    first = cells_to_choose_from(settings.parts, study.scope)
    study = runner.run(study, first, cells_of(settings.parts, study.scope, lambda *which: 1.0))
    return runner.run(study, cells_of(settings.parts, study.scope, study.chosen), [])


def _begun(plain: dict[str, Any], settings: Settings, tasks: Mapping[str, Task], earlier: Study | None) -> Study:
    """What an earlier study has found stays, also of tasks that are not asked for now."""
    sizes = {key: len(task.train) for key, task in tasks.items()}
    held_out = {key: task.held_out for key, task in tasks.items()}
    if earlier is not None:
        sizes, held_out = {**dict(earlier.scope.tasks), **sizes}, {**earlier.held_out, **held_out}
    ordered = tuple((key, sizes[key]) for key in KINDS if key in sizes)
    scope = Scope(ordered, tuple(settings.sizes), tuple(settings.noise), settings.grid)
    return Study(plain, machine(), held_out, scope, () if earlier is None else earlier.outcomes)


class _Runner:
    """Runs cells that are missing, and says how long the others will take."""

    def __init__(self, tasks: Mapping[str, Task], settings: Settings, say: Say, keep: Callable[[Study], None]):
        self.tasks, self.settings, self._say, self._keep = tasks, settings, say, keep
        self._done = self._seconds = 0.0

    def run(self, study: Study, cells: Sequence[Cell], later: Sequence[Cell]) -> Study:
        """`later`: about what comes after these."""
        missing = [cell for cell in cells if cell.task in self.tasks and study.of(cell) is None]
        after = sum(self._work(cell) for cell in later if cell.task in self.tasks and study.of(cell) is None)
        for k, cell in enumerate(missing):
            left = sum(map(self._work, missing[k:])) + after
            self._say(f"{cell.key} ({k + 1} of {len(missing)}{self._estimate(left)})")
            began = now()
            limits = {"tol": self.settings.tol, "max_iter": self.settings.max_iter}
            outcome = run_cell(self.tasks[cell.task], cell, limits, self.settings.seed, self.settings.threads)
            study = study.with_outcome(outcome)
            self._keep(study)
            self._done, self._seconds = self._done + self._work(cell), self._seconds + now() - began
        return study

    def _work(self, cell: Cell) -> float:
        """In any unit: sentences, times what the method takes, more with more labels."""
        task = self.tasks[cell.task]
        sentences = min(cell.sentences or len(task.train), len(task.train))
        return sentences * METHODS[cell.method].cost * (2.0 if task.target == "pos" else 1.0)

    def _estimate(self, left: float) -> str:
        return f", about {roughly_seconds(self._seconds / self._done * left)} left" if self._done else ""


def _warm_up(settings: Settings) -> None:
    """Loads (or compiles) every kernel, so that no method pays for it: with and without a tag dictionary, and for as
    many sentences as `auto` needs to begin with descent."""
    tasks = load_tasks(None, True, ["ner", "ptb"])
    for task in tasks.values():
        for method in METHODS.values():
            if method.is_there:
                cell = Cell(task.key, "s1", method.key, strength=1.0, sentences=20)
                run_cell(task, cell, {"max_iter": 1}, settings.seed, settings.threads)
    many = concatenate([tasks["ner"].train] * _ENOUGH)
    run_cell(replace(tasks["ner"], train=many), Cell("ner", "s1", "log"), {"max_iter": 2}, 0, settings.threads)
