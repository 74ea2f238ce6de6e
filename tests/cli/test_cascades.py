"""Cascades on the command line: one TOML file, all columns, all scores."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import trellis as tr
from trellis.corpus import sample_corpus, write_conll
from trellis.corpus.sample import sample_path

CONFIG = """
columns = "word,pos,chunk,entity"
wire = "marginal"
tol = 1e-2

[[stage]]
target = "pos"
features = "word[0] + suffix(word, 2)[0]"
tol = 1e-2

[[stage]]
target = "chunk"
features = "word[0] + pos[-1:1]"
reads = ["pos"]
tol = 1e-2
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cascade")
    (folder / "c.toml").write_text(CONFIG)
    (folder / "train.txt").write_bytes(write_conll(sample_corpus("train").slice(0, 100)))
    (folder / "test.txt").write_bytes(write_conll(sample_corpus("test").slice(0, 20)))
    return folder


@pytest.fixture(scope="module")
def model(files):
    stages = [
        tr.Stage("pos", "word[0] + suffix(word, 2)[0]", tol=1e-2),
        tr.Stage("chunk", "word[0] + pos[-1:1]", reads=["pos"], tol=1e-2),
    ]
    train = tr.read_conll(files / "train.txt", columns=["word", "pos", "chunk", "entity"])
    tr.Cascade(stages, wire="marginal", tol=1e-2).fit(train).save(files / "m")
    return files / "m"


def test_training_by_a_file_gives_the_model_of_the_same_settings(run, files, model):
    code, out, err = run("train", "--config", files / "c.toml", files / "train.txt", "--model", files / "n", "--json")
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert {"objective", "evaluations", "iterations", "converged", "seconds", "parameters", "active"} <= set(found)
    assert "training 'pos' -> 'chunk'" in err
    assert (files / "n").read_bytes() == model.read_bytes()


def test_eval_has_every_stage_and_at_the_top_the_last(run, files, model):
    code, out, _ = run("eval", model, files / "test.txt", "--json")
    found = json.loads(out.splitlines()[-1])
    assert code == 0
    assert list(found["targets"]) == ["pos", "chunk"]
    assert found["f1"] == found["targets"]["chunk"]["f1"]
    assert found["targets"]["pos"]["f1"] is None
    assert found["tokens_per_second"] > 0


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_tag_adds_a_column_for_each_stage_and_reads_none_of_them(run, files, model, tmp_path, columns):
    corpus = sample_corpus("test").slice(0, 20)
    names = ["word", "pos", "chunk", "entity"][:columns]
    given = tmp_path / "in.txt"
    rows = [" ".join(["x" if n in ("pos", "chunk") else v for n, v in zip(names, row, strict=True)])
            for row in zip(*(corpus[name].values() for name in names), strict=True)]  # fmt: skip
    cuts = corpus.offsets.tolist()
    given.write_text("".join("\n".join(rows[a:b]) + "\n\n" for a, b in pairwise(cuts)))
    code, out, err = run("tag", model, given)
    assert code == 0, err
    tagged = [line.split() for line in out.splitlines() if line]
    assert all(len(line) == columns + 2 for line in tagged)
    found = tr.load(model).predict_columns(corpus)
    assert [line[-2:] for line in tagged] == [list(p) for p in zip(*(c.values() for c in found.values()), strict=True)]


def test_marginals_and_spans_of_all_stages(run, files, model):
    code, out, _ = run("tag", model, files / "test.txt", "--marginals")
    assert code == 0
    first = out.splitlines()[0].split()
    assert any(cell.startswith("pos=NN:") for cell in first)
    assert any(cell.startswith("chunk=B-NP:") for cell in first)
    code, out, _ = run("tag", model, files / "test.txt", "--spans")
    assert code == 0
    assert out.splitlines()[0].split("\t")[3].startswith("chunk:")
    code, _, err = run("tag", model, files / "test.txt", "--kbest", "2")
    assert code != 0
    assert "predict_kbest" in err


def test_settings_may_be_changed_and_shown(run, files):
    given = "train", "--config", files / "c.toml", "--set", "chunk.l2=0.25", "--set", "least=0.01", "--show-config"
    code, out, _ = run(*given)
    assert code == 0
    assert "least = 0.01" in out
    assert "l2 = 0.25" in out
    shown = files / "shown.toml"
    shown.write_text(out)
    code, again, _ = run("train", "--config", shown, "--show-config")
    assert code == 0
    assert again == out


def test_a_config_without_stages_can_be_made_up(run):
    code, out, _ = run("train", "--model-type", "cascade", "--show-config")
    assert code == 0
    assert out.count("[[stage]]") == 2
    for knob in ("wire", "reads", "features", "l2", "order", "weight", "jackknife", "tag_dictionary"):
        assert f"{knob} =" in out


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--set", "verb.l2=1"], "no stage has the target 'verb'"),
        (["--set", "chunk.min_coutn=1"], "did you mean min_count?"),
        (["--features", "ner"], "features is a setting of stages"),
        (["--set", "wire=radio"], "wire is 'radio'"),
        (["--set", "chunk.reads=['entity']"], "which no stage predicts"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(run, files, more, what):
    code, _, err = run("train", "--config", files / "c.toml", files / "train.txt", "--model", files / "n", *more)
    assert code == 1
    assert what in err
    assert err.count("\n") == 1


def test_a_cascade_without_stages_is_refused(run):
    code, _, err = run("train", "--model-type", "cascade", sample_path("train"), "--model", "m")
    assert code == 1
    assert "a cascade needs stages" in err
