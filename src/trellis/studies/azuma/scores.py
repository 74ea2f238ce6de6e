"""Tables of scores, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.report.markdown import table
from trellis.studies.azuma.cases import Case, Outcome
from trellis.studies.azuma.results import Study


def percent(outcome: Outcome | None, target: str, measure: str) -> str:
    if outcome is None or target not in outcome.scores or outcome.scores[target][measure] is None:
        return ""
    return f"{100 * (outcome.scores[target][measure] or 0.0):.2f}"


def score_table(study: Study, what: str, rows: Sequence[tuple[str, Case]]) -> str:
    """Names and cases; nothing of those that were not run."""
    found = []
    for name, case in rows:
        outcome = study.of(case)
        if outcome is not None:
            found.append([name, percent(outcome, "pos", "accuracy"), percent(outcome, "chunk", "f1")])
    return table([what, "parts of speech", "chunks, F1"], found) if found else ""
