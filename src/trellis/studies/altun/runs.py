"""Training one cell, by the estimator that everybody uses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from trellis.errors import ConvergenceWarning
from trellis.models import CRF
from trellis.studies.altun.cells import L2, NONE, Cell, Moment, Outcome
from trellis.studies.altun.methods import METHODS, Method
from trellis.studies.altun.tasks import KINDS, Task, training_data
from trellis.studies.clock import Stopwatch
from trellis.training import Progress

_MOST_MOMENTS = 200


def run_cell(task: Task, cell: Cell, limits: dict[str, Any], seed: int, threads: int | None) -> Outcome:
    """`limits`: settings of the estimator for all methods, before their own."""
    method = METHODS[cell.method]
    train = training_data(task, cell, seed)
    dev = task.dev if cell.held_out or task.has_dev_file else None
    crf = CRF(task.target, threads=threads, **settings_of(task, cell, method, limits))
    clock, moments = Stopwatch(), list[Moment]()

    def note(now: Progress) -> None:
        score = 0.0 if now.dev_score is None else now.dev_score
        moments.append(Moment(now.iteration, now.seconds, now.active, now.objective, score))

    watched = method.follows and dev is not None
    given: dict[str, Any] = {"dev": dev, "progress": note} if watched else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # both are among the results
        warnings.filterwarnings("ignore", "the score on the development data never rose")
        clock.of(lambda: crf.fit(train, **given))
    report, layout = crf.evaluate(task.test), crf.model_.layout
    return Outcome(
        cell=cell,
        score=report.headline,
        accuracy=report.accuracy,
        dev=None if dev is None else crf.score(dev),
        objective=float(crf.objective_),
        iterations=crf.iterations_,
        evaluations=crf.evaluations_,
        converged=bool(crf.converged_),
        seconds=clock.seconds,
        cpu_seconds=clock.cpu_seconds,
        weights=layout.size,
        active=int(np.count_nonzero(crf.model_.weights)),
        attributes=layout.attributes,
        labels=len(crf.classes_),
        sentences=len(train),
        tokens=train.tokens,
        moments=tuple(moments[:: -1 - len(moments) // _MOST_MOMENTS][::-1]),  # the last one among them
    )


def settings_of(task: Task, cell: Cell, method: Method, limits: dict[str, Any]) -> dict[str, Any]:
    """Of trellis.CRF."""
    settings: dict[str, Any] = {
        "features": f"altun-{cell.features}",
        "optimizer": method.optimizer,
        "options": dict(method.options) or None,
        "tag_dictionary": task.tag_dictionary if method.has_dictionary else None,
        **limits,
        **method.settings,
    }
    settings["max_iter"] = steps_of(method, task.key, limits["max_iter"])
    if method.follows:
        settings["patience"] = settings["max_iter"]  # the curve is wanted as a whole
    if method.grid:
        settings[L2] = 0.0
        if cell.prior != NONE:
            settings[cell.prior] = cell.strength
    return settings


def steps_of(method: Method, task: str, most: int) -> int:
    """The limit on iterations."""
    return min(most, method.max_iter, KINDS[task].steps if method.optimizer == "boosting" else most)
