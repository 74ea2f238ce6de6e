"""What a model is said to consist of adds up."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from trellis.cli.inspect import inspect as command
from trellis.errors import SettingError
from trellis.features import apply, columns
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
    features = crf.model_.features
    for one in found.strongest:
        assert one.feature in (features.arc_names() if " -> " in one.label else features.names())
    assert all({one.feature, one.label} <= set(crf.classes_) for one in found.transitions)
    assert not inspect(crf, top=0).strongest


def test_attributes_on_transitions_are_among_the_strongest(corpus):
    crf = CRF(target="chunk", features="*:%x[0,pos]\nB1:%x[0,word]", l2=1.0).fit(corpus)
    found, layout, labels = inspect(crf, top=10**6).strongest, crf.model_.layout, crf.classes_
    assert len(found) == layout.pairs + len(layout.arc_pair)
    names, weights = crf.model_.features.arc_names(), crf.model_.weights[layout.arcs_at :]
    expected = set()
    for a, name in enumerate(names):
        for k in range(layout.arc_start[a], layout.arc_start[a + 1]):
            before, here = divmod(int(layout.arc_pair[k]), len(labels))
            expected.add((name, f"{labels[before]} -> {labels[here]}", weights[k]))
    assert {(one.feature, one.label, one.weight) for one in found if " -> " in one.label} == expected


def test_a_template_for_both_is_told_apart(corpus):
    crf = CRF(target="chunk", features="*:%x[0,pos]\nU1:%x[0,word]", l2=1.0).fit(corpus)
    assert [(cost.template, cost.on) for cost in inspect(crf).templates] == [
        ("*:%x[0,pos]", "labels"),
        ("u1:%x[0,word]", "labels"),
        ("*:%x[0,pos]", "transitions"),
    ]


def test_with_data_it_says_how_often_a_template_knows_something(corpus):
    crf = CRF(target="chunk", features="word[0] + is_first(word)[0]", l2=1.0).fit(corpus)
    known, first = inspect(crf, corpus).templates
    assert known.per_token == 1.0
    assert first.per_token == pytest.approx(len(corpus) / corpus.tokens)


def test_attributes_as_given_are_one_line():
    crf = CRF(l2=1.0).fit([[["a"], ["b"]]], [["x", "y"]])
    (cost,) = inspect(crf).templates
    assert (cost.template, cost.attributes, cost.weights) == ("attributes as given", 2, 2)


@pytest.fixture
def show(tmp_path):
    """`show(crf, ...)`: what the command prints of a model."""

    def call(crf, *arguments):
        crf.save(tmp_path / "m.trellis")
        arguments = [str(tmp_path / "m.trellis"), *map(str, arguments)]
        return CliRunner().invoke(command, arguments, catch_exceptions=False).stdout

    return call


def test_the_command_prints_a_table_and_json(crf, show):
    *table, last = show(crf, "--json", "--top", "2").rstrip("\n").split("\n")
    found = json.loads(last)
    assert set(found) == {"labels", "attributes", "weights", "templates", "strongest", "transitions"}
    assert found == inspect(crf, top=2).as_json()
    assert "template" in "\n".join(table)
    assert f"{crf.model_.layout.size:,} weights" in "\n".join(table)


def test_in_a_pipe_nothing_is_folded_and_small_sizes_are_in_kilobytes(corpus, show):
    template = "*1:" + "/".join(["%x[0,word]"] * 30)
    out = show(CRF(target="chunk", features=template, l2=1.0).fit(corpus))
    on_labels, on_transitions = (line for line in out.splitlines() if line.startswith(f" {template} "))
    assert " labels " in on_labels
    assert " transitions " in on_transitions
    assert on_labels.rstrip().endswith(" kB")


def test_on_a_terminal_templates_are_folded_behind_separators(corpus, show, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = show(CRF(target="chunk", features="U1:" + "/".join(["%x[0,word]"] * 9), l2=1.0).fit(corpus), "--top", 0)
    lines = [re.sub("\x1b.*?m", "", line) for line in out[out.index("template") :].splitlines()]
    assert max(map(len, lines)) <= 80
    assert sum(line.strip().endswith("%x[0,word]/") for line in lines) >= 2


def test_data_need_not_have_the_target(corpus, show, tmp_path):
    crf = CRF(target="chunk", features="word[0]", l2=1.0).fit(corpus)
    (tmp_path / "d").write_text("# c\nDT the\nNN unheard\n\n")
    out = show(crf, tmp_path / "d", "--columns", "pos,word,chunk", "--comments", "--json")
    assert [cost["per_token"] for cost in json.loads(out.splitlines()[-1])["templates"]] == [0.5]


def test_functions_of_ones_own_are_needed_only_with_data(corpus, show, tmp_path):
    (word,) = columns("word")
    crf = CRF(target="chunk", features=word[0] + apply(word, len)[0], l2=1.0).fit(corpus)
    assert '%apply[0,word,"len"]' in show(crf)
    (tmp_path / "d").write_text("the DT\n\n")
    with pytest.raises(SettingError, match=r'on the command line; .*functions=\{"len": len\}'):
        show(crf, tmp_path / "d", "--columns", "word,pos")
