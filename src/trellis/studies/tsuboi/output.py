"""Where a study's findings go: results, report and plots in a folder, and a page for the documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trellis.errors import DataError, FileAccessError
from trellis.files import read_bytes, write_atomically
from trellis.studies.tsuboi.measures import MEASURES, fastest, gap, reached
from trellis.studies.tsuboi.page import judged, judged_online, write_page
from trellis.studies.tsuboi.pictures import draw_case, f1_file, gap_file
from trellis.studies.tsuboi.problem import WEIGHTS
from trellis.studies.tsuboi.results import Case, Run, Study

RESULTS, REPORT = "results.json", "report.md"


def make_folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be made: {error.strerror or error}") from None
    return path


def write_results(study: Study, folder: Path) -> None:
    write_atomically(folder / RESULTS, (json.dumps(study.as_json()) + "\n").encode())


def read_results(folder: Path) -> Study:
    path = folder / RESULTS
    try:
        found = json.loads(read_bytes(path))
    except ValueError:
        raise DataError("this is no JSON", path) from None
    return Study.from_json(found)


def write_report(study: Study, folder: Path) -> None:
    """`report.md` and its plots."""
    for case in study.cases:
        draw_case(case, folder)
    write_atomically(folder / REPORT, write_page(study, "").encode())


def write_docs(study: Study, folder: Path, file: Path) -> None:
    """The report of a folder under another name, its plots in a folder of that name beside it."""
    images = make_folder(file.parent / file.stem)
    for case in study.cases:
        for name in (gap_file(case), f1_file(case)):
            write_atomically(images / name, read_bytes(folder / name))
    write_atomically(file, write_page(study, f"{file.stem}/").encode())


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
