"""Trellis' processes of `trellis bench memory`: step by step, and as users train and tag."""

from __future__ import annotations

from pathlib import Path

from trellis.corpus import read_conll
from trellis.features import TemplateFeatures, templates_for
from trellis.models import load
from trellis.studies import ours
from trellis.studies.phases import Marks
from trellis.studies.task import Task

WARM, IMPORT, CORPUS, FEATURES = "kernels", "import", "corpus", "features"
SHARDS, TRAINED, FITTED, OPENED, TAGGED = "shards", "training", "fit and save", "model", "tagging"


def by_steps(
    marks: str, path: str, columns: list[str], target: str, features: str, c2: float, iterations: int, threads: int
) -> None:
    """What `CRF.fit` does, one after the other; what a step does not need is not kept."""
    task, phase = _begun(marks, path, columns, target, features, c2)
    corpus = read_conll(task.train, columns=task.columns).compact()
    phase.end_of(CORPUS)
    templates = templates_for(task.features, list(corpus.columns), task.target)
    ready = ours.Prepared(corpus, *TemplateFeatures.learn(corpus, templates))
    phase.end_of(FEATURES)
    shards, size = ours.cut(task, ready)
    phase.end_of(SHARDS)
    del ready
    ours.iterate(shards, size, task.l2, threads, iterations)
    phase.end_of(TRAINED)


def fit(
    marks: str,
    path: str,
    columns: list[str],
    target: str,
    features: str,
    c2: float,
    iterations: int,
    threads: int,
    model: str,
) -> None:
    """From a file to a model file, as users do it."""
    task, phase = _begun(marks, path, columns, target, features, c2)
    ours.fit(task, threads, iterations).save(model)
    phase.end_of(FITTED)


def tag(
    marks: str, model: str, path: str, columns: list[str], target: str, features: str, c2: float, threads: int
) -> None:
    """From a file to labels as strings, all of them kept."""
    task, phase = _begun(marks, path, columns, target, features, c2)
    crf = load(model).set_params(threads=threads)
    phase.end_of(OPENED)
    labels = ours.tag(crf, task.train, task.columns)
    phase.end_of(TAGGED)
    del labels


def _begun(marks: str, path: str, columns: list[str], target: str, features: str, c2: float) -> tuple[Task, Marks]:
    """A process with all that is imported and all kernels, which is what growth is counted from."""
    phase = Marks(marks)
    phase.end_of(IMPORT)
    ours.warm_up(columns, target, features)
    phase.end_of(WARM)
    return Task(Path(path), tuple(columns), target, features, c2), phase
