"""`trellis bench features`: from text to attribute numbers, against strings made in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trellis.corpus import Corpus, read_conll
from trellis.errors import SettingError
from trellis.features import TemplateFeatures, templates_for
from trellis.studies import crfsuite, ours
from trellis.studies.clock import Comparison, Times, timed
from trellis.studies.machine import machine
from trellis.studies.ner_strings import ner_strings
from trellis.studies.task import Task

Say = Callable[[str], None]


@dataclass(frozen=True)
class FeatureBench:
    """`prepare`: file to attribute numbers against file to CRFsuite's trainer, with the task's features; `ner`: a
    corpus in memory to the attributes of the preset `ner`, against a Python function that makes them as strings."""

    task: Task
    machine: dict[str, Any]
    sentences: int
    tokens: int
    attributes: int
    prepare: Comparison
    ner: Comparison
    ner_templates: int
    ner_attributes: int

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench features --json`; ratios are the peer's time over Trellis'."""
        ner = self.ner.as_json()
        return {
            "benchmark": "features",
            "data": {"train": str(self.task.train), "sentences": self.sentences, "tokens": self.tokens},
            "machine": self.machine,
            "features": self.task.features,
            "attributes": self.attributes,
            "prepare": self.prepare.as_json(),
            "ner": {
                "templates": self.ner_templates,
                "attributes": self.ner_attributes,
                "python": ner["crfsuite"],
                "trellis": ner["trellis"],
                "ratio": ner["ratio"],
            },
        }


def bench_features(task: Task, repeat: int = 5, say: Say = lambda text: None) -> FeatureBench:
    """All sides in turn, `repeat` rounds; Trellis on one thread."""
    crfsuite.require_pycrfsuite()
    if repeat < 1:
        raise SettingError(f"repeat is {repeat}; expected at least 1")
    for name in ("word", "pos"):
        if name not in task.columns or name == task.target:
            raise SettingError(f"the preset 'ner' is compared on the columns word and pos; there is no '{name}'")
    here = machine()
    say("warming up")
    ours.warm_up(task.columns, task.target, task.features)
    corpus = read_conll(task.train, columns=task.columns).compact()
    words, tags = corpus.sentences("word"), corpus.sentences("pos")
    _ner(corpus.slice(0, min(50, len(corpus))), task)
    patterns, target = task.patterns(), task.columns.index(task.target)
    own: list[float] = []
    peer: list[float] = []
    own_ner: list[float] = []
    python_ner: list[float] = []
    for k in range(repeat):
        say(f"round {k + 1} of {repeat}")
        ready, seconds = timed(lambda: ours.prepare(task))
        own.append(seconds)
        trainer, _ = crfsuite.new_trainer(task.c2)
        peer.append(timed(partial(crfsuite.fill, trainer, str(task.train), patterns, target))[1])
        del trainer
        features, seconds = timed(lambda: _ner(corpus, task))
        own_ner.append(seconds)
        python_ner.append(timed(lambda: [ner_strings(w, p) for w, p in zip(words, tags, strict=True)])[1])
    return FeatureBench(
        task,
        here,
        len(corpus),
        corpus.tokens,
        ready.features.attributes,
        Comparison(Times(tuple(peer)), {1: Times(tuple(own))}),
        Comparison(Times(tuple(python_ner)), {1: Times(tuple(own_ner))}),
        len(features.templates),
        features.attributes,
    )


def _ner(corpus: Corpus, task: Task) -> TemplateFeatures:
    corpus = corpus.compact()
    return TemplateFeatures.learn(corpus, templates_for("ner", list(corpus.columns), task.target))[0]
