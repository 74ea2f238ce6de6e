"""Plots as PNG files. Matplotlib draws them; it is imported only when a plot is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from trellis.errors import SettingError
from trellis.files import write_atomically

# Okabe & Ito's colours, which people with any kind of colour blindness can tell apart, without their yellow, which is
# too pale for a line; and two more greys
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"

_DOTS = 110  # an inch
_MARGIN, _PANEL, _LEGEND = 0.75, 4.5, 1.6  # inches
_COLOURS = 96
_FEW = 5  # values along an axis that can all be written below it
_APART = 1.3  # times, so that both can be written
_PALE = 0.15  # how much of its colour a band has
_MARKS = 9  # on a line, so that lines can be told apart without colours too


@dataclass(frozen=True)
class Style:
    """`dash` and `marker` in Matplotlib's letters."""

    colour: str
    dash: str = "-"
    marker: str = ""
    width: float = 1.6


@dataclass(frozen=True)
class Line:
    """`band`: a range around the line, its lower and its upper edge."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style
    band: tuple[Sequence[float], Sequence[float]] | None = None


@dataclass(frozen=True)
class Panel:
    """Lines over one pair of axes; `y_range` if not all of them is to be seen, and then x starts where they come in."""

    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[float, float] | None = None


def require_matplotlib() -> None:
    """Fails now, not after an hour of measuring, where plots could not be drawn."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise SettingError("plots need Matplotlib: pip install 'trellis[plot]'") from None


def draw(panels: Sequence[Panel], title: str, path: Path, legend: float = _LEGEND) -> None:
    """Panels side by side with one legend for all, so many inches wide, as a PNG file."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = _MARGIN + _PANEL * len(panels) + legend
    figure = Figure(figsize=(width, 4.2), dpi=_DOTS)
    FigureCanvasAgg(figure)
    right = 1 - legend / width
    # by hand: Matplotlib's own layouts draw everything twice
    figure.subplots_adjust(left=_MARGIN / width, right=right, bottom=0.13, top=0.89, wspace=0.22)
    handles: dict[str, Any] = {}
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        for line in panel.lines:
            handles.setdefault(line.label, _draw_line(axis, line))
        _dress(axis, panel)
    figure.suptitle(title, fontsize=12)
    figure.legend(
        list(handles.values()), list(handles), loc="center left", bbox_to_anchor=(right, 0.5), fontsize=9, frameon=False
    )
    write_atomically(path, png(figure))


def png(figure: Any) -> bytes:
    """In few colours: a third of the size, and nobody sees the difference."""
    from PIL import Image  # comes with Matplotlib

    drawn, small = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png")
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(_COLOURS).save(small, format="png", optimize=True)
    return small.getvalue()


def tick_labels(values: Sequence[float]) -> list[str]:
    """Of rising values along a logarithmic axis: the last, and those that leave room for the next one written."""
    labels: list[str] = []
    written = math.inf
    for value in reversed(values):
        there = _APART * value <= written
        written = value if there else written
        labels.append("" if not there else f"{value:,.0f}" if value == round(value) else f"{value:g}")
    return labels[::-1]


def _draw_line(axis: Any, line: Line) -> Any:
    style = line.style
    every = max(1, len(line.x) // _MARKS)
    if line.band is not None:
        axis.fill_between(line.x, *line.band, color=style.colour, alpha=_PALE, linewidth=0)
    return axis.plot(
        line.x, line.y, color=style.colour, linestyle=style.dash, linewidth=style.width,
        marker=style.marker, markersize=4.5, markevery=every,
    )[0]  # fmt: skip


def _dress(axis: Any, panel: Panel) -> None:
    if panel.log_x:
        axis.set_xscale("log")
        values = sorted({value for line in panel.lines for value in line.x})
        if len(values) <= _FEW:  # else powers of ten, and what lies between them where there is but one
            axis.set_xticks(values, tick_labels(values))
            axis.set_xticks([], minor=True)
    if panel.log_y:
        axis.set_yscale("log")
    if panel.y_range is not None:
        axis.set_ylim(*panel.y_range)
        inside = [x for line in panel.lines for x, y in zip(line.x, line.y, strict=True) if y >= panel.y_range[0]]
        if inside and panel.log_x:
            axis.set_xlim(left=0.7 * min(inside))
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    axis.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axis.set_axisbelow(True)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
