"""`trellis bench train`: preparing data, one evaluation, one iteration, memory, and training to convergence."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.errors import DataError, SettingError
from trellis.studies import crfsuite, ours
from trellis.studies.clock import Comparison, Times, timed
from trellis.studies.crfsuite_log import TrainingLog
from trellis.studies.machine import machine
from trellis.studies.memory import Memory
from trellis.studies.process import run_apart
from trellis.studies.task import Task

Say = Callable[[str], None]

NOTE = (
    "CRFsuite gives no single evaluation: its `evaluation` is an L-BFGS iteration with one line-search trial, "
    "vector updates included; compare it with `iteration` too."
)
_BRIEF = 5  # iterations when only memory is measured


@dataclass(frozen=True)
class Trained:
    """Training from a file to the optimum: `seconds` of all of it, `optimisation` of the iterations alone."""

    objective: float
    iterations: int
    evaluations: int
    seconds: float
    optimisation: float
    converged: bool


@dataclass(frozen=True)
class TrainBench:
    """`prepare`: text file -> features; `setup`: features -> ready for the first evaluation."""

    task: Task
    machine: dict[str, Any]
    sentences: int
    tokens: int
    parameters: dict[str, int]
    evaluation: Comparison
    iteration: Comparison
    prepare: Comparison
    setup: Comparison
    memory: Memory
    full: dict[str, Trained] | None

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench train --json`; ratios are CRFsuite's figure over Trellis'."""
        full = None
        if self.full is not None:
            peer, own = self.full["crfsuite"], self.full["trellis"]
            ratio = {"seconds": peer.seconds / own.seconds, "optimisation": peer.optimisation / own.optimisation}
            full = {"crfsuite": vars(peer), "trellis": vars(own), "ratio": ratio}
        return {
            "benchmark": "train",
            "against": "crfsuite",
            "data": {"train": str(self.task.train), "sentences": self.sentences, "tokens": self.tokens},
            "machine": self.machine,
            "features": self.task.features,
            "l2": self.task.l2,
            "parameters": self.parameters,
            "evaluation": {**self.evaluation.as_json(), "note": NOTE},
            "iteration": self.iteration.as_json(),
            "prepare": self.prepare.as_json(),
            "setup": self.setup.as_json(),
            "memory": self.memory.as_json(),
            "objective": full,
        }


def bench_train(
    task: Task,
    threads: Sequence[int] = (1, 2),
    repeat: int = 3,
    iterations: int = 15,
    full: bool = False,
    optimizer: str = "lbfgs",
    say: Say = lambda text: None,
) -> TrainBench:
    """Both systems in turn, `repeat` rounds of each; iterations are L-BFGS iterations a round."""
    crfsuite.require_pycrfsuite()
    check_rounds(threads, repeat, iterations)
    here = machine()
    say("warming up")
    ours.warm_up(task.columns, task.target, task.features)
    say("memory, in processes of their own")
    memory = _memory(task, max(threads))
    prepared = _Preparation(task, iterations)
    for k in range(repeat):
        say(f"preparing the data, round {k + 1} of {repeat}")
        prepared.round()
    rounds = _Rounds(task, prepared)
    for k in range(repeat):
        say(f"evaluations, round {k + 1} of {repeat}")
        rounds.round(threads, iterations)
    trained = _to_convergence(task, max(threads), optimizer, say) if full else None
    return TrainBench(
        task,
        here,
        len(prepared.ready.corpus),
        prepared.ready.corpus.tokens,
        {"crfsuite": rounds.peer_features, "trellis": prepared.size},
        Comparison(Times(tuple(rounds.peer)), _times(rounds.evaluations)),
        Comparison(Times(tuple(rounds.peer)), _times(rounds.iterations)),
        Comparison(Times(tuple(prepared.peer)), {1: Times(tuple(prepared.own))}),
        Comparison(Times(tuple(rounds.peer_setup)), {1: Times(tuple(prepared.own_setup))}),
        memory,
        trained,
    )


