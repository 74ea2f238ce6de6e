"""The experiments, one case after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trellis.errors import SettingError
from trellis.optim import LBFGS
from trellis.studies.folder import check_alike, plain_settings
from trellis.studies.machine import machine
from trellis.studies.tsuboi.costs import measure_costs
from trellis.studies.tsuboi.memory import Growth
from trellis.studies.tsuboi.methods import SOME, Method, all_methods
from trellis.studies.tsuboi.prior import GRID, best_of, try_priors
from trellis.studies.tsuboi.problem import ALL, SEEN, WEIGHTS, Problem
from trellis.studies.tsuboi.results import Case, Run, Sizes, Study
from trellis.studies.tsuboi.runs import Finished, Limits, merged, minimised, run_method
from trellis.studies.tsuboi.tasks import TITLES, Task, load_tasks

Say = Callable[[str], None]

# f* should be smaller than what any method ends with, by much more than the gaps that are looked at
_POLISH = LBFGS(memory=20, diagonal=True, tol=1e-14, gradient_tol=1e-3)
_POLISH_MOST = 500
_ORDER = [(task, weights) for task in TITLES for weights in WEIGHTS]  # of cases on the page


@dataclass(frozen=True)
class Settings:
    """`repeat`: rounds, in each of which every method runs once; `some`: sentences that NCG(c=...) keeps."""

    quick: bool = False
    tasks: Sequence[str] = tuple(TITLES)
    weights: Sequence[str] = (SEEN, ALL)
    threads: int = 1
    repeat: int = 1
    gradient_tol: float = 0.05
    max_passes: int = 3000
    grid: Sequence[float] = GRID
    some: int = SOME
    cost_rounds: int = 7
    memory: bool = True

    def __post_init__(self) -> None:
        for name in ("threads", "repeat", "max_passes"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} is {getattr(self, name)}; expected a whole number >= 1")
        for name in self.weights:
            if name not in WEIGHTS:
                raise SettingError(f"there are no weights '{name}'; there are: {', '.join(WEIGHTS)}")

    @property
    def limits(self) -> Limits:
        return Limits(self.gradient_tol, self.max_passes)


def quick_settings(settings: Settings) -> Settings:
    """All that there is, but so small that its figures mean nothing."""
    return replace(settings, quick=True, max_passes=40, grid=(0.5, 2.0), some=60, cost_rounds=1, memory=False)


def run_study(
    data: Path | None,
    settings: Settings,
    say: Say = lambda text: None,
    keep: Callable[[Study], None] | None = None,
    earlier: Study | None = None,
) -> Study:
    """`keep` is given what has been found so far, after every case. What an earlier study has is not run again: of its
    cases only the methods that it has not."""
    tasks = load_tasks(data, settings.quick, settings.tasks)
    if earlier is not None:
        check_alike(plain_settings(settings), earlier.settings, ("tasks", "weights"))
    study = earlier or Study(plain_settings(settings), machine(), ())
    say("warming up")
    _warm_up(settings)
    for task in tasks:
        known = [case for case in study.cases if case.task == task.key]
        tried: dict[float, float] = known[0].scores if known else {}
        for weights in settings.weights:
            case = study.case(task.key, weights)
            if case is not None and _is_complete(case, settings):
                continue
            tried = tried or try_priors(task, settings.grid, say)
            experiment = _Experiment(data, task, weights, tried, settings, say)
            study = study.with_case(experiment.case() if case is None else experiment.completed(case), _ORDER)
            if keep is not None:
                keep(study)
    return study


def _is_complete(case: Case, settings: Settings) -> bool:
    there = all_methods(settings.some).values()
    return all(case.run(method.key) is not None for method in there if method.fits(case.sizes.train))


class _Experiment:
    """One case."""

    def __init__(
        self, data: Path | None, task: Task, weights: str, tried: dict[float, float], settings: Settings, say: Say
    ):
        self.data, self.task, self.weights, self.tried, self.settings = data, task, weights, tried, settings
        self.l2 = best_of(tried)
        self.problem = Problem(task.train, task.test, task.target, task.features, weights)
        there = all_methods(settings.some).values()
        self.methods = [method for method in there if method.fits(self.problem.sentences)]
        self._say = say

    def case(self) -> Case:
        task, problem, layout = self.task, self.problem, self.problem.layout
        ended = self._first_round()
        runs = self._more_rounds([one.run for one in ended])
        self._tell("the optimum")
        best = min(ended, key=lambda one: one.run.last.objective)
        theta, value = minimised(problem, _POLISH, self.l2, best.theta, _POLISH_MOST)
        lowest = min(value, *(moment.objective for run in runs for moment in run.moments))
        self._tell("costs of single operations")
        costs = measure_costs(problem, theta, self.l2, self.settings.threads, self.settings.cost_rounds)
        return Case(
            task=task.key,
            title=task.title,
            weights=self.weights,
            features=task.features,
            held_out=task.held_out,
            sizes=Sizes(
                len(task.train), len(task.dev), len(task.test), problem.tokens,
                layout.attributes, layout.labels, layout.size,
            ),
            tried={f"{l2:g}": score for l2, score in self.tried.items()},
            l2=self.l2,
            f_star=lowest,
            f1_star=problem.score(theta),
            costs=costs,
            runs=tuple(self._with_memory(runs)),
        )  # fmt: skip

    def completed(self, case: Case) -> Case:
        """With the methods that were not there yet."""
        known = {run.key: run for run in case.runs}
        order = [method.key for method in self.methods]
        self.methods = [method for method in self.methods if method.key not in known]
        runs = self._with_memory(self._more_rounds([one.run for one in self._first_round()]))
        known |= {run.key: run for run in runs}
        lowest = min(case.f_star, *(moment.objective for run in runs for moment in run.moments))
        return replace(case, f_star=lowest, runs=tuple(known[key] for key in order))

    def _first_round(self) -> list[Finished]:
        return [self._run(method, 1, self.problem.score) for method in self.methods]

    def _more_rounds(self, first: list[Run]) -> list[Run]:
        """The same again, for the clock alone: scores are known."""
        rounds = [first]
        for k in range(1, self.settings.repeat):
            rounds.append([self._run(method, k + 1, lambda theta: 0.0).run for method in self.methods])
        return [merged(runs) for runs in zip(*rounds, strict=True)]

    def _run(self, method: Method, number: int, score: Callable[[Any], float]) -> Finished:
        rounds = f", round {number} of {self.settings.repeat}" if self.settings.repeat > 1 else ""
        self._tell(f"{method.name}{rounds}")
        return run_method(self.problem, method, self.l2, self.settings.threads, self.settings.limits, score)

    def _with_memory(self, runs: list[Run]) -> list[Run]:
        if not self.settings.memory:
            return runs
        self._tell("memory, in processes of their own")
        growth = Growth(self.data, self.settings.quick, self.task.key, self.weights, self.l2, self.settings.threads)
        return [replace(run, peak_bytes=growth.of(method)) for run, method in zip(runs, self.methods, strict=True)]

    def _tell(self, what: str) -> None:
        self._say(f"{self.task.title}, {WEIGHTS[self.weights]}: {what}")


def _warm_up(settings: Settings) -> None:
    """Loads (or compiles) every kernel, so that no method pays for it."""
    (task,) = load_tasks(None, True, ["quarter"])
    problem = Problem(task.train, task.test, task.target, task.features)
    limits = Limits(max_passes=3)
    for method in all_methods(2).values():
        run_method(problem, method, 1.0, settings.threads, limits, problem.score)
    with problem.objective(1.0, settings.threads) as objective:
        online, theta, rng = objective.descent(), np.zeros(problem.size), np.random.default_rng(0)
        assert online is not None
        online.best_step(theta, (0.1,), rng)
        online.epoch(theta, 0.1, 0.85, 0, 2, rng)
        objective.hessian_diagonal(theta)
