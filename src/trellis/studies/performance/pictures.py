"""Bars, which are drawn from 1 on: what is compared is how many times as long something takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trellis.files import write_atomically
from trellis.report.plots import BLUE, VERMILLION, png, require_matplotlib

LEGEND = 2.1  # inches, of plots with long names in their legends

_DOTS = 110  # an inch
_BAR, _MARGIN, _LABELS, _WIDE = 0.26, 0.9, 3.1, 5.2  # inches


def draw_bars(ratios: Mapping[str, float], title: str, path: Path) -> None:
    """One bar below the other along a logarithmic axis, below 1 in another colour, as a PNG file."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FormatStrFormatter, NullFormatter

    height, width = _MARGIN + _BAR * len(ratios), _LABELS + _WIDE
    figure = Figure(figsize=(width, height), dpi=_DOTS)
    FigureCanvasAgg(figure)
    axis: Any = figure.add_axes((_LABELS / width, 0.5 / height, (_WIDE - 0.6) / width, 1 - _MARGIN / height))
    names, values = list(ratios), list(ratios.values())
    places = range(len(names) - 1, -1, -1)
    colours = [BLUE if value >= 1 else VERMILLION for value in values]
    axis.barh(list(places), [value - 1 for value in values], left=1.0, height=0.7, color=colours)
    axis.set_xscale("log")
    low, high = min([*values, 1.0]), max([*values, 2.0])
    axis.set_xlim(low / 1.1, high * 1.35)
    for place, value in zip(places, values, strict=True):
        axis.text(max(value, 1.0) * 1.03, place, f"{value:.3g}", va="center", fontsize=8.5)
    axis.set_yticks(list(places), names, fontsize=9)
    axis.set_ylim(-0.6, len(names) - 0.4)
    axis.axvline(1.0, color="black", linewidth=0.8)
    axis.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(True, axis="x", which="major", color="#dddddd", linewidth=0.7)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.set_title(title, fontsize=11, loc="left")
    write_atomically(path, png(figure))
