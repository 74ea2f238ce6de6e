"""Learning curves, and active learning by several rankings, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trellis.fewlabels.curve import Curve
from trellis.fewlabels.simulated import Simulation
from trellis.report.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Line, Panel, Style, draw

_STYLES = [
    Style(BLUE, "-", "o"),
    Style(VERMILLION, "-", "s"),
    Style(GREEN, "-", "^"),
    Style(PURPLE, "-", "D"),
    Style(ORANGE, "-", "v"),
    Style(SKY, "-", "x"),
    Style(BLACK, "-", "+"),
]
_PLAIN = Style(GREY, "--", "", 1.8)  # what others are compared with


def draw_curves(curves: Mapping[str, Curve], what: str, title: str, path: str | Path) -> None:
    """Scores in percent by tokens, the first curve being the one that others are compared with; bands are a standard
    deviation of single repeats on either side."""
    lines = []
    for k, (name, curve) in enumerate(curves.items()):
        style = _STYLES[0] if len(curves) == 1 else _PLAIN if k == 0 else _STYLES[(k - 1) % len(_STYLES)]
        x, mean = [round(point.tokens) for point in curve.points], [100 * point.mean for point in curve.points]
        wide = [100 * (point.deviation or 0.0) for point in curve.points]
        edges = [m - w for m, w in zip(mean, wide, strict=True)], [m + w for m, w in zip(mean, wide, strict=True)]
        lines.append(Line(name, x, mean, style, edges))
    draw([Panel("annotated tokens", f"{what}, %", lines, log_x=True)], title, Path(path))


def draw_simulation(simulation: Simulation, what: str, title: str, path: str | Path) -> None:
    """Scores in percent by annotated tokens, a line a ranking, through the means of models that were trained: those in
    the beginning and after each round. Bands are a standard deviation of single repeats on either side."""
    lines, used = [], 0
    for name in simulation.by:
        style = _PLAIN if name == "random" else _STYLES[used % len(_STYLES)]
        used += name != "random"
        runs = simulation.of(name)
        many = min(len(run.steps) for run in runs)  # a pool may have run out
        tokens = np.array([[step.tokens for step in run.steps[:many]] for run in runs]).mean(axis=0)
        scores = 100 * np.array([[step.score for step in run.steps[:many]] for run in runs])
        mean = scores.mean(axis=0)
        wide = scores.std(axis=0, ddof=1) if len(scores) > 1 else 0 * mean
        band = (mean - wide).tolist(), (mean + wide).tolist()
        lines.append(Line(name, tokens.tolist(), mean.tolist(), style, band))
    draw([Panel("annotated tokens", f"{what}, %", lines)], title, Path(path))
