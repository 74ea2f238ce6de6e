"""`trellis bench scaling`: text and labels as large as asked for, and what is said of their cost."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import FileAccessError, SettingError
from trellis.studies.bench_scaling import Settings, bench_scaling, exponent, faster, relative
from trellis.studies.chain_cost import ChainCost
from trellis.studies.clock import Times
from trellis.studies.growing import LABEL, WORD, Text, of_tokens, with_labels

COLUMNS = ("word", "pos", "chunk")


@pytest.fixture
def text(files):
    return Text(files, COLUMNS, "pos")


def run(*arguments):
    """The JSON object that the command prints last, and what it prints before."""
    result = CliRunner().invoke(bench, ["scaling", *map(str, arguments)], catch_exceptions=False)
    *table, last = result.stdout.rstrip("\n").split("\n")
    return json.loads(last), "\n".join(table)


def cost(tokens=100, labels=10, threads=1, seconds=1.0):
    return ChainCost(tokens, labels, 1, threads, 5, Times((seconds,)), Times((seconds / 2,)))


def test_text_is_words_and_labels_of_all_its_files(text, corpus, heldout):
    found = text.read()
    assert list(found.columns) == [WORD, LABEL]
    assert found.tokens == corpus.tokens + heldout.tokens
    assert found[LABEL].values() == corpus["pos"].values() + heldout["pos"].values()


def test_text_of_some_tokens_ends_with_a_sentence_and_begins_again_where_it_is_too_short(text):
    whole = text.read()
    few = of_tokens(whole, 50)
    assert 50 <= few.tokens < 50 + np.diff(whole.offsets).max()
    assert few[WORD].values() == whole[WORD].values()[: few.tokens]
    many = of_tokens(whole, 3 * whole.tokens)
    assert many.tokens == 3 * whole.tokens
    assert many.sentences(WORD) == 3 * whole.sentences(WORD)


def test_the_most_frequent_labels_stay_and_the_others_are_one(text):
    whole = text.read()
    few = with_labels(whole, 3)
    before, after = whole[LABEL].values(), few[LABEL].values()
    counts = sorted(((before.count(label), label) for label in set(before)), reverse=True)
    for rank, (_, label) in enumerate(counts):
        assert {new for old, new in zip(before, after, strict=True) if old == label} == {f"L{min(rank, 2)}"}


def test_too_few_labels_are_told_apart_by_the_ends_of_words(text):
    whole = text.read()
    assert len(set(whole[LABEL].values())) < 9
    many = with_labels(whole, 9)
    assert len(set(many[LABEL].values())) == 9
    pairs = set(zip(whole[LABEL].values(), whole[WORD].values(), strict=True))
    assert len({*zip(whole[LABEL].values(), whole[WORD].values(), many[LABEL].values(), strict=True)}) == len(pairs)


def test_growth_is_told_by_tokens_threads_and_labels():
    costs = [cost(), cost(threads=2, seconds=0.5), cost(tokens=400, seconds=4.4), cost(400, threads=2, seconds=2.0)]
    assert relative(costs[2], costs)["evaluation"] == pytest.approx(1.1)
    assert relative(costs[3], costs) == {"evaluation": 1.0, "tagging": 1.0}
    assert faster(costs[3], costs)["tagging"] == pytest.approx(2.2)
    more = [cost(labels=10), cost(labels=40, seconds=8.0)]
    assert exponent(more[0], more) is None
    assert exponent(more[1], more)["evaluation"] == pytest.approx(math.log(8) / math.log(4))


def test_every_part_is_measured(files):
    sizes = "--tokens", "100,300", "--labels", "3,5", "--at", 120, "--classes", 4, "--prune-from", 5, "--repeat", 1
    found, table = run(*files, "--columns", ",".join(COLUMNS), *sizes, "--threads", "1,2", "--json")
    assert [(one["threads"], one["labels"]) for one in found["tokens"]] == [(1, 4), (2, 4), (1, 4), (2, 4)]
    for one in [*found["tokens"], *found["labels"], *found["pruned"], *found["orders"]]:
        for what in ("evaluation", "tagging"):
            assert one[what]["ns_per_token"]["best"] == pytest.approx(1e9 * one[what]["best"] / one["tokens"])
            assert 0 < one[what]["best"] <= one[what]["median"]
    assert [one["threads"] for one in found["threads"]] == [2, 2]
    assert [one["labels"] for one in found["labels"]] == [3, 5]
    assert [one["order"] for one in found["orders"]] == [1, 2]
    assert found["orders"][0]["weights"] < found["orders"][1]["weights"]
    (pruned,) = found["pruned"]
    assert 1 <= pruned["labels_left"] <= 5
    assert min(pruned["ratio"].values()) > 0
    assert found["iteration"] == {}
    for name in ("tokens", "labels", "labels, pruned", "order"):
        assert name in table


def test_crfsuites_iterations_are_there_if_asked_for(text):
    pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; pip install trellis[bench]")
    settings = Settings(tokens=[200], threads=[1], classes=3, repeat=1, parts=["tokens"])
    found = bench_scaling(text, settings, "crfsuite").as_json()
    (both,) = found["iteration"].values()
    assert both["ratio"]["1"]["best"] > 0
    assert found["labels"] == found["orders"] == []


def test_sizes_and_peers_that_cannot_be_are_refused(text, files, monkeypatch):
    for settings, message in (
        ({"tokens": []}, r"tokens are \[\]; expected whole numbers >= 1"),
        ({"threads": [1, 0]}, r"threads are \[1, 0\]"),
        ({"classes": 0}, "classes is 0"),
        ({"parts": ["speed"]}, "there is no part 'speed'; expected some of: tokens, labels, orders"),
    ):
        with pytest.raises(SettingError, match=message):
            Settings(**settings)
    with pytest.raises(SettingError, match="no peer 'wapiti'; there is: crfsuite"):
        bench_scaling(text, against="wapiti")
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(SettingError, match=r"pip install trellis\[bench\]"):
        bench_scaling(text, against="crfsuite")
    with pytest.raises(SettingError, match="there is no column 'tag'; the columns are: word, pos, chunk"):
        Text(files, COLUMNS, "tag")
    with pytest.raises(FileAccessError, match="no such file"):
        Text((files[0].with_name("other.txt"),), COLUMNS, "pos")


def test_default_text_is_brown_or_else_conll_2000(tmp_path, monkeypatch):
    monkeypatch.setenv("TRELLIS_DATA", str(tmp_path))
    for folder, names in (("conll2000", ["train"]), ("brown", ["train", "dev", "test"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.txt").write_text("a b c\n")
        assert [file.parent.name for file in Text.default().files] == [folder] * len(names)
