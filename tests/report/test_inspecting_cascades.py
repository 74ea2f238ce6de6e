"""What cascades consist of, stage by stage."""

from __future__ import annotations

import numpy as np
import pytest

from trellis import Cascade, Stage
from trellis.errors import SettingError
from trellis.report import inspect, inspect_stages

READING = "word[0] + pos[-1] + pos[0] + (word[0] & pos[0]) + transitions(pos[0]) + transitions(word[0])"


@pytest.fixture(scope="module")
def cascade(corpus):
    stages = [
        Stage("pos", "word[0] + suffix(word, 1)[0]", tol=1e-2),
        Stage("chunk", READING, reads=["pos"], tol=1e-2),
    ]
    return Cascade(stages, wire="marginal").fit(corpus)


def test_all_weights_of_a_stage_are_accounted_for(cascade):
    found = inspect_stages(cascade, top=10**6)
    assert list(found) == ["pos", "chunk"]
    for stage in cascade.model_.stages:
        one, weights = found[stage.target], stage.model.weights
        assert one.weights == len(weights)
        assert sum(cost.weights for cost in one.templates) + len(stage.model.layout.source) == one.weights
        total = np.abs([strong.weight for strong in (*one.strongest, *one.transitions)]).sum()
        assert total == pytest.approx(np.abs(weights).sum())


def test_what_a_stage_reads_has_names(cascade):
    found = inspect_stages(cascade, top=10**6)["chunk"]
    wiring = cascade.model_.stages[1].wiring
    names = {one.feature for one in found.strongest}
    assert set(wiring.names()) <= names
    assert set(wiring.arc_names()) <= names
    assert sum(cost.on == "labels" for cost in found.templates) == 4
    assert sum(cost.on == "transitions" for cost in found.templates) == 2


def test_with_data_it_says_how_much_is_read(cascade, heldout):
    found = inspect_stages(cascade, heldout, top=0)
    (word, _), (own, *read) = found["pos"].templates, found["chunk"].templates
    assert 0 < word.per_token <= 1
    assert own.per_token == word.per_token
    before, here = (cost.per_token for cost in read if cost.on == "labels" and "word" not in cost.template)
    assert before == pytest.approx(here, rel=0.5)
    assert here >= 1  # more than one label may be probable


def test_a_stage_of_segments(corpus):
    stages = [Stage("pos", "word[0]", tol=1e-2), Stage("chunk", "word[0]", reads=["pos"], model="semi-crf", tol=1e-2)]
    cascade = Cascade(stages, wire="onebest").fit(corpus)
    found = inspect_stages(cascade, corpus, top=10**6)["chunk"]
    total = np.abs([strong.weight for strong in (*found.strongest, *found.transitions)]).sum()
    assert total == pytest.approx(np.abs(cascade.model_.stages[1].model.weights).sum())
    assert {cost.on for cost in found.templates} == {"labels", "segments"}


def test_the_function_for_single_models_says_which_one_is_meant(cascade):
    with pytest.raises(SettingError, match="inspect_stages"):
        inspect(cascade)
