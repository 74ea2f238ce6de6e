"""`trellis bench pruning`: training with coarse-to-fine pruning and without, on the same data, by one clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trellis.corpus import Corpus, read_conll
from trellis.models import CRF
from trellis.studies.clock import timed
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]


@dataclass(frozen=True)
class PruningRun:
    """A training as a whole, features included, and how good it is. `labels`: how many a token has on average in the
    last order; `lost`: the share of tokens whose own label was left out in training, but for a rule that keeps it."""

    seconds: float
    score: float
    evaluations: int
    labels: float
    lost: float


@dataclass(frozen=True)
class PruningBench:
    task: Task
    machine: dict[str, Any]
    sentences: int
    tokens: int
    settings: dict[str, Any]
    pruned: PruningRun
    whole: PruningRun

    @property
    def ratio(self) -> float:
        """How many times as long it takes without pruning."""
        return self.whole.seconds / self.pruned.seconds

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": "pruning",
            "machine": self.machine,
            "data": str(self.task.train),
            "features": self.task.features,
            "sentences": self.sentences,
            "tokens": self.tokens,
            **self.settings,
            "pruned": asdict(self.pruned),
            "whole": asdict(self.whole),
            "ratio": self.ratio,
        }


def bench_pruning(
    task: Task,
    test: Path,
    order: int = 1,
    prune: float = 0.001,
    tol: float = 1e-3,
    threads: int = 2,
    sentences: int | None = None,
    say: Say = lambda text: None,
) -> PruningBench:
    """One training each; `sentences`: of the training data, all if None."""
    check_counts(threads=threads)
    columns = list(task.columns)
    train, held_out = read_conll(task.train, columns=columns), read_conll(test, columns=columns)
    train = train if sentences is None else train.slice(0, min(len(train), sentences))
    small = train.slice(0, min(len(train), 50))
    settings: dict[str, Any] = {"order": order, "tol": tol, "threads": threads}

    def run(data: Corpus, threshold: float | None) -> tuple[CRF, float]:
        crf = CRF(task.target, task.features, l2=task.l2, prune=threshold, **settings)
        return timed(lambda: crf.fit(data))

    found = []
    for name, threshold in (("pruned", prune), ("whole", None)):
        say(f"{name}: compiling")
        run(small, threshold)
        say(f"{name}: training on {train.tokens:,} tokens")
        crf, seconds = run(train, threshold)
        labels = crf.pruning_[-1].labels if crf.pruning_ else float(len(crf.classes_))
        lost = crf.pruning_[-1].lost if crf.pruning_ else 0.0
        found.append(PruningRun(seconds, crf.score(held_out), crf.evaluations_, labels, lost))
    return PruningBench(task, machine(), len(train), train.tokens, {**settings, "prune": prune}, found[0], found[1])
