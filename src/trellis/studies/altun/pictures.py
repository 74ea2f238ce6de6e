"""Plots: scores against the size of the corpus, against noise, and boosting against the features it uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trellis.report.plots import BLUE, GREEN, VERMILLION, Line, Panel, Style, draw
from trellis.studies.altun.cells import Moment, Outcome
from trellis.studies.altun.measures import along_the_way, under_noise, under_noise_chosen
from trellis.studies.altun.methods import LOSSES, METHODS
from trellis.studies.altun.results import Study
from trellis.studies.altun.tasks import KINDS

_SETS = {"s1": Style(BLUE, "-", "o"), "s2": Style(GREEN, "--", "s"), "s3": Style(VERMILLION, "-.", "^")}


def draw_all(study: Study, folder: Path) -> None:
    for name, (title, panels) in plots_of(study).items():
        draw(panels, title, folder / name)


def plots_of(study: Study) -> dict[str, tuple[str, list[Panel]]]:
    """File name -> title and panels, of what there is something to draw."""
    found = {"noise.png": ("wrong labels in training, named entities, S2", _noise_panels(study))}
    for task, _ in study.scope.tasks:
        title = KINDS[task].title
        found[f"sizes-{task}.png"] = (title, _size_panels(study, task))
        found[f"boosting-{task}.png"] = (f"boosting: {title}", _boosting_panels(study, task))
    drawn = {name: (title, [panel for panel in panels if panel.lines]) for name, (title, panels) in found.items()}
    return {name: plot for name, plot in drawn.items() if plot[1]}


def _size_panels(study: Study, task: str) -> list[Panel]:
    kind, sizes = KINDS[task], [*study.scope.smaller(task), None]
    panels = []
    for features in kind.features:
        lines = []
        for loss in LOSSES:
            there = [found for size in sizes if (found := study.result(task, features, loss, size)) is not None]
            if len(there) > 1:
                lines.append(_line(loss, [(found.sentences, 100 * found.score) for found in there]))
        panels.append(Panel(f"sentences, {features.upper()}", f"test {kind.measure}, %", lines, log_x=True))
    return panels


def _noise_panels(study: Study) -> list[Panel]:
    panels = []
    for name, at in (("prior as without noise", under_noise), ("prior chosen anew", under_noise_chosen)):
        lines = []
        for loss in LOSSES:
            there = [(share, found) for share in study.scope.noise if (found := at(study, loss, share)) is not None]
            if len(there) > 1:
                lines.append(_line(loss, [(100 * share, 100 * found.score) for share, found in there]))
        panels.append(Panel(f"wrong labels, %; {name}", "test F1, %", lines))
    return panels


def _boosting_panels(study: Study, task: str) -> list[Panel]:
    kind = KINDS[task]
    runs = {features: along_the_way(study, task, features, "boosting") for features in kind.features}
    there = {features: run for features, run in runs.items() if run is not None}

    def panel(y_label: str, y: Callable[[Moment], float], log_y: bool = False) -> Panel:
        lines = [_curve(features, run, y) for features, run in there.items()]
        return Panel("weights that are not zero, %", y_label, lines, log_y=log_y)

    return [
        panel(f"{kind.measure} on held-out data, %", lambda moment: 100 * moment.dev),
        panel("objective", lambda moment: moment.objective, log_y=True),
    ]


def _curve(features: str, run: Outcome, y: Callable[[Moment], float]) -> Line:
    x = [100 * moment.active / run.weights for moment in run.moments]
    return Line(features.upper(), x, [y(moment) for moment in run.moments], _SETS[features])


def _line(method: str, points: list[tuple[float, float]]) -> Line:
    return Line(METHODS[method].name, [x for x, _ in points], [y for _, y in points], METHODS[method].style)
