"""Plots: scores against the size of the training data, by wires; and where errors come from."""

from __future__ import annotations

from pathlib import Path

from trellis.report.plots import BLUE, GREEN, VERMILLION, Line, Panel, Style, draw
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.paper import NAMES
from trellis.studies.azuma.plan import MAIN, WIRES
from trellis.studies.azuma.results import Study

_STYLES = {
    "onebest": Style(BLUE, "-", "o"),
    "marginal": Style(GREEN, "--", "s"),
    "joint": Style(VERMILLION, "-.", "^"),
}


def draw_all(study: Study, folder: Path) -> None:
    for name, (title, panels) in plots_of(study).items():
        draw(panels, title, folder / name)


def plots_of(study: Study) -> dict[str, tuple[str, list[Panel]]]:
    """File name -> title and panels, of what there is something to draw."""
    panels = [
        Panel("sentences to train on", "parts of speech, accuracy, %", _lines(study, "pos", "accuracy"), log_x=True),
        Panel("sentences to train on", "chunks, F1, %", _lines(study, "chunk", "f1"), log_x=True),
        Panel("sentences to train on", "chunks, F1 over CRF + CRF", _gains(study), log_x=True),
    ]
    there = [panel for panel in panels if panel.lines]
    return {"sizes.png": ("learning curves on CoNLL-2000", there)} if there else {}


def points(study: Study, wire: str, target: str, measure: str) -> dict[int, float]:
    """Sentences -> score in percent."""
    found = {}
    for outcome in study.outcomes:
        case = outcome.case
        if case != Case(MAIN, wire, sentences=case.sentences) or target not in outcome.scores:
            continue  # another one, with folds, or with some layers only
        score = outcome.scores[target][measure]
        size = case.sentences or _all(study)
        if score is not None and size:
            found[size] = 100 * score
    return dict(sorted(found.items()))


def _all(study: Study) -> int:
    """How many sentences there are to train on: 8,936 but in quick runs."""
    return 150 if study.settings["quick"] else 8936


def _lines(study: Study, target: str, measure: str) -> list[Line]:
    lines = []
    for wire in WIRES:
        found = points(study, wire, target, measure)
        if len(found) > 1:
            lines.append(Line(NAMES[wire], list(found), list(found.values()), _STYLES[wire]))
    return lines


def _gains(study: Study) -> list[Line]:
    base, lines = points(study, "onebest", "chunk", "f1"), []
    for wire in WIRES[1:]:
        found = {n: y - base[n] for n, y in points(study, wire, "chunk", "f1").items() if n in base}
        if len(found) > 1:
            lines.append(Line(NAMES[wire], list(found), list(found.values()), _STYLES[wire]))
    return lines
