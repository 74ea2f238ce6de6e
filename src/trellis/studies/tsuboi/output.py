"""What goes into a study's folder, and what the command prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.studies.folder import read_found, write_found, write_pages
from trellis.studies.tsuboi.measures import MEASURES, fastest, gap, reached
from trellis.studies.tsuboi.page import judged, judged_online, write_page
from trellis.studies.tsuboi.pictures import draw_case, f1_file, gap_file
from trellis.studies.tsuboi.problem import WEIGHTS
from trellis.studies.tsuboi.results import Case, Run, Study


def write_results(study: Study, folder: Path) -> None:
    write_found(study.as_json(), folder)


def read_results(folder: Path) -> Study:
    return Study.from_json(read_found(folder))


def write_report(study: Study, folder: Path, docs: Path | None = None) -> None:
    """`report.md` and its plots, and the same under another name."""
    for case in study.cases:
        draw_case(case, folder)
    plots = [name for case in study.cases for name in (gap_file(case), f1_file(case))]
    write_pages(lambda images: write_page(study, images), plots, folder, docs)


def summary(study: Study) -> dict[str, Any]:
    """The JSON object of the command; curves are in the results file."""
    there = [weights for weights in WEIGHTS if any(case.weights == weights for case in study.cases)]
    return {
        "study": "tsuboi",
        "quick": study.settings["quick"],
        "machine": dict(study.machine),
        "cases": {case.key: _of_case(case) for case in study.cases},
        "claims": [claim for weights in there for claim in _claims(study, weights)],
    }


def _claims(study: Study, weights: str) -> list[dict[str, Any]]:
    of_batch, of_online = judged(study, weights), judged_online(study, weights)
    return [each.as_json() for each in of_batch] + [each.as_json() for each in of_online]


def _of_case(case: Case) -> dict[str, Any]:
    quickest = {measure: fastest(case, measure) for measure in MEASURES}
    return {
        "l2": case.l2,
        "f_star": case.f_star,
        "f1_star": case.f1_star,
        "fastest": {measure: None if run is None else run.key for measure, run in quickest.items()},
        "costs": dict(case.costs),
        "methods": {run.key: _of_run(run, case) for run in case.runs},
    }


def _of_run(run: Run, case: Case) -> dict[str, Any]:
    ends = {measure: reached(run, case, measure) for measure in MEASURES}
    return {
        "seconds": run.last.seconds,
        "evaluations": run.last.evaluations,
        "products": run.last.products,
        "objective": run.last.objective,
        "gap": gap(run.last, case),
        "f1": run.last.f1,
        "converged": run.converged,
        "held_bytes": run.held_bytes,
        "peak_bytes": run.peak_bytes,
        "seconds_to": {measure: None if end is None else end.seconds for measure, end in ends.items()},
    }
