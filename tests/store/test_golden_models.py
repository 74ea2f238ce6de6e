"""Models written by every version of the format load and answer as they did (promise 4); see `make_golden.py`."""

from __future__ import annotations

import json

import pytest
from make_golden import GOLDEN, answers, loaded

from trellis.store.file import FORMAT

NAMES = {path.stem for path in GOLDEN.glob("*.trellis")}


@pytest.mark.parametrize("way", ["plain", "compiled"])
@pytest.mark.parametrize("name", sorted(NAMES))
def test_it_loads_and_answers_as_before(name, way, computing):
    model = loaded(GOLDEN / f"{name}.trellis")
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    with computing(way):
        found = answers(model, expected["input"])
    assert found["labels"] == expected["labels"]
    near = 2e-5 if "neural" in name else 2e-9  # encoders are of single precision
    for rows, before in zip(found["marginals"], expected["marginals"], strict=True):
        assert [pytest.approx(row, abs=near) for row in before] == rows
    assert found["objective"] == pytest.approx(expected["objective"])


@pytest.mark.parametrize("name", sorted(NAMES))
def test_what_is_loaded_is_saved_in_the_present_format(name, tmp_path):
    old = loaded(GOLDEN / f"{name}.trellis")
    old.save(tmp_path / f"{name}.trellis")
    new = loaded(tmp_path / f"{name}.trellis")
    data = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["input"]
    assert answers(new, data) == answers(old, data)


def test_there_are_some_of_every_format():
    for version in range(1, FORMAT + 1):
        assert {f"format-{version}-templates", f"format-{version}-lists"} <= NAMES
