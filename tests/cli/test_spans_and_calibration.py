"""`trellis tag --spans`, `--kbest` and `trellis calibrate`."""

from __future__ import annotations

import json
import math

import pytest
from click.testing import CliRunner

import trellis
from trellis import CRF, Constraints, Lattice, LatticeCRF, Node, read_conll
from trellis.cli.app import app
from trellis.corpus import sample_corpus, write_conll
from trellis.errors import DataError, SettingError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("confidence")
    for part in ("train", "test"):
        (folder / f"{part}.txt").write_bytes(write_conll(sample_corpus(part)))
    CRF("chunk", "chunking", l2=1.0, max_iter=30, tol=1e-2).fit(sample_corpus("train")).save(folder / "m")
    return folder


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_spans_are_printed_with_their_probability(files):
    lines = [line.split("\t") for line in run("tag", files / "m", files / "test.txt", "--spans").splitlines()]
    test = read_conll(files / "test.txt", columns=["word", "pos", "chunk", "entity"])
    words = test["word"].values()
    for sentence, start, end, _, p, text in lines[:200]:
        first = int(test.offsets[int(sentence) - 1])
        assert " ".join(words[first + int(start) : first + int(end)]) == text
        assert 0.0 < float(p) <= 1.0
    sure = run("tag", files / "m", files / "test.txt", "--spans", "--min-confidence", "0.9").splitlines()
    assert len(sure) == sum(float(line[4]) >= 0.9 for line in lines)
    assert 0 < len(sure) < len(lines)


def test_the_k_best_labellings_come_one_after_the_other(files):
    out = run("tag", files / "m", files / "test.txt", "--kbest", "3")
    ranks = [line.split() for line in out.splitlines() if line.startswith("# ")]
    assert [rank for _, rank, _ in ranks[:3]] == ["1", "2", "3"]
    assert float(ranks[0][2]) >= float(ranks[1][2]) >= float(ranks[2][2])
    labels = run("tag", files / "m", files / "test.txt").split("\n\n")[0]
    assert out.split("\n\n")[0].splitlines()[1:] == labels.splitlines()


def test_calibration_is_reported_and_a_threshold_found(files):
    out = run("calibrate", files / "m", files / "test.txt", "--precision", "0.95", "--plot", files / "r.png", "--json")
    report = json.loads(out.splitlines()[-1])
    assert report["of"] == "spans"
    assert 0.0 <= report["ece"] < 0.2
    assert (files / "r.png").read_bytes().startswith(b"\x89PNG")
    threshold = report["threshold"]
    assert threshold["precision"] >= 0.95
    kept = run("tag", files / "m", files / "test.txt", "--spans", "--min-confidence", str(threshold["min_confidence"]))
    assert len(kept.splitlines()) == threshold["kept"]
    assert math.isclose(report["total"], sum(one["count"] for one in report["bins"]))


def test_calibration_of_tokens(files):
    report = json.loads(run("calibrate", files / "m", files / "test.txt", "--of", "tokens", "--json").splitlines()[-1])
    assert report["of"] == "tokens"
    assert report["accuracy_of_all"] > 0.5


@pytest.mark.parametrize(
    "arguments", [["--spans", "--marginals"], ["--kbest", "2", "--spans"], ["--min-confidence", "0.5"]]
)
def test_one_way_to_answer_at_a_time(files, arguments):
    with pytest.raises(SettingError, match="give"):
        run("tag", files / "m", files / "test.txt", *arguments)


def test_models_of_lattices_are_for_python(tmp_path):
    path, data = tmp_path / "m", tmp_path / "data"
    LatticeCRF().fit([Lattice([Node(0, 1, "X", ["a"]), Node(1, 2, "Y", ["b"])])], [[0, 1]]).save(path)
    data.write_text("a X\n")
    for command in ("tag", "eval", "calibrate"):
        with pytest.raises(SettingError, match="is a LatticeCRF, a model of lattices"):
            run(command, path, data)
    assert "strongest" in run("inspect", path)
    with pytest.raises(SettingError, match="leave DATA out"):
        run("inspect", path, data)


def test_constraints_of_all_sentences(files):
    crf, test = trellis.load(files / "m"), sample_corpus("test")
    rule = Constraints(penalties={"O": -3.0, "B-NP -> I-NP": -1}, at_most_once=["VP"])
    asked = ["--penalties", "O=-3.0,B-NP -> I-NP=-1", "--at-most-once", "VP"]
    lines = run("tag", files / "m", files / "test.txt", *asked).splitlines()
    assert [line.split()[-1] for line in lines if line] == [one for row in crf.predict(test, rule) for one in row]
    twice = ["--at-most-once", "NP", "--at-most-once", "VP"]
    assert run("tag", files / "m", files / "test.txt", *twice) == run(
        "tag", files / "m", files / "test.txt", "--at-most-once", "NP,VP"
    )
    spans = run("tag", files / "m", files / "test.txt", "--spans", *asked).splitlines()
    assert len(spans) == sum(map(len, crf.predict_spans(test, constraints=rule)))
    report = json.loads(run("eval", files / "m", files / "test.txt", "--json", *asked).splitlines()[-1])
    assert report["f1"] == pytest.approx(crf.score(test, constraints=rule))
    with pytest.raises(SettingError, match="--at-most-once is ' , '; expected types"):
        run("tag", files / "m", files / "test.txt", "--at-most-once", " , ")
    with pytest.raises(SettingError, match="at_most_once names the type 'XX'"):
        run("tag", files / "m", files / "test.txt", "--at-most-once", "XX")
    with pytest.raises(SettingError, match="expected NAME=VALUE"):
        run("tag", files / "m", files / "test.txt", "--penalties", "O")
    with pytest.raises(SettingError, match="the penalty of 'O' is 'x'"):
        run("tag", files / "m", files / "test.txt", "--penalties", "O=x")


def test_constraints_in_training(files, tmp_path):
    model = tmp_path / "m"
    asked = ["--columns", "word,pos,chunk,entity", "--target", "chunk", "--features", "pos[0]", "--tol", "1e-2"]
    run("train", files / "train.txt", *asked, "--model", model, "--penalties", "O=-3.0")
    rule = Constraints(penalties={"O": -3.0})
    own = CRF("chunk", "pos[0]", tol=1e-2).fit(sample_corpus("train"), constraints=rule)
    assert trellis.load(model).predict(sample_corpus("test")) == own.predict(sample_corpus("test"))
    with pytest.raises(DataError, match="a second segment of the type 'NP'"):
        run("train", files / "train.txt", *asked, "--model", model, "--at-most-once", "NP")
    with pytest.raises(SettingError, match="a KernelPerceptron knows no constraints"):
        run("train", files / "train.txt", *asked[:4], "--model-type", "kernel-perceptron", "--model", model,
            "--at-most-once", "NP")  # fmt: skip


def test_the_threshold_that_is_printed_keeps_what_it_says(files):
    for precision in (0.85, 0.9, 0.93, 0.95):
        out = run("calibrate", files / "m", files / "test.txt", "--precision", precision)
        line = next(line for line in out.splitlines() if line.startswith("--min-confidence"))
        threshold, kept = line.split()[1].rstrip(":"), int(line.split()[-1].replace(",", ""))
        spans = run("tag", files / "m", files / "test.txt", "--spans", "--min-confidence", threshold).splitlines()
        assert len(spans) == kept
