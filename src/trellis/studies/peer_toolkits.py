"""Toolkits around CRFsuite's library, python-crfsuite, sklearn-crfsuite and chaine, on the same attributes as Trellis.

Attributes are made before the clock runs, in the form that each toolkit takes: lists of strings, or for chaine
dictionaries. Trellis is given the same lists, and, because its users need not make any, a corpus in columns as well.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from trellis.corpus import Corpus, read_conll, write_conll
from trellis.errors import ConvergenceWarning, DataError
from trellis.models import CRF
from trellis.studies import crfsuite, ours
from trellis.studies.bench_train import per_evaluation
from trellis.studies.clock import Times, by_turns, now
from trellis.studies.contest import Contest, found, quiet
from trellis.studies.task import Task

Labels = list[list[str]]

MODULES = {"python-crfsuite": "pycrfsuite", "sklearn-crfsuite": "sklearn_crfsuite", "chaine": "chaine.crf"}
LISTS, COLUMNS = "lists", "columns"
_MEMORY = 6  # pairs that L-BFGS keeps, which is everybody's default but Trellis'


@dataclass(frozen=True)
class Given:
    """What all are given: attributes and labels of every sentence."""

    task: Task
    corpus: Corpus
    attributes: list[list[list[str]]]
    labels: Labels
    iterations: int


class Toolkit:
    """One of them: trains, says how long iterations took, and tags the same sentences."""

    def __init__(self, module: Any, given: Given, folder: Path):
        self.module, self.given, self.model = module, given, str(folder / type(self).__name__)
        self.times: list[float] = []

    def train(self) -> None:
        raise NotImplementedError

    def tag(self) -> Labels:
        raise NotImplementedError


class PythonCrfsuite(Toolkit):
    def train(self) -> None:
        trainer, log = crfsuite.new_trainer(self.given.task.c2, self.given.iterations)
        for attributes, labels in zip(self.given.attributes, self.given.labels, strict=True):
            trainer.append(attributes, labels)
        trainer.train(self.model)
        self.times += per_evaluation(log.iterations())
        self.tagger = crfsuite.open_tagger(self.model)

    def tag(self) -> Labels:
        return [self.tagger.tag(attributes) for attributes in self.given.attributes]


class SklearnCrfsuite(Toolkit):
    def train(self) -> None:
        seen: list[float] = []

        class Clocked(crfsuite.require_pycrfsuite().Trainer):  # type: ignore[misc]
            def message(self, message: str) -> None:
                if message.startswith("***** Iteration #"):
                    seen.append(now())

        self.crf = self.module.CRF(
            algorithm="lbfgs",
            c1=0.0,
            c2=self.given.task.c2,
            max_iterations=self.given.iterations,
            num_memories=_MEMORY,
            trainer_cls=Clocked,
        )
        self.crf.fit(self.given.attributes, self.given.labels)
        self.times += between(seen)

    def tag(self) -> Labels:
        return list(self.crf.predict(self.given.attributes))


class Chaine(Toolkit):
    def __init__(self, module: Any, given: Given, folder: Path):
        super().__init__(module, given, folder)
        self.sentences = [[dict.fromkeys(token, 1.0) for token in sentence] for sentence in given.attributes]

    def train(self) -> None:
        seen: list[float] = []

        class Clocked(self.module._Trainer):  # type: ignore[misc, name-defined]
            def _log(self, message: str) -> None:
                if message.startswith("Iteration "):
                    seen.append(now())

        settings = {
            "c1": 0.0,
            "c2": self.given.task.c2,
            "max_iterations": self.given.iterations,
            "num_memories": _MEMORY,
        }
        trainer = self.module.Trainer("lbfgs", **settings)
        trainer._trainer = Clocked("lbfgs", **settings)
        trainer.train(self.sentences, self.given.labels, model_filepath=self.model)
        self.times += between(seen)
        self.tagger = self.module.Model(self.model)

    def tag(self) -> Labels:
        found: Labels = self.tagger.predict(self.sentences)
        return found


KINDS: dict[str, Callable[[Any, Given, Path], Toolkit]] = {
    "python-crfsuite": PythonCrfsuite,
    "sklearn-crfsuite": SklearnCrfsuite,
    "chaine": Chaine,
}


def toolkits(
    task: Task, sentences: int, iterations: int, rounds: int, insisted: str | None = None
) -> tuple[list[Contest], list[str]]:
    """Training for so many iterations, one of these, and tagging, on the first sentences of a file; who is missing."""
    modules, missing = found(MODULES, insisted)
    if not modules:
        return [], missing
    given = _given(task, sentences, iterations)
    sizes = {"sentences": len(given.corpus), "tokens": given.corpus.tokens, "iterations": iterations}
    with tempfile.TemporaryDirectory() as name:
        peers = {peer: KINDS[peer](module, given, Path(name)) for peer, module in modules.items()}
        own = {way: _Ours(given, way) for way in (LISTS, COLUMNS)}
        both: dict[str, Toolkit | _Ours] = {**peers, **own}
        steps = _Steps(given, Path(name))
        with quiet():
            training = by_turns({**_works(both, "train"), "steps": steps.run}, rounds)
            tagging = by_turns(_works(both, "tag"), rounds)
            labels = {name: _flat(each.tag()) for name, each in both.items()}
    alike = {peer: _share(labels[peer], labels[LISTS]) for peer in peers}
    iterations_of = {peer: Times(tuple(toolkit.times)) for peer, toolkit in peers.items()}
    return [
        Contest("train", sizes, _of(training, own), _of(training, peers)),
        Contest("iteration", sizes, {COLUMNS: Times(tuple(steps.times))}, iterations_of),
        Contest("tag", {**sizes, "labels_as_ours": alike}, _of(tagging, own), _of(tagging, peers)),
    ], missing


class _Ours:
    """Trellis, from one of its two kinds of data."""

    def __init__(self, given: Given, way: str):
        self.given, self.data = given, given.attributes if way == LISTS else given.corpus
        self.labels = given.labels if way == LISTS else None
        task = given.task
        self.crf = CRF(
            task.target, task.features, optimizer="lbfgs", options={"memory": _MEMORY}, l2=task.l2,
            max_iter=given.iterations, threads=1,
        )  # fmt: skip

    def train(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.crf.fit(self.data, self.labels)

    def tag(self) -> Labels:
        return self.crf.predict(self.data)


def _given(task: Task, sentences: int, iterations: int) -> Given:
    corpus = read_conll(task.train, columns=task.columns)
    corpus = corpus.slice(0, min(sentences, len(corpus))).compact()
    if not corpus.tokens:
        raise DataError("there is no token to learn from", task.train)
    build = crfsuite.string_builder(task.patterns())
    names = list(task.columns)
    rows = list(zip(*(corpus[name].values() if name != "_" else ["_"] * corpus.tokens for name in names), strict=True))
    cuts = corpus.offsets.tolist()
    attributes = [build([list(row) for row in rows[a:b]]) for a, b in pairwise(cuts)]
    return Given(task, corpus, attributes, corpus.sentences(task.target), iterations)


class _Steps:
    """Iterations of Trellis' L-BFGS with as many pairs kept, on one thread."""

    def __init__(self, given: Given, folder: Path):
        file, task = folder / "train.txt", given.task
        file.write_bytes(write_conll(given.corpus))
        self.given = given
        self.task = Task(file, tuple(given.corpus.columns), task.target, task.features, task.c2)
        self.shards, self.size = ours.cut(self.task, ours.prepare(self.task))
        self.times: list[float] = []

    def run(self) -> None:
        _, steps = ours.iterate(self.shards, self.size, self.task.l2, 1, self.given.iterations)
        self.times += per_evaluation(steps)


def between(moments: Sequence[float]) -> list[float]:
    """Seconds from one to the next."""
    if len(moments) < 2:
        raise DataError("training ended before there was an iteration to time; give more data")
    return [b - a for a, b in pairwise(moments)]


def _works(sides: Mapping[str, Any], what: str) -> dict[str, Callable[[], Any]]:
    return {name: getattr(side, what) for name, side in sides.items()}


def _of(times: Mapping[str, Times], sides: Mapping[str, Any]) -> dict[str, Times]:
    return {name: times[name] for name in sides}


def _flat(labels: Labels) -> list[str]:
    return [label for sentence in labels for label in sentence]


def _share(one: list[str], other: list[str]) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
