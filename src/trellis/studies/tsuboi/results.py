"""What a study has found, as plain data: it goes into a JSON file, and pages and plots are made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from trellis.errors import DataError


@dataclass(frozen=True)
class Moment:
    """After an iteration: time of the optimisation alone (wall clock, and of the processor), what it has cost in passes
    over the data, and what it has come to. `f1` is on the test data, a fraction."""

    seconds: float
    cpu_seconds: float
    evaluations: int
    products: int
    objective: float
    f1: float

    @property
    def passes(self) -> int:
        return self.evaluations + self.products


@dataclass(frozen=True)
class Run:
    """One method on one case. `seconds` of its moments are medians over `rounds`; `round_seconds` has the time of each
    round as a whole. `held_bytes`: arrays it holds between iterations beside the data; `peak_bytes`: growth of a
    process of its own while it runs, None if not measured."""

    key: str
    name: str
    paper: bool
    batch: bool
    converged: bool
    held_bytes: int
    peak_bytes: int | None
    round_seconds: tuple[float, ...]
    moments: tuple[Moment, ...]

    @property
    def last(self) -> Moment:
        return self.moments[-1]


@dataclass(frozen=True)
class Sizes:
    train: int
    dev: int
    test: int
    tokens: int
    attributes: int
    labels: int
    weights: int


@dataclass(frozen=True)
class Case:
    """A task with one choice of weights. `tried`: F1 on held-out data for each l2; `f_star` and `f1_star`: objective
    and test F1 at the optimum, as far as it is known; `costs`: milliseconds of single operations (see `costs`)."""

    task: str
    title: str
    weights: str
    features: str
    held_out: str
    sizes: Sizes
    tried: Mapping[str, float]
    l2: float
    f_star: float
    f1_star: float
    costs: Mapping[str, float]
    runs: tuple[Run, ...]

    @property
    def key(self) -> str:
        return f"{self.task}-{self.weights}"

    @property
    def scores(self) -> dict[float, float]:
        """`tried`, with numbers as keys."""
        return {float(l2): score for l2, score in self.tried.items()}

    def run(self, key: str) -> Run | None:
        return next((run for run in self.runs if run.key == key), None)


@dataclass(frozen=True)
class Study:
    """`settings`: what the command was told; `machine`: where it ran."""

    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    cases: tuple[Case, ...]

    def case(self, task: str, weights: str) -> Case | None:
        return next((case for case in self.cases if (case.task, case.weights) == (task, weights)), None)

    def with_case(self, case: Case, order: Sequence[tuple[str, str]]) -> Study:
        """With this case, in the place of one that is there already; `order`: tasks and weights as they follow one
        another."""
        others = [each for each in self.cases if each.key != case.key]
        cases = sorted((*others, case), key=lambda each: order.index((each.task, each.weights)))
        return replace(self, cases=tuple(cases))

    def as_json(self) -> dict[str, Any]:
        return {"study": "tsuboi", **asdict(self)}

    def by_processor(self) -> Study:
        """The same with the processor's time in the place of the wall clock's."""
        cases = tuple(replace(case, runs=tuple(map(_by_processor, case.runs))) for case in self.cases)
        return replace(self, settings={**self.settings, "clock": "cpu"}, cases=cases)

    @classmethod
    def from_json(cls, found: Any) -> Study:
        try:
            if found["study"] != "tsuboi":
                raise KeyError
            return cls(found["settings"], found["machine"], tuple(_case(**case) for case in found["cases"]))
        except (KeyError, TypeError):
            raise DataError("these are no results of `trellis reproduce tsuboi`, or of another version") from None


def _by_processor(run: Run) -> Run:
    return replace(run, moments=tuple(replace(moment, seconds=moment.cpu_seconds) for moment in run.moments))


def _case(sizes: dict[str, int], runs: list[dict[str, Any]], **rest: Any) -> Case:
    return Case(sizes=Sizes(**sizes), runs=tuple(_run(**run) for run in runs), **rest)


def _run(moments: list[dict[str, Any]], round_seconds: list[float], **rest: Any) -> Run:
    return Run(moments=tuple(Moment(**moment) for moment in moments), round_seconds=tuple(round_seconds), **rest)
