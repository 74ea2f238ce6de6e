"""What a model is said to consist of adds up."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from trellis.cli.inspect import inspect as command
from trellis.models import CRF
from trellis.report import inspect

FEATURES = {
    "templates": "word[-1:1] + bag(pos[-1:1]) + suffix(word, 2)[0] + transitions(pos[0])",
    "hashed": "word[-1:1] + suffix(word, 2)[0]",
}


@pytest.fixture(scope="module", params=FEATURES)
def crf(request, corpus):
    size = 500 if request.param == "hashed" else None
    return CRF(target="chunk", features=FEATURES[request.param], hash_size=size, l2=1.0).fit(corpus)


def test_templates_account_for_all_attributes_and_weights(crf):
    found, layout = inspect(crf), crf.model_.layout
    costs = found.templates
    assert sum(cost.attributes for cost in costs) == layout.attributes + layout.arc_attributes
    assert sum(cost.weights for cost in costs) == layout.size - len(layout.source)
    assert found.weights == layout.size
    for cost in costs:
        assert 0 <= cost.active <= cost.weights
        assert cost.size == 8 * cost.attributes + 10 * cost.weights
        assert cost.per_token is None


def test_the_strongest_weights_come_first_and_have_names(crf):
    found = inspect(crf, top=5)
    assert len(found.strongest) == len(found.transitions) == 5
    for several in (found.strongest, found.transitions):
        sizes = [abs(one.weight) for one in several]
        assert sizes == sorted(sizes, reverse=True)
    names = crf.model_.features.names()
    assert all(one.feature in names for one in found.strongest)
    assert all({one.feature, one.label} <= set(crf.classes_) for one in found.transitions)
    assert not inspect(crf, top=0).strongest


def test_with_data_it_says_how_often_a_template_knows_something(corpus):
    crf = CRF(target="chunk", features="word[0] + is_first(word)[0]", l2=1.0).fit(corpus)
    known, first = inspect(crf, corpus).templates
    assert known.per_token == 1.0
    assert first.per_token == pytest.approx(len(corpus) / corpus.tokens)


def test_attributes_as_given_are_one_line():
    crf = CRF(l2=1.0).fit([[["a"], ["b"]]], [["x", "y"]])
    (cost,) = inspect(crf).templates
    assert (cost.template, cost.attributes, cost.weights) == ("attributes as given", 2, 2)


def test_the_command_prints_a_table_and_json(crf, tmp_path):
    crf.save(tmp_path / "m.trellis")
    result = CliRunner().invoke(command, [str(tmp_path / "m.trellis"), "--json", "--top", "2"], catch_exceptions=False)
    *table, last = result.stdout.rstrip("\n").split("\n")
    found = json.loads(last)
    assert set(found) == {"labels", "attributes", "weights", "templates", "strongest", "transitions"}
    assert found == inspect(crf, top=2).as_json()
    assert "template" in "\n".join(table)
    assert f"{crf.model_.layout.size:,} weights" in "\n".join(table)
