"""Which cells there are. Those from which priors are chosen come first; every part of the study is a function that
names its cells, some of which several parts share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trellis.errors import SettingError
from trellis.studies.altun.cells import HYPERBOLIC, L1, L2, NONE, Cell
from trellis.studies.altun.methods import LOSSES, METHODS
from trellis.studies.altun.tasks import KINDS

Chosen = Callable[[str, str, str], float]  # task, features, method -> strength of the Gaussian prior

GRIDS = {L2: (0.005, 0.02, 0.1, 0.5, 2.0), L1: (0.05, 0.2, 0.8), HYPERBOLIC: (0.05, 0.2, 0.8), NONE: (0.0,)}
COMPARED = {"ner": "s3", "ptb": "s2"}  # what priors are compared on: tasks with a development file
NOISY = "ner", "s2"
ENOUGH_TO_CHOOSE = 2000  # sentences, where what a prior is chosen with is trained for that alone
NOISY_TIMES = 5.0, 25.0  # times the prior chosen without noise


@dataclass(frozen=True)
class Scope:
    """What a study is told: which tasks (with how many sentences), sizes, shares of wrong labels; `grid`: how many of a
    method's strengths are tried."""

    tasks: tuple[tuple[str, int], ...]
    sizes: tuple[int, ...]
    noise: tuple[float, ...]
    grid: int

    def smaller(self, task: str) -> list[int]:
        """Sizes that are less than all."""
        return [size for size in self.sizes if size < dict(self.tasks)[task]]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Scope:
        tasks = tuple((str(task), int(size)) for task, size in found["tasks"])
        return cls(tasks, tuple(found["sizes"]), tuple(found["noise"]), int(found["grid"]))

    def feature_sets(self) -> list[tuple[str, str]]:
        return [(task, features) for task, _ in self.tasks for features in KINDS[task].features]


def tried(task: str, features: str, method: str, grid: int) -> list[Cell]:
    """The cells from which the prior of a method is chosen."""
    apart = task == "pos"
    size = ENOUGH_TO_CHOOSE if apart else None
    return [
        Cell(task, features, method, strength=strength, sentences=size, held_out=apart)
        for strength in METHODS[method].grid[:grid]
    ]


def cells_to_choose_from(parts: Sequence[str], scope: Scope) -> list[Cell]:
    """What has to be known before the cells of these parts can be named."""
    needed: list[tuple[str, str, str]] = []
    for task, features in scope.feature_sets():
        if {"losses", "sizes"} & set(parts) or ("noise" in parts and (task, features) == NOISY):
            needed += [(task, features, method) for method in LOSSES]
        elif "methods" in parts:
            needed += [(task, features, method) for method in ("log", "exp")]
    return [cell for each in needed for cell in tried(*each, scope.grid)]


def _losses(scope: Scope, chosen: Chosen) -> Iterator[Cell]:
    for task, features in scope.feature_sets():
        for method in LOSSES:
            yield Cell(task, features, method, strength=chosen(task, features, method))


def _sizes(scope: Scope, chosen: Chosen) -> Iterator[Cell]:
    for task, features in scope.feature_sets():
        for size in scope.smaller(task):
            for method in LOSSES:
                yield Cell(task, features, method, strength=chosen(task, features, method), sentences=size)
    yield from _losses(scope, chosen)


def _priors(scope: Scope, chosen: Chosen) -> Iterator[Cell]:
    for task, features in COMPARED.items():
        if task not in dict(scope.tasks):
            continue
        for size in [*scope.smaller(task), None]:
            for prior, grid in GRIDS.items():
                for strength in grid[: scope.grid]:
                    yield Cell(task, features, "log", prior, strength, size)


def noisy_cells(scope: Scope, method: str, noise: float, chosen: Chosen) -> list[Cell]:
    """With the prior that was chosen without noise, which comes first, and with stronger ones."""
    task, features = NOISY
    first = chosen(task, features, method)
    strengths = [first, *(times * first for times in NOISY_TIMES if noise)]
    return [Cell(task, features, method, strength=strength, noise=noise) for strength in strengths[: scope.grid]]


def _noise(scope: Scope, chosen: Chosen) -> Iterator[Cell]:
    if NOISY[0] in dict(scope.tasks):
        for noise in scope.noise:
            for method in LOSSES:
                yield from noisy_cells(scope, method, noise, chosen)


def _methods(scope: Scope, chosen: Chosen) -> Iterator[Cell]:
    for task, features in scope.feature_sets():
        for method in METHODS.values():
            if method.grid:
                if method.key in ("log", "exp"):
                    yield Cell(task, features, method.key, strength=chosen(task, features, method.key))
            elif method.is_there:
                yield Cell(task, features, method.key, NONE)
                if method.follows and task == "pos":  # only there is something to score on along the way
                    yield Cell(task, features, method.key, NONE, held_out=True)


PARTS: dict[str, Callable[[Scope, Chosen], Iterable[Cell]]] = {
    "losses": _losses,
    "sizes": _sizes,
    "priors": _priors,
    "noise": _noise,
    "methods": _methods,
}


def cells_of(parts: Sequence[str], scope: Scope, chosen: Chosen) -> list[Cell]:
    """Each once, in order."""
    found = (cell for part in PARTS if part in parts for cell in PARTS[part](scope, chosen))
    return list(dict.fromkeys(found))


def check_parts(parts: Sequence[str]) -> None:
    for part in parts:
        if part not in PARTS:
            raise SettingError(f"there is no part '{part}'; the parts are: {', '.join(PARTS)}")
