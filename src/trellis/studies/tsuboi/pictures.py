"""The paper's Figure 2: objective and test F1, against time and against passes over the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trellis.report.plots import BLACK, Line, Panel, Style, draw
from trellis.studies.tsuboi.measures import gap
from trellis.studies.tsuboi.methods import all_methods
from trellis.studies.tsuboi.problem import WEIGHTS
from trellis.studies.tsuboi.results import Case, Moment

Value = Callable[[Moment], float]

_GONE = Style(BLACK, "-.", "+")  # of a method in old results that there is no more
_LOWEST = 1e-7  # gap: beyond it f* itself is not known
_POINTS_BELOW = 6.0  # of F1 that are shown, below the optimum


def draw_case(case: Case, folder: Path) -> None:
    """`<case>-gap.png` and `<case>-f1.png`."""
    title = f"{case.title}: {WEIGHTS[case.weights]}"
    floor, top = 100 * case.f1_star - _POINTS_BELOW, 100 * max(m.f1 for run in case.runs for m in run.moments)

    def gap_of(moment: Moment) -> float:
        return max(gap(moment, case), _LOWEST)

    gaps = [_panel(case, x, "(f - f*) / f*", gap_of, log_y=True) for x in _X]
    draw(gaps, title, folder / gap_file(case))
    scores = [
        _panel(case, x, "F1 on test data, %", lambda moment: 100 * moment.f1, y_range=(floor, top + 0.4)) for x in _X
    ]
    draw(scores, title, folder / f1_file(case))


def gap_file(case: Case) -> str:
    return f"{case.key}-gap.png"


def f1_file(case: Case) -> str:
    return f"{case.key}-f1.png"


_X: dict[str, Value] = {
    "seconds": lambda moment: moment.seconds,
    "passes over the data": lambda moment: float(max(1, moment.passes)),
}


def _panel(
    case: Case, x: str, y_label: str, y: Value, log_y: bool = False, y_range: tuple[float, float] | None = None
) -> Panel:
    styles = {key: method.style for key, method in all_methods().items()}
    lines = [
        Line(run.name, list(map(_X[x], run.moments)), list(map(y, run.moments)), styles.get(run.key, _GONE))
        for run in case.runs
    ]
    return Panel(x, y_label, lines, log_x=True, log_y=log_y, y_range=y_range)
