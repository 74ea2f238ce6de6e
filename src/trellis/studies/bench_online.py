"""`trellis bench online`: learners that go over the sentences one by one, beside CRFsuite's own.

Every learner makes the same number of epochs on the same data. `train` is CRFsuite's `train()`, which also numbers the
features and writes the model, and on our side all from attribute numbers to weights; `text` begins with the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from trellis.corpus import Column, Corpus, read_conll
from trellis.engine import ThreadedObjective
from trellis.errors import SettingError
from trellis.metrics import compare
from trellis.models.linear import LinearChain
from trellis.objective import L2
from trellis.optim import OPTIMIZERS, find_optimizer, is_over, traits_of
from trellis.studies import crfsuite, ours
from trellis.studies.clock import Stopwatch
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]

# a learner of ours -> the one of CRFsuite's to compare it with
COUNTERPARTS = {"perceptron": "ap", "pa": "pa", "arow": "arow", "sgd": "l2sgd"}
PEERS = tuple(COUNTERPARTS.values())


@dataclass(frozen=True)
class Run:
    """Seconds, of the processor and by the wall; `score`: F1 on the test file, or accuracy without segments."""

    train: float
    text: float
    train_wall: float
    text_wall: float
    score: float
    epochs: int
    active: int | None = None


@dataclass(frozen=True)
class OnlineBench:
    """Runs of each learner, in the order they took turns: of CRFsuite's by algorithm, of ours by optimizer."""

    task: Task
    test: Path
    machine: dict[str, Any]
    epochs: int
    peers: Mapping[str, Sequence[Run]]
    own: Mapping[str, Sequence[Run]]

    def ratio(self, name: str, what: str = "train") -> float | None:
        """The median time of CRFsuite's counterpart over ours: above 1, ours is faster."""
        peer = self.peers.get(COUNTERPARTS.get(name.partition(":")[0], ""))
        if peer is None:
            return None
        theirs, own = (median(getattr(run, what) for run in runs) for runs in (peer, self.own[name]))
        return float(theirs / own)

    def as_json(self) -> dict[str, Any]:
        return {
            "benchmark": "online",
            "against": "crfsuite",
            "machine": self.machine,
            "data": {"train": str(self.task.train), "test": str(self.test)},
            "features": self.task.features,
            "epochs": self.epochs,
            "crfsuite": {name: list(map(asdict, runs)) for name, runs in self.peers.items()},
            "trellis": {
                name: {"runs": list(map(asdict, runs)), "ratio": {w: self.ratio(name, w) for w in ("train", "text")}}
                for name, runs in self.own.items()
            },
        }


def bench_online(
    task: Task,
    test: Path,
    optimizers: Mapping[str, tuple[str, Mapping[str, Any]]],
    peers: Sequence[str] = PEERS,
    epochs: int = 20,
    repeat: int = 3,
    say: Say = lambda text: None,
) -> OnlineBench:
    """All learners by turns, `repeat` times. `optimizers`: what to call each -> its name and options."""
    check_counts(repeat=repeat, epochs=epochs)
    if peers:
        crfsuite.require_pycrfsuite()
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise SettingError(f"CRFsuite has no '{unknown[0]}' to compare with; expected some of: {', '.join(PEERS)}")
    given = {name: _checked(kind, options, epochs) for name, (kind, options) in optimizers.items()}
    heldout = read_conll(test, columns=task.columns)
    for kind in {kind for kind, _ in given.values()}:
        ours.warm_up(task.columns, task.target, task.features, kind)
    theirs: dict[str, list[Run]] = {name: [] for name in peers}
    own: dict[str, list[Run]] = {name: [] for name in given}
    for turn in range(repeat):
        for name, (kind, options) in given.items():
            say(f"{name}, run {turn + 1} of {repeat}")
            own[name].append(_run(task, heldout, kind, options))
        for name in peers:
            say(f"CRFsuite's {name}, run {turn + 1} of {repeat}")
            theirs[name].append(_run_of_peer(task, test, heldout, name, epochs))
    return OnlineBench(task, test, machine(), epochs, theirs, own)


def _checked(kind: str, options: Mapping[str, Any], epochs: int) -> tuple[str, Mapping[str, Any]]:
    if "epochs" in options:
        raise SettingError(f"epochs of {kind}: all learners make the same number, which is --epochs")
    options = {**options, "epochs": epochs}
    if kind in OPTIMIZERS and not traits_of(OPTIMIZERS[kind]).is_online:
        online = [name for name, each in OPTIMIZERS.items() if traits_of(each).is_online]
        raise SettingError(f"optimizer '{kind}' does not go by single sentences; those that do: {', '.join(online)}")
    find_optimizer(kind, 1e-5, **options)
    return kind, options


def _run(task: Task, heldout: Corpus, kind: str, options: Mapping[str, Any]) -> Run:
    optimizer, traits = find_optimizer(kind, 1e-5, **options), traits_of(OPTIMIZERS[kind])
    prepare, train = Stopwatch(), Stopwatch()
    ready = prepare.of(lambda: ours.prepare(task))

    def learn() -> tuple[LinearChain, int]:
        layout = ours.layout_of(task, ready)
        loss = traits.learns[0] if traits.learns else "log"
        shards, size = ours.cut(task, ready, layout, loss, as_layout=True)
        with ThreadedObjective(shards, size, L2(task.l2 if traits.uses_prior else 0.0), 1) as objective:
            state = optimizer.start(objective, np.zeros(size))
            while not is_over(state):
                state = optimizer.step(objective, state)
        labels = tuple(ready.corpus[task.target].strings)
        return LinearChain(labels, ready.features, layout, state.theta), state.iteration

    model, epochs = train.of(learn)
    found = model.best(heldout.compact())
    score = compare(heldout[task.target], Column(found, model.labels), heldout.offsets).headline
    return Run(
        train.cpu_seconds, prepare.cpu_seconds + train.cpu_seconds, train.seconds, prepare.seconds + train.seconds,
        score, epochs, int(np.count_nonzero(model.weights)),
    )  # fmt: skip


def _run_of_peer(task: Task, test: Path, heldout: Corpus, algorithm: str, epochs: int) -> Run:
    trainer, patterns = crfsuite.online_trainer(algorithm, epochs, task.c2), task.patterns()
    target = task.columns.index(task.target)
    prepare, train = Stopwatch(), Stopwatch()
    prepare.of(lambda: crfsuite.fill(trainer, str(task.train), patterns, target))
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        train.of(lambda: trainer.train(model))
        tagger = crfsuite.open_tagger(model)
        found = crfsuite.tag(tagger, str(test), crfsuite.string_builder(patterns))
    column = Column.of([label for sentence in found for label in sentence])
    score = compare(heldout[task.target], column, heldout.offsets).headline
    return Run(
        train.cpu_seconds, prepare.cpu_seconds + train.cpu_seconds, train.seconds, prepare.seconds + train.seconds,
        score, epochs,
    )  # fmt: skip