class _Preparation:
    """Rounds of preparing the data, by turns; keeps what the last one made."""

    def __init__(self, task: Task, iterations: int):
        self.task, self.iterations = task, iterations
        self.patterns, self.target = task.patterns(), task.columns.index(task.target)
        self.own: list[float] = []
        self.own_setup: list[float] = []
        self.peer: list[float] = []

    def round(self) -> None:
        task = self.task
        self.ready, seconds = timed(lambda: ours.prepare(task))
        self.own.append(seconds)
        if not self.ready.corpus.tokens:
            raise DataError("there is no token to learn from", task.train)
        (self.shards, self.size), seconds = timed(lambda: ours.cut(task, self.ready))
        self.own_setup.append(seconds)
        self.trainer, self.log = crfsuite.new_trainer(task.c2, self.iterations)
        path = str(task.train)
        tokens, seconds = timed(lambda: crfsuite.fill(self.trainer, path, self.patterns, self.target))
        self.peer.append(seconds)
        if tokens != self.ready.corpus.tokens:
            raise DataError(
                f"Trellis reads {self.ready.corpus.tokens} tokens and the peer's reader {tokens}; "
                "are there other blanks than spaces and tabs in the file?",
                task.train,
            )


class _Rounds:
    """Rounds of L-BFGS iterations on prepared data, by turns."""

    def __init__(self, task: Task, prepared: _Preparation):
        self.task, self.prepared = task, prepared
        self.peer: list[float] = []
        self.peer_setup: list[float] = []
        self.peer_features = 0
        self.evaluations: dict[int, list[float]] = defaultdict(list)
        self.iterations: dict[int, list[float]] = defaultdict(list)

    def round(self, threads: Sequence[int], iterations: int) -> None:
        log = self.prepared.log
        log.clear()
        with tempfile.TemporaryDirectory() as folder:
            self.prepared.trainer.train(str(Path(folder) / "model"))
        self.peer_setup.append(log.generation_seconds)
        self.peer_features = log.features
        self.peer += per_evaluation(log.iterations())
        for n in threads:
            evaluations, steps = ours.iterate(self.prepared.shards, self.prepared.size, self.task.l2, n, iterations)
            self.evaluations[n] += evaluations
            self.iterations[n] += per_evaluation(steps)


def per_evaluation(iterations: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds for each evaluation in those iterations (seconds, evaluations) that made the fewest, one as a rule."""
    made = [(seconds, trials) for seconds, trials in iterations if trials > 0]
    if not made:
        raise DataError("training ended before there was an iteration to time; give more data")
    fewest = min(trials for _, trials in made)
    return [seconds / trials for seconds, trials in made if trials == fewest]


def check_rounds(threads: Sequence[int], repeat: int, iterations: int) -> None:
    """Refuses what cannot be run."""
    if not threads or min(threads) < 1:
        raise SettingError(f"threads are {list(threads)}; expected whole numbers >= 1, e.g. 1,2")
    if repeat < 1 or iterations < 2:
        raise SettingError(f"repeat is {repeat} and iterations {iterations}; expected at least 1 and 2")


def _times(by_threads: dict[int, list[float]]) -> dict[int, Times]:
    return {n: Times(tuple(seconds)) for n, seconds in by_threads.items()}


def _memory(task: Task, threads: int) -> Memory:
    side, peer = "trellis.studies.ours", "trellis.studies.crfsuite"
    path, target = str(task.train), task.columns.index(task.target)
    given = (path, task.columns, task.target, task.features)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        return Memory(
            run_apart(f"{peer}:train", path, task.patterns(), target, task.c2, _BRIEF, model),
            run_apart(f"{peer}:import_only"),
            run_apart(f"{side}:train_apart", *given, task.c2, _BRIEF, threads),
            run_apart(f"{side}:warm_up", *given[1:]),
        )


def _to_convergence(task: Task, threads: int, optimizer: str, say: Say) -> dict[str, Trained]:
    say("training CRFsuite to convergence")
    peer = _train_peer(task)
    say("training Trellis to convergence")
    crf, seconds = timed(lambda: ours.fit(task, threads, optimizer=optimizer))
    own = Trained(crf.objective_, crf.iterations_, crf.evaluations_, seconds, crf.seconds_, crf.converged_)
    return {"crfsuite": peer, "trellis": own}


def _train_peer(task: Task) -> Trained:
    def work() -> TrainingLog:
        trainer, log = crfsuite.new_trainer(task.c2)
        crfsuite.fill(trainer, str(task.train), task.patterns(), task.columns.index(task.target))
        trainer.train(str(Path(folder) / "model"))
        return log

    with tempfile.TemporaryDirectory() as folder:
        log, seconds = timed(work)
    iterations = len(log.iterations()) + 1
    return Trained(log.objective, iterations, log.evaluations, seconds, log.optimisation_seconds, log.converged)
