"""Trellis' side: the steps of `CRF.fit` one by one, and tagging from text to labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus, parse_conll, read_conll
from trellis.engine import ThreadedObjective
from trellis.errors import ConvergenceWarning
from trellis.features import Packed, TemplateFeatures, templates_for
from trellis.jit import threads_available
from trellis.losses import find_loss
from trellis.models import CRF, load
from trellis.objective import L2, Examples, Shard, cut_into_shards, order_by_appearance
from trellis.optim import LBFGS, Boosted, is_over
from trellis.scoring import WeightLayout, observed_layout
from trellis.studies.clock import now, timed
from trellis.studies.task import Task

if TYPE_CHECKING:
    from trellis.engine.online import Online

F64 = NDArray[np.float64]

_MEMORY = 6  # pairs that L-BFGS keeps: CRFsuite's default, so that an iteration is the same work


@dataclass(frozen=True)
class Prepared:
    """A training file read and in attribute numbers."""

    corpus: Corpus
    features: TemplateFeatures
    packed: Packed


@dataclass
class Clocked:
    """An objective, and the seconds each of its evaluations took."""

    objective: ThreadedObjective
    seconds: list[float] = field(default_factory=list)

    @property
    def l1(self) -> float:
        return self.objective.l1

    def value_and_gradient(self, theta: F64) -> tuple[float, F64]:
        answer, seconds = timed(lambda: self.objective.value_and_gradient(theta))
        self.seconds.append(seconds)
        return answer

    def hessian_vector(self, theta: F64, direction: F64) -> F64:
        return self.objective.hessian_vector(theta, direction)

    def hessian_diagonal(self, theta: F64) -> F64:
        return self.objective.hessian_diagonal(theta)

    def descent(self) -> None:
        return None

    @property
    def has_curvature(self) -> bool:
        return self.objective.has_curvature

    @property
    def l2(self) -> float:
        return self.objective.l2

    def online(self, marginals: bool = False) -> Online:
        return self.objective.online(marginals)

    def boosting(self) -> Boosted:
        return self.objective.boosting()


def prepare(task: Task) -> Prepared:
    """Text file -> features."""
    corpus = read_conll(task.train, columns=task.columns).compact()
    templates = templates_for(task.features, list(corpus.columns), task.target)
    return Prepared(corpus, *TemplateFeatures.learn(corpus, templates))


def layout_of(task: Task, ready: Prepared) -> WeightLayout:
    """Which weights there are."""
    packed, gold = ready.packed, ready.corpus[task.target]
    return observed_layout(
        packed.indptr, packed.ids, gold.ids, ready.corpus.offsets, ready.features.attributes, len(gold.strings)
    )


def cut(
    task: Task, ready: Prepared, layout: WeightLayout | None = None, loss: str = "log", as_layout: bool = False
) -> tuple[list[Shard], int]:
    """Features -> shards, and the number of weights. `as_layout`: these are in the layout's order, not in that in which
    trainings have many of them."""
    layout, packed = layout or layout_of(task, ready), ready.packed
    gold, offsets = ready.corpus[task.target], ready.corpus.offsets
    examples = Examples(packed.indptr, packed.ids, packed.values, gold.ids, offsets)
    shards = cut_into_shards(layout, examples, find_loss(loss))
    if not as_layout:
        order_by_appearance(shards, layout.size)
    return shards, layout.size


def iterate(
    shards: Sequence[Shard], size: int, l2: float, threads: int, iterations: int
) -> tuple[list[float], list[tuple[float, int]]]:
    """Some L-BFGS iterations from zero: seconds of every evaluation; seconds and evaluations of every iteration."""
    optimizer = LBFGS(memory=_MEMORY)
    steps: list[tuple[float, int]] = []
    with ThreadedObjective(shards, size, L2(l2), threads) as objective:
        clocked = Clocked(objective)
        state = optimizer.start(clocked, np.zeros(size))
        while len(steps) < iterations and not is_over(state):
            made, began = len(clocked.seconds), now()
            state = optimizer.step(clocked, state)
            steps.append((now() - began, len(clocked.seconds) - made))
    return clocked.seconds, steps


def fit(task: Task, threads: int, iterations: int | None = None, optimizer: str = "lbfgs") -> CRF:
    """Trains as a user does, to convergence or for some iterations."""
    crf = CRF(task.target, task.features, l2=task.l2, optimizer=optimizer, threads=threads)
    if iterations is not None:
        crf.set_params(max_iter=iterations)
    with warnings.catch_warnings():
        if iterations is not None:  # so few iterations are not meant to converge
            warnings.simplefilter("ignore", ConvergenceWarning)
        return crf.fit(read_conll(task.train, columns=task.columns))


def tag(crf: CRF, path: str | Path, columns: Sequence[str]) -> list[list[str]]:
    """Text file -> labels as strings."""
    return crf.predict(read_conll(path, columns=columns, threads=crf.threads or threads_available()))


def warm_up(columns: Sequence[str], target: str, features: str, optimizer: str = "auto") -> None:
    """Loads (or compiles) every kernel that training and tagging use, on a few made-up sentences."""
    import numba  # noqa: F401  once it is there, small inputs take the compiled way too

    lines = [" ".join(f"{'abc'[(n * t) % 3]}" for _ in columns) for n in range(1, 9) for t in range(n)]
    cuts = np.cumsum(range(1, 9)).tolist()
    text = "\n\n".join("\n".join(lines[a:b]) for a, b in zip([0, *cuts], cuts, strict=False))
    corpus = parse_conll(text.encode(), columns)
    crf = CRF(target, features, optimizer=optimizer, max_iter=2, threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(corpus).predict(corpus)


def train_apart(
    path: str, columns: list[str], target: str, features: str, c2: float, iterations: int, threads: int
) -> None:
    """Trains from a file, for a process that is measured."""
    fit(Task(Path(path), tuple(columns), target, features, c2), threads, iterations)


def tag_apart(model: str, path: str, columns: list[str], threads: int) -> None:
    """Loads a model and tags a file, for a process that is measured."""
    tag(load(model).set_params(threads=threads), path, columns)
