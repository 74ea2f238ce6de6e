"""Models written by every version of the format load and answer as they did (promise 4)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trellis
from trellis.corpus import parse_conll

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.trellis")))
def test_it_loads_and_answers_as_before(name):
    model = trellis.load(GOLDEN / f"{name}.trellis")
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    data = expected["input"]
    if isinstance(data, str):
        data = parse_conll(data.encode(), model.columns_, optional=model.target)
    assert model.predict(data) == expected["labels"]
    marginals = [np.round(rows, 9).tolist() for rows in model.predict_marginals(data)]
    assert marginals == expected["marginals"]
    assert model.objective_ == pytest.approx(expected["objective"])


def test_there_is_one_for_the_present_format():
    assert {"format-1-templates", "format-1-lists"} <= {path.stem for path in GOLDEN.glob("*.trellis")}
