"""Learning curves and simulated runs as pictures."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.fewlabels.curve import Curve, Point
from trellis.fewlabels.simulated import Run, Simulation, Step
from trellis.report.curves import draw_curves, draw_simulation

PNG = b"\x89PNG\r\n\x1a\n"


def curve(more):
    points = [Point(n, 10.5 * n, (0.5 + more + n / 1000, 0.52 + more + n / 1000)) for n in (10, 20, 40, 80, 160, 320)]
    return Curve(tuple(points), None)


@pytest.mark.parametrize("curves", [{"as it is": curve(0.0)}, {"as it is": curve(0.0), "mentions": curve(0.1)}])
def test_curves_are_drawn(tmp_path, curves):
    draw_curves(curves, "F1", "Phrases", tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("repeats", [1, 3])
def test_simulated_runs_are_drawn(tmp_path, repeats):
    tallies = np.ones((4, 5), np.int64)
    steps = tuple(Step(n, 10 * n, n / 50) for n in (10, 20, 30))
    runs = [Run(by, k, steps, np.arange(3), tallies) for k in range(repeats) for by in ("entropy", "random")]
    draw_simulation(Simulation(tuple(runs), ("entropy", "random")), "accuracy", "Tags", tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes().startswith(PNG)
