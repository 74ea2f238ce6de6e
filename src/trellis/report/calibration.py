"""A reliability diagram: how often a model is right against how sure it was."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any

from trellis.files import write_atomically
from trellis.metrics.calibration import Bin, Reliability
from trellis.report.plots import BLUE, GREEN, GREY, VERMILLION, png, require_matplotlib

_DOTS = 110  # an inch
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.72, 0.25, 0.58, 0.2  # inches, as are the next three
_SQUARE, _COUNTS, _BETWEEN = 4.4, 0.95, 0.18
_TITLE = 0.3
_LARGEST, _SMALLEST = 220.0, 14.0  # square points: the dot of the fullest bin, and what can just be seen
_CORNER = (0.45, 0.68)  # what is written there needs the square from here to the upper left


def draw_reliability(reliability: Reliability, path: str | Path, title: str = "") -> None:
    """Accuracy against confidence with the gaps shaded, and the number of items in each bin below, as a PNG file."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = _LEFT + _SQUARE + _RIGHT
    floor = _BOTTOM + _COUNTS + _BETWEEN
    height = floor + _SQUARE + _TOP + (_TITLE if title else 0.0)
    figure = Figure(figsize=(width, height), dpi=_DOTS)
    FigureCanvasAgg(figure)
    # by hand, so that the diagonal is one
    above = figure.add_axes((_LEFT / width, floor / height, _SQUARE / width, _SQUARE / height))
    below = figure.add_axes((_LEFT / width, _BOTTOM / height, _SQUARE / width, _COUNTS / height), sharex=above)
    filled = [one for one in reliability.bins() if one.count]
    _draw_counts(below, filled)
    _draw_gaps(above, filled)
    _write_scores(above, reliability, filled)
    for axis in (above, below):
        axis.grid(True, color="#dddddd", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.yaxis.set_label_coords(-0.12, 0.5)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    if title:
        above.set_title(title, fontsize=12, pad=12, parse_math=False)
    write_atomically(path, png(figure))


def _draw_gaps(axis: Any, bins: Sequence[Bin]) -> None:
    """A dot for each bin, its area the count, and what lies between the dots and the diagonal."""
    x, y = [100 * one.confidence for one in bins], [100 * one.accuracy for one in bins]
    axis.plot([0, 100], [0, 100], color=GREY, linestyle="--", linewidth=1.2)
    for colour, label, side in ((VERMILLION, "too sure", -1), (GREEN, "not sure enough", 1)):
        there = [side * (b - a) > 0 for a, b in zip(x, y, strict=True)]
        if any(there):
            axis.fill_between(x, x, y, there, interpolate=True, color=colour, alpha=0.2, linewidth=0, label=label)
            axis.vlines(list(compress(x, there)), list(compress(x, there)), list(compress(y, there)), colour, lw=1.2)
    areas = [max(_SMALLEST, _LARGEST * one.count / _fullest(bins)) for one in bins]
    axis.plot(x, y, color=BLUE, linewidth=1.4)
    axis.scatter(x, y, areas, color=BLUE, edgecolors="white", linewidths=0.8, zorder=3, clip_on=False)
    axis.set_xlim(0, 100)
    axis.set_ylim(0, 100)
    axis.tick_params(labelbottom=False)
    axis.set_ylabel("accuracy: share that is right, %")


def _write_scores(axis: Any, reliability: Reliability, bins: Sequence[Bin]) -> None:
    """In the upper left, where only bins lie that are right far more often than said; with those, in the lower right
    below the legend."""
    scores = (
        f"ECE {100 * reliability.ece:.2f} %\n"
        f"largest gap {100 * reliability.mce:.2f} %\n"
        f"Brier score {reliability.brier:.4f}\n"
        f"confidence {100 * reliability.mean_confidence:.2f} %\n"
        f"accuracy {100 * reliability.accuracy_of_all:.2f} %"
    )
    taken = any(one.confidence < _CORNER[0] and one.accuracy > _CORNER[1] for one in bins)
    x, y, across, up = (0.97, 0.04, "right", "bottom") if taken else (0.03, 0.97, "left", "top")
    text = scores if reliability.total else "no items"
    axis.text(x, y, text, transform=axis.transAxes, ha=across, va=up, fontsize=9.5, linespacing=1.5)
    if axis.get_legend_handles_labels()[0]:
        beside = (1.0, 0.27 if taken else 0.0)
        axis.legend(loc="lower right", bbox_to_anchor=beside, fontsize=9.5, frameon=False)


def _draw_counts(axis: Any, bins: Sequence[Bin]) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    left, width = [100 * one.low for one in bins], [100 * (one.high - one.low) for one in bins]
    axis.bar(left, [one.count for one in bins], width, align="edge", color=BLUE, edgecolor="white", linewidth=0.8)
    axis.set_ylim(0, 1.05 * _fullest(bins))
    axis.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    axis.yaxis.set_major_formatter(EngFormatter(sep=""))  # 1.5k, so that millions have room too
    axis.set_xlabel("confidence: probability given, %")
    axis.set_ylabel("items in bin")


def _fullest(bins: Sequence[Bin]) -> int:
    return max((one.count for one in bins), default=1)
