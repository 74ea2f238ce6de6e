"""The reliability diagram."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from trellis.errors import FileAccessError, SettingError
from trellis.metrics.calibration import reliability
from trellis.report.calibration import draw_reliability

RNG = np.random.default_rng(3)
P = RNG.random(500)


@pytest.mark.parametrize(
    "found",
    [
        reliability(P, RNG.random(500) < P**2),
        reliability(P, RNG.random(500) < P**0.5, equal="mass"),
        reliability(0.3 * P, np.ones(500, bool)),
        reliability([0.9, 0.9], [True, False]),
        reliability([1.0], [True]),
        reliability([], []),
    ],
    ids=["too sure", "not sure enough", "never sure and always right", "one bin", "no gap", "no items"],
)
def test_a_diagram_is_a_small_png_file(tmp_path, found):
    pytest.importorskip("matplotlib")
    draw_reliability(found, tmp_path / "plot.png", "title")
    data = (tmp_path / "plot.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 60_000


def test_a_title_is_taken_as_it_is_and_makes_the_picture_higher(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    found = reliability([0.9], [True])
    draw_reliability(found, str(tmp_path / "without.png"))
    draw_reliability(found, str(tmp_path / "with.png"), r"$\no formula$ of $x_")
    sizes = []
    for name in ("without", "with"):
        with image.open(tmp_path / f"{name}.png") as picture:
            sizes.append(picture.size)
    assert sizes[0][0] == sizes[1][0]
    assert sizes[0][1] < sizes[1][1]


def test_missing_matplotlib_is_explained(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingError, match=r"pip install 'trellis\[plot\]'"):
        draw_reliability(reliability([], []), tmp_path / "plot.png")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(FileAccessError, match="does not exist"):
        draw_reliability(reliability([], []), tmp_path / "nowhere" / "plot.png")
