"""Trainings of cascades on the command line: one TOML file, and what is said of what does not fit."""

from __future__ import annotations

import json

import pytest

from trellis.corpus import Corpus, sample_corpus, write_conll
from trellis.corpus.sample import sample_path


def test_training_by_a_file_gives_the_model_of_the_same_settings(run, files, cascade_model):
    code, out, err = run("train", "--config", files / "c.toml", files / "train.txt", "--model", files / "n", "--json")
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert {"objective", "evaluations", "iterations", "converged", "seconds", "parameters", "active"} <= set(found)
    assert list(found["stages"]) == ["pos", "chunk"]
    last = found["stages"]["chunk"]
    assert last == {name: found[name] for name in ("objective", "evaluations", "iterations", "converged")}
    assert found["joint"] is None
    assert "training 'pos' -> 'chunk'" in err
    assert "stage 'chunk': objective" in err
    assert "warning" not in err
    assert (files / "n").read_bytes() == cascade_model.read_bytes()


def test_stages_are_named_in_the_order_of_their_training_and_joint_training_by_itself(run, files, tmp_path):
    text = (files / "c.toml").read_text().replace('"marginal"', '"joint"\nmax_iter = 2')
    head, pos, chunk = text.split("[[stage]]")
    (tmp_path / "c.toml").write_text("[[stage]]".join([head, chunk, pos]))
    given = "--config", tmp_path / "c.toml", files / "train.txt", "--model", tmp_path / "m", "--json"
    code, out, err = run("train", *given)
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert "training 'pos' -> 'chunk'" in err
    assert "joint training: objective" in err
    assert list(found["stages"]) == ["pos", "chunk"]
    assert found["joint"]["iterations"] == found["iterations"] == 2
    assert found["joint"]["objective"] == found["objective"]


def test_training_may_begin_with_the_weights_of_a_cascade(run, files, cascade_model, tmp_path):
    given = "train", "--config", files / "c.toml", files / "train.txt", "--model", tmp_path / "n", "--json"
    code, out, err = run(*given, "--warm-start", cascade_model)
    assert code == 0, err
    warm = json.loads(out.splitlines()[-1])["stages"]["pos"]
    cold = json.loads(run(*given)[1].splitlines()[-1])["stages"]["pos"]
    assert warm["iterations"] < cold["iterations"]
    columns = "--columns", "word,pos,chunk,entity", "--target", "chunk"
    code, _, err = run("train", files / "train.txt", *columns, "--model", tmp_path / "c", "--warm-start", cascade_model)
    assert code == 1
    assert "is a Cascade; a crf begins with one of its kind" in err


def test_errors_in_the_training_of_a_stage_name_it(run, files, tmp_path):
    given = "train", "--config", files / "c.toml", files / "train.txt", "--model", tmp_path / "n"
    assert run(*given, "--checkpoint", tmp_path / "run")[0] == 0
    code, _, err = run(*given, "--checkpoint", tmp_path / "run", "--resume", "--set", "pos.l2=3")
    assert code == 1
    assert err.splitlines()[-1].endswith("; in stage 'pos'")


def test_a_stage_that_has_not_converged_counts_for_strict(run, files, tmp_path):
    given = "train", "--config", files / "c.toml", files / "train.txt", "--model", tmp_path / "n", "--strict"
    assert run(*given)[0] == 0
    assert run(*given, "--set", "pos.max_iter=1")[0] == 3


def test_settings_may_be_changed_and_shown(run, files):
    changes = ("chunk.l2=0.25", "least=0.01", "chunk.loss=softmax-margin", "chunk.costs=2")
    given = (
        "train",
        "--config",
        files / "c.toml",
        *(word for one in changes for word in ("--set", one)),
        "--show-config",
    )
    code, out, _ = run(*given)
    assert code == 0
    assert "costs = 2" in out
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


