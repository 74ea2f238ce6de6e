"""Training one case, by the estimator that everybody uses."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trellis.cascade import Cascade
from trellis.corpus import Column, Corpus
from trellis.errors import ConvergenceWarning
from trellis.files import write_atomically
from trellis.metrics import compare
from trellis.models.known import UNKNOWN
from trellis.studies.azuma.cases import Case, Outcome
from trellis.studies.azuma.product import parted, product_model, with_product
from trellis.studies.azuma.spelling import as_scored, in_training
from trellis.studies.azuma.systems import SYSTEMS, System
from trellis.studies.clock import Stopwatch
from trellis.studies.corpora import hold_out_last

PREDICTIONS = "predictions"
HELD_OUT = 0.2  # of the training data
UNSURE = 0.01  # what is less probable is not read where a lower stage is unsure of so much
_ANY = 0.5  # tolerance of stages that are not trained


@dataclass(frozen=True)
class Data:
    """A corpus of the study."""

    train: Corpus
    test: Corpus

    def of(self, case: Case) -> Data:
        return Data(*hold_out_last(self.train, HELD_OUT)) if case.held_out else self


@dataclass(frozen=True)
class Trained:
    """What came of a case, and the cascade, which others may begin with; None of a product."""

    outcome: Outcome
    cascade: Cascade | None

    def begins(self, case: Case) -> bool:
        """Whether joint training of a case would begin with just this."""
        return case.wire == "joint" and not case.jackknife and self.outcome.case == replace(case, wire="marginal")


def run_case(case: Case, data: Data, settings: Any, folder: Path | None, before: Trained | None = None) -> Trained:
    """`settings`: tol, max_iter, threads and seed; predictions go into the folder, if there is one; `before`: of
    another case. Where that is what this one begins with, it is not trained anew, but its time counts."""
    data, system = data.of(case), SYSTEMS[case.system]
    train = some_layers(some(data.train, case.sentences, settings.seed), case, settings.seed)
    clock, seconds, converged = Stopwatch(), 0.0, True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # among the results
        if case.wire == "product":
            model: Any = product_model(settings.tol, settings.max_iter, settings.threads)
            both = with_product(train)
            clock.of(lambda: model.fit(both))
            found, errors = parted(model.predict_column(data.test)), {}
        else:
            model = cascade_of(case, settings)
            start = before if before is not None and before.begins(case) else None
            target = model.stages[-1].target
            within = in_training(train, system, target)
            clock.of(lambda: model.fit(within, start=None if start is None else start.cascade))
            seconds, converged = (0.0, True) if start is None else (start.outcome.seconds, start.outcome.converged)
            found = model.predict_columns(data.test)
            found[target] = as_scored(found[target], data.test, system, target)
            errors = traced_errors(model, data.test, found, system)
    scores = {}
    for target, column in found.items():
        report = compare(data.test[target], column, data.test.offsets)
        scores[target] = {"accuracy": report.accuracy, "f1": report.f1}
    if folder is not None:
        write_predictions(folder, case, data.test, found)
    outcome = Outcome(
        case, scores, errors, float(model.objective_), model.evaluations_, converged and bool(model.converged_),
        seconds + clock.seconds, len(model.model_.weights), train.tokens,
    )  # fmt: skip
    return Trained(outcome, model if isinstance(model, Cascade) else None)


def cascade_of(case: Case, settings: Any) -> Cascade:
    system = SYSTEMS[case.system]
    stages = system.stages(settings.tol)
    for stage in stages:
        stage.settings["max_iter"] = settings.max_iter
    more: dict[str, Any] = {}
    if case.annotated is not None:
        more["least"] = UNSURE
        for stage in stages[:-1]:
            stage.settings["partial"] = True
    return Cascade(
        stages, wire=case.wire, jackknife=case.jackknife, optimizer=system.optimizer, tol=settings.tol,
        max_iter=min(settings.max_iter, system.iterations or settings.max_iter),
        seed=settings.seed, threads=settings.threads, **more,
    )  # fmt: skip


def traced_errors(cascade: Cascade, test: Corpus, found: dict[str, Column], system: System) -> dict[str, int]:
    """Tokens that the last stage has wrong; how many of them it has right once it is told the right labels of lower
    stages, and how many others it then has wrong."""
    target = cascade.targets_[-1]
    told = replace(cascade.model_, wire="gold").best(test, cascade._threads)[-1]
    then = as_scored(Column(told, cascade.model_.labels), test, system, target)
    gold = np.array(test[target].values(), object)
    wrong = np.array(found[target].values(), object) != gold
    wrong_then = np.array(then.values(), object) != gold
    return {
        "all": int(wrong.sum()),
        "traced": int((wrong & ~wrong_then).sum()),
        "new": int((wrong_then & ~wrong).sum()),
    }


def some_layers(corpus: Corpus, case: Case, seed: int) -> Corpus:
    """With the labels of lower stages in some sentences only, drawn at random; fewer are part of more."""
    if case.annotated is None:
        return corpus
    is_known = np.zeros(len(corpus), bool)
    is_known[np.random.default_rng(seed).permutation(len(corpus))[: case.annotated]] = True
    tokens = np.repeat(is_known, np.diff(corpus.offsets))
    for stage in SYSTEMS[case.system].stages(_ANY)[:-1]:
        labels = np.where(tokens, np.array(corpus[stage.target].values(), object), UNKNOWN)
        corpus = corpus.with_column(stage.target, Column.of(labels.tolist()))
    return corpus


def write_predictions(folder: Path, case: Case, test: Corpus, found: dict[str, Column]) -> None:
    """A column file: for each stage gold and predicted labels; sentences as in the test data."""
    columns = [column for target, own in found.items() for column in (test[target].values(), own.values())]
    rows, cuts = [" ".join(row) for row in zip(*columns, strict=True)], test.offsets.tolist()
    text = "".join("\n".join(rows[a:b]) + "\n\n" for a, b in pairwise(cuts))
    place = folder / PREDICTIONS
    place.mkdir(parents=True, exist_ok=True)
    write_atomically(place / f"{case.key}.txt", text.encode())


def some(corpus: Corpus, sentences: int | None, seed: int) -> Corpus:
    """So many sentences drawn at random; a smaller corpus is part of a larger one."""
    if sentences is None or sentences >= len(corpus):
        return corpus
    order = np.random.default_rng(seed).permutation(len(corpus))
    return corpus.picked(np.sort(order[:sentences]))
