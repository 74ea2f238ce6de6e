"""What goes into a study's folder, and what the command prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.studies.altun.claims import judge
from trellis.studies.altun.methods import METHODS
from trellis.studies.altun.page import write_page
from trellis.studies.altun.pictures import draw_all, plots_of
from trellis.studies.altun.results import Study
from trellis.studies.folder import read_found, write_found, write_pages


def write_results(study: Study, folder: Path) -> None:
    write_found(study.as_json(), folder)


def read_results(folder: Path) -> Study:
    return Study.from_json(read_found(folder))


def write_report(study: Study, folder: Path, docs: Path | None = None) -> None:
    """`report.md` and its plots, and the same under another name."""
    draw_all(study, folder)
    write_pages(lambda images: write_page(study, images), list(plots_of(study)), folder, docs)


def summary(study: Study) -> dict[str, Any]:
    """The JSON object of the command; all cells are in the results file."""
    scores: dict[str, Any] = {}
    for task, features in study.scope.feature_sets():
        found = {method: study.result(task, features, method) for method in METHODS}
        scores[f"{task}-{features}"] = {
            method: {
                "score": outcome.score,
                "accuracy": outcome.accuracy,
                "l2": outcome.cell.strength,
                "seconds": outcome.seconds,
                "cpu_seconds": outcome.cpu_seconds,
                "evaluations": outcome.evaluations,
                "converged": outcome.converged,
                "weights": outcome.weights,
                "active": outcome.active,
            }
            for method, outcome in found.items()
            if outcome is not None
        }
    return {
        "study": "altun",
        "quick": study.settings["quick"],
        "machine": dict(study.machine),
        "cells": len(study.outcomes),
        "left_out": [method.key for method in METHODS.values() if not method.is_there],
        "scores": scores,
        "claims": [each.as_json() for each in judge(study)],
    }
