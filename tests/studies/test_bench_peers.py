"""`trellis bench peers`: toolkits from PyPI, those that are installed."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import SettingError
from trellis.studies.bench_peers import PARTS, Sizes, bench_peers
from trellis.studies.contest import Contest, contest, found, quiet
from trellis.studies.peer_hmmlearn import hidden_chains
from trellis.studies.peer_torch_struct import linear_chains

FEW = Sizes(sentences=30, iterations=4, states=2, steps=2, batch=2, length=5, labels=3)


def needs(package):
    return pytest.mark.skipif(find_spec(package) is None, reason=f"{package} is not installed")


def check(one: Contest, peers: set[str]) -> None:
    assert set(one.peers) == peers
    assert all(times.best > 0 for times in [*one.own.values(), *one.peers.values()])
    assert set(one.as_json()["ratio"]) == peers


@needs("pycrfsuite")
def test_toolkits_train_and_tag_alike(task):
    result = bench_peers(task, ["toolkits"], FEW, repeat=1)
    train, iteration, tag = result.contests["toolkits"]
    there = set(PARTS["toolkits"]) - set(result.missing)
    for one in (train, iteration, tag):
        check(one, there)
    assert set(train.own) == set(tag.own) == {"lists", "columns"}
    assert set(iteration.own) == {"columns"}
    assert set(tag.sizes["labels_as_ours"]) == set(result.versions) == there
    assert min(tag.sizes["labels_as_ours"].values()) > 0.8


@needs("hmmlearn")
def test_hmmlearn_finds_the_same_probabilities(corpus):
    (posterior, em), missing = hidden_chains(corpus, states=2, steps=2, rounds=1)
    assert missing == []
    assert posterior.sizes["apart"] < 1e-10
    for one in (posterior, em):
        check(one, {"hmmlearn, log", "hmmlearn, scaling"})


@needs("hmmlearn")
def test_steps_that_were_not_made_are_no_figure(corpus, monkeypatch):
    monkeypatch.setattr("trellis.studies.peer_hmmlearn._TOL", 0.5)
    with pytest.raises(SettingError, match="Trellis made 1 steps of EM, not 5; give more data"):
        hidden_chains(corpus, states=2, steps=5, rounds=1)


@needs("torch_struct")
def test_torch_struct_finds_the_same_marginals():
    (one,), _ = linear_chains(sentences=2, length=5, labels=3, rounds=1)
    check(one, {"torch-struct"})
    assert one.sizes["apart"] < 1e-5


def test_who_is_not_installed_is_left_out_and_named(files, monkeypatch):
    modules = {name: module for peers in PARTS.values() for name, module in peers.items()}
    for module in modules.values():
        monkeypatch.setitem(sys.modules, module, None)
    answer = CliRunner().invoke(bench, ["peers", str(files[0]), "--json"], catch_exceptions=False).stdout
    *table, last = answer.rstrip("\n").split("\n")
    values = json.loads(last)
    assert values["missing"] == list(modules)
    assert values["toolkits"] == values["hmm"] == values["chains"] == {}
    assert "pip install 'trellis[bench-peers]'" in "\n".join(table)


def test_who_insists_on_a_peer_hears_that_it_is_missing(task, monkeypatch):
    monkeypatch.setitem(sys.modules, "hmmlearn.hmm", None)
    with pytest.raises(SettingError, match="the peer hmmlearn is not installed; pip install hmmlearn"):
        bench_peers(task, sizes=FEW, against="hmmlearn")
    with pytest.raises(SettingError, match="no peer 'wapiti'; there are: python-crfsuite, sklearn-crfsuite, chaine"):
        bench_peers(task, against="wapiti")
    with pytest.raises(SettingError, match="there is no part 'hmms'; expected some of: toolkits, hmm, chains"):
        bench_peers(task, ["hmms"])
    with pytest.raises(SettingError, match="states is 0; expected a whole number >= 1"):
        bench_peers(task, sizes=Sizes(states=0))


def test_a_contest_counts_rounds_and_compares_medians():
    calls: list[str] = []
    one = contest(
        "sum", {"n": 3}, {"ours": lambda: calls.append("ours")}, {"theirs": lambda: calls.append("theirs")}, 2
    )
    assert calls == ["ours", "theirs"] * 3
    assert len(one.peers["theirs"].seconds) == 2
    assert one.ratio("theirs") == one.peers["theirs"].median / one.own["ours"].median
    assert one.as_json()["n"] == 3


def test_peers_are_quiet():
    with quiet():
        np.float64(1.0) / np.float64(0.0)
    modules, missing = found({"numpy": "numpy", "none": "no_such_module"})
    assert list(modules) == ["numpy"]
    assert missing == ["none"]