def test_the_config_that_is_made_up_can_be_trained(run, files, tmp_path):
    code, out, _ = run("train", "--model-type", "cascade", "--show-config", "--max-iter", "1")
    assert code == 0
    assert " --" not in out
    assert "or -" not in out
    (tmp_path / "shown.toml").write_text(out)
    corpus = sample_corpus("train").slice(0, 20)
    data = write_conll(Corpus({name: corpus[name] for name in ("word", "pos", "chunk")}, corpus.offsets))
    (tmp_path / "train.txt").write_bytes(data)
    given = "--set", "wire=onebest", "--set", "pos.tol=0.1", "--set", "chunk.tol=0.1", "--model", tmp_path / "m"
    code, _, err = run("train", "--config", tmp_path / "shown.toml", tmp_path / "train.txt", *given)
    assert code == 0, err


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--max-iter", "3", "--tol", "0.1"],
         "the wire marginal: max_iter, tol (of joint training; give it to stages: --set pos.max_iter=3)"),
        (["--set", "k=3", "--set", "rounds=4"], "the wire marginal: k (for kbest); rounds (for joint)"),
        (["--set", "k=10", "--tol", "1e-5"], None),
        (["--set", "wire=joint", "--max-iter", "1", "--set", "rounds=4"], "rounds (for schedule=alternate)"),
        (["--set", "wire=kbest", "--set", "k=2", "--set", "least=0.01"], "least (for marginal and joint)"),
    ],
)  # fmt: skip
def test_what_the_wire_does_not_use_is_said(run, files, tmp_path, more, what):
    code, _, err = run("train", "--config", files / "c.toml", files / "train.txt", "--model", tmp_path / "n", *more)
    assert code == 0, err
    found = [line for line in err.splitlines() if "not used with" in line]
    assert len(found) == (what is not None)
    assert what is None or found[0].endswith(what)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--set", "verb.l2=1"], "no stage has the target 'verb'"),
        (["--set", "chunk.min_coutn=1"], "did you mean min_count?"),
        (["--features", "ner"], "features is a setting of stages"),
        (["--set", "wire=radio"], "wire is 'radio'"),
        (["--set", "chunk.reads=['entity']"], "which no stage predicts"),
        (["--set", "chunk.reads=3"], "stage 'chunk': reads is (3,)"),
        (["--set", "pos.model=maxent"], "stage 'pos': the model is 'maxent'"),
        (["--set", "pos.l2=-1"], "trellis: stage 'pos': l2 is -1; expected a number >= 0"),
        (["--set", "pos.features=lemma[0]"], "stage 'pos': features:1:1: 'lemma': no column lemma"),
        (["--set", "pos.options=memory"], "stage 'pos': options memory: found 'memory'"),
        (["--model-type", "crf"], "--model-type is 'crf', and there are tables [[stage]]"),
        (["--target", "chunk"], "each [[stage]] of a cascade names its own"),
        (["--prune", "0.01"], "prune is no setting of cascades"),
        (["--set", "wirre=gold"], "did you mean wire?"),
        (["--set", "zzz=1"], "for cascades also wire, k, samples, least, jackknife, schedule, rounds, frozen"),
        (["--set", "stage=1"], "--set TARGET.KEY="),
        (["--set", "wire=joint", "--set", "frozen=verb"], "frozen names 'verb'"),
        (["--set", "wire=joint", "--set", "frozen=3"], "frozen is 3; expected targets"),
        (["--warm-start", "nothing"], "nothing"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(run, files, more, what):
    code, _, err = run("train", "--config", files / "c.toml", files / "train.txt", "--model", files / "n", *more)
    assert code == 1
    assert what in err
    assert sum("; training " not in line for line in err.splitlines()) == 1


def test_a_cascade_without_stages_is_refused(run):
    code, _, err = run("train", "--model-type", "cascade", sample_path("train"), "--model", "m")
    assert code == 1
    assert "a cascade needs stages" in err


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("tol = 1e-2", "l2 = true", "stage 'pos': l2 is True"),
        ("features =", "features = 3 #", "stage 'pos': features is 3"),
        ("tol =", "toll =", "stage 'pos': unknown setting 'toll'; did you mean tol?"),
        ("wire =", 'wire = "radio" #', "wire is 'radio'"),
        ("wire =", "wirre =", "unknown option 'wirre'; did you mean wire?"),
        ("[[stage]]", "[[stages]]", "did you mean [[stage]]?"),
        ("[[stage]]", "[[Stage]]", "did you mean [[stage]]?"),
        ("[[stage]]", "[stage]", "write [[stage]]"),
    ],
)
def test_what_does_not_fit_in_a_file_is_said_with_its_name(run, files, tmp_path, old, new, what):
    head, pos, chunk = (files / "c.toml").read_text().split("[[stage]]")
    text = f"{head}[[stage]]{pos}".replace(old, new)
    (tmp_path / "c.toml").write_text(
        text + ("" if new == "[stage]" else f"{new if '[[' in new else '[[stage]]'}{chunk}")
    )
    code, _, err = run("train", "--config", tmp_path / "c.toml", files / "train.txt", "--model", tmp_path / "n")
    assert code == 1
    assert err.startswith(f"trellis: {tmp_path / 'c.toml'}: ")
    assert what in err
    assert err.count("\n") == 1


def test_text_will_do_for_names_and_tables(run, files, tmp_path):
    given = "train", "--config", files / "c.toml", files / "train.txt", "--model", tmp_path / "n"
    code, _, err = run(
        *given, "--set", "wire=joint", "--set", "frozen=pos", "--max-iter", "1", "--set", "pos.options=memory=5"
    )
    assert code == 0, err


def test_a_misspelt_model_type_may_have_meant_a_cascade(run, files):
    code, _, err = run("train", "--model-type", "cascad", files / "train.txt", "--model", "m")
    assert code == 1
    assert "did you mean cascade?" in err
