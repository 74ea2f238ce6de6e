"""Results as JSON, and the report with its plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.studies.azuma.claims import judged
from trellis.studies.azuma.page import write_page
from trellis.studies.azuma.pictures import draw_all, plots_of
from trellis.studies.azuma.results import Study
from trellis.studies.folder import RESULTS, read_found, write_found, write_pages


def write_results(study: Study, folder: Path) -> None:
    write_found(study.as_json(), folder)


def read_results(folder: Path) -> Study:
    return Study.from_json(read_found(folder))


def write_report(study: Study, folder: Path, docs: Path | None) -> None:
    draw_all(study, folder)
    write_pages(lambda images: write_page(study, images), [RESULTS, *plots_of(study)], folder, docs)


def summary(study: Study) -> dict[str, Any]:
    """For --json: the scores of every case, by its key."""
    return {
        "study": "azuma",
        "scores": {outcome.case.key: outcome.scores for outcome in study.outcomes},
        "claims": judged(study),
        "ratio": None if study.cost is None else study.cost["ratio"],
    }
