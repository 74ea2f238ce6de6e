"""Plots and tables of reports."""

from __future__ import annotations

import pytest

from trellis.report.markdown import page, table
from trellis.report.plots import BLUE, VERMILLION, Line, Panel, Style, draw, tick_labels


def test_a_plot_is_a_small_png_file(tmp_path):
    pytest.importorskip("matplotlib")
    lines = [Line("one", [1, 10, 100], [3.0, 2.0, 1.0], Style(BLUE)), Line("two", [2], [1.0], Style(VERMILLION, "--"))]
    panels = [Panel("x", "y", lines, log_x=True, log_y=True), Panel("x", "y", lines, log_x=True, y_range=(1.5, 3.0))]
    draw(panels, "title", tmp_path / "plot.png")
    data = (tmp_path / "plot.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 60_000


def test_tables_align_numbers_and_mask_bars():
    text = table(["a", "b"], [["|x|", "1"]])
    assert text == "| a | b |\n| --- | ---: |\n| &#124;x&#124; | 1 |"
    assert page("a\n", "", "b") == "a\n\nb\n"


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([], []),
        ([300.0, 1000.0, 8323.0], ["300", "1,000", "8,323"]),
        ([300.0, 3000.0, 3253.0], ["300", "", "3,253"]),
        ([100.0, 120.0, 144.0, 173.0], ["", "120", "", "173"]),
        ([0.5, 1234567.0], ["0.5", "1,234,567"]),
    ],
)
def test_labels_of_ticks_leave_room_for_each_other(values, labels):
    assert tick_labels(values) == labels
