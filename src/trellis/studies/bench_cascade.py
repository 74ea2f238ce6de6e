"""`trellis bench cascade`: one evaluation of a cascade's joint objective against those of its stages by themselves.

The stages by themselves are what training with the wire `marginal` evaluates (Bunescu 2008): the lower one without
anything above it, the upper one with what it reads given. Azuma & Matsumoto (2011) say that the joint objective costs
the same but for a constant factor, and one more number for each arc of the lower lattice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade import Cascade, Stage
from trellis.cascade.learning import Learning
from trellis.cascade.stage import in_order
from trellis.cascade.together import Joined, stage_shards
from trellis.corpus import Corpus, read_conll
from trellis.errors import ConvergenceWarning
from trellis.models.keeping import Keeping
from trellis.objective import cut_into_shards
from trellis.studies.clock import Times, by_turns
from trellis.studies.machine import machine
from trellis.studies.process import Apart, run_apart
from trellis.studies.task import check_counts

F64 = NDArray[np.float64]
Say = Callable[[str], None]


@dataclass(frozen=True)
class CascadeBench:
    """Seconds of one value with gradient on one thread: of each stage by itself (`stages`), of all as one (`joint`),
    and of a Hessian-vector product; `listed`: nodes and arcs of the lowest stage that are read, for each token; memory
    of processes that evaluate the stages by themselves, and all as one."""

    machine: dict[str, Any]
    sentences: int
    tokens: int
    stages: dict[str, Times]
    joint: Times
    product: Times
    listed: tuple[float, float]
    apart: Apart | None
    together: Apart | None

    @property
    def ratio(self) -> float:
        """How many times as long all as one take."""
        return self.joint.best / sum(times.best for times in self.stages.values())

    @property
    def memory_ratio(self) -> float | None:
        if self.apart is None or self.together is None or not self.apart.peak_bytes or not self.together.peak_bytes:
            return None
        return self.together.peak_bytes / self.apart.peak_bytes

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": "cascade",
            "machine": self.machine,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "stages": {name: times.as_json() for name, times in self.stages.items()},
            "joint": self.joint.as_json(),
            "product": self.product.as_json(),
            "listed": list(self.listed),
            "ratio": self.ratio,
            "apart": None if self.apart is None else self.apart.as_json(),
            "together": None if self.together is None else self.together.as_json(),
            "memory_ratio": self.memory_ratio,
        }


def bench_cascade(
    train: Path,
    columns: Sequence[str],
    stages: Sequence[Stage],
    repeat: int = 5,
    sentences: int | None = None,
    iterations: int = 30,
    memory: bool = True,
    say: Say = lambda text: None,
) -> CascadeBench:
    """After so many `iterations` of training, stage by stage: probabilities are then as they mostly are. Both sides
    take turns."""
    check_counts(repeat=repeat, iterations=iterations)
    say("training the stages a little")
    corpus = _read(train, columns, sentences)
    learning = trained(corpus, stages, iterations)
    say("timing evaluations")
    asked = evaluations(learning)
    times = by_turns(asked, repeat)
    believed, tokens = learning.beliefs[0], corpus.tokens
    arcs = 0 if believed.arcs is None else len(believed.arcs.value)
    apart = together = None
    if memory:
        tables = [stage.table() for stage in stages]
        for which in ("apart", "together"):
            say(f"measuring memory: {which}")
            found = run_apart(
                "trellis.studies.bench_cascade:evaluate",
                which,
                str(train),
                list(columns),
                tables,
                sentences,
                iterations,
            )
            apart, together = (found, together) if which == "apart" else (apart, found)
    return CascadeBench(
        machine(), len(corpus), tokens, {stage.target: times[stage.target] for stage in in_order(stages)},
        times["joint"], times["product"], (len(believed.nodes.value) / tokens, arcs / tokens), apart, together,
    )  # fmt: skip


def trained(corpus: Corpus, stages: Sequence[Stage], iterations: int) -> Learning:
    """Stage by stage, for so many iterations."""
    few = [_with_iterations(stage, iterations) for stage in stages]
    cascade = Cascade(few, threads=1)
    learning = Learning(cascade, in_order(few), corpus, None, Keeping())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learning.stage_by_stage()
    return learning


def evaluations(learning: Learning) -> dict[str, Callable[[], Any]]:
    """What is timed, by name, all on one thread."""
    return {**apart_of(learning), **together_of(learning)}


def apart_of(learning: Learning) -> dict[str, Callable[[], Any]]:
    """The stages by themselves."""
    asked: dict[str, Callable[[], Any]] = {}
    for s, ready in enumerate(learning.ready):
        if ready.wiring is None:
            shards: Any = cut_into_shards(ready.model.layout, ready.examples(None), ready.loss)
        else:
            shards = stage_shards(ready, [learning.beliefs[k] for k in learning.reads[s]], learning.model.least)
        asked[ready.stage.target] = _evaluation(shards, learning.model.stages[s].model.weights)
    return asked


def together_of(learning: Learning) -> dict[str, Callable[[], Any]]:
    """All as one."""
    theta = learning.model.weights
    joint = Joined(learning).shards(learning.model.least)
    direction = np.random.default_rng(0).normal(size=len(theta))

    def product() -> None:
        for shard in joint:
            shard.hessian_vector(theta, direction)

    return {"joint": _evaluation(joint, theta), "product": product}


def _evaluation(shards: Sequence[Any], theta: F64) -> Callable[[], None]:
    def evaluate_all() -> None:
        for shard in shards:
            shard.value_and_gradient(theta)

    return evaluate_all


def evaluate(
    which: str, train: str, columns: list[str], tables: list[dict[str, Any]], sentences: int | None, iterations: int
) -> None:
    """In a process of its own, whose memory is looked at."""
    stages = [Stage.of_table({key: value for key, value in table.items() if key != "smooth"}) for table in tables]
    learning = trained(_read(Path(train), columns, sentences), stages, iterations)
    if which == "together":
        together_of(learning)["joint"]()
        return
    for run in apart_of(learning).values():
        run()


def _read(train: Path, columns: Sequence[str], sentences: int | None) -> Corpus:
    corpus = read_conll(train, columns=list(columns))
    return corpus if sentences is None else corpus.slice(0, min(len(corpus), sentences))


def _with_iterations(stage: Stage, iterations: int) -> Stage:
    table = {key: value for key, value in stage.table().items() if key != "smooth"}
    return Stage.of_table({**table, "max_iter": iterations}, stage.smooth)
