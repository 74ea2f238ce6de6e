"""`trellis train`, `eval`, `tag` and `inspect` on whole texts, and on what is believed of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

TEXTS = [
    ("Check out my page!", "spam"),
    ("lovely song", "ham"),
    ("her voice is lovely", "ham"),
    ("Check this: www.example", "spam"),
    ("my page", "spam"),
    ("song, voice", "ham"),
]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.jsonl").write_text(lines({"text": text, "label": label} for text, label in TEXTS))
    (tmp_path / "new.jsonl").write_text(lines({"text": text} for text, _ in TEXTS[:2]))
    return tmp_path


@pytest.fixture
def trained(texts, run):
    code, _, err = run("train", "train.jsonl", "--model-type", "text-classifier", "--l2", "0.1", "--model", "m")
    assert code == 0, err
    assert "6 items; training 'label'" in err
    return texts


def test_scores(trained, run):
    code, out, _ = run("eval", "m", "train.jsonl", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["accuracy"] == 1.0
    assert json.loads(out.splitlines()[-1])["f1"] is None


def test_json_lines_get_a_field(trained, run):
    code, out, _ = run("tag", "m", "new.jsonl", "--marginals")
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["predicted"] for one in found] == ["spam", "ham"]
    assert sum(found[0]["probabilities"].values()) == pytest.approx(1.0)


def test_lines_of_text_get_a_label_before_them(trained, run):
    (trained / "new.txt").write_text("my page\nsong, voice\n")
    assert run("tag", "m", "new.txt")[1] == "spam\tmy page\nham\tsong, voice\n"
    assert run("tag", "m", "new.txt", "--marginals")[1].startswith("spam\tspam:0.")


def test_standard_input_is_answered_as_it_is(trained):
    command = [sys.executable, "-m", "trellis", "tag", "m", "-"]
    answer = subprocess.run(command, input="my page\n", capture_output=True, text=True, check=True)
    assert answer.stdout == "spam\tmy page\n"
    answer = subprocess.run(command, input='{"text": "my page"}\n', capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["predicted"] == "spam"


def test_soft_labels_in_the_file(texts, run):
    soft = [
        {"text": text, "probabilities": {"spam": p, "ham": 1 - p}}
        for (text, _), p in zip(TEXTS, [0.9, 0.1, 0.2, 0.9, 0.8, 0.1], strict=True)
    ]
    (texts / "soft.jsonl").write_text(lines(soft))
    code, _, err = run(
        "train", "soft.jsonl", "--model-type", "text-classifier", "--soft", "--l2", "0.1", "--model", "m"
    )
    assert code == 0, err
    assert json.loads(run("eval", "m", "train.jsonl", "--json")[1].splitlines()[-1])["accuracy"] == 1.0


def test_votes_and_a_label_model(texts, run):
    voted = [
        {"text": text, "votes": {"f": label, "g": None if i % 2 else label, "h": label}}
        for i, (text, label) in enumerate(TEXTS)
    ]
    (texts / "votes.jsonl").write_text(lines(voted))
    assert run("weak", "fit", "votes.jsonl", "--kind", "majority", "--model", "lm")[0] == 0
    how = ["--model-type", "text-classifier", "--l2", "0.1", "--model", "m"]
    for teach in ([], ["--teach", "learn=evidence,rounds=1"], ["--teach", "keep=0.8"]):
        code, _, err = run("train", "votes.jsonl", "--label-model", "lm", *teach, *how)
        assert code == 0, err
    code, _, err = run("train", "votes.jsonl", "--label-model", "lm", "--teach", "rounds=1", "--checkpoint", "c", *how)
    assert code == 1
    assert "several rounds keeps no checkpoint" in err


def test_what_is_in_a_model(trained, run):
    code, out, _ = run("inspect", "m")
    assert code == 0
    assert "word_ngrams" in out
    code, _, err = run("inspect", "m", "train.jsonl")
    assert "classifies whole texts" in err


TRAIN = ["train", "train.jsonl", "--model-type", "text-classifier", "--model", "other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "train.jsonl", "--model", "other"], "is a file of items; give --model-type text-classifier"),
        (["train", "new.jsonl", *TRAIN[2:]], "no record has a label in the field"),
        ([*TRAIN, "--votes"], "--votes is for column files"),
        ([*TRAIN, "--soft"], "train.jsonl:1: the field 'probabilities' is no object"),
        ([*TRAIN, "--order", "2"], "--order is no setting"),
        ([*TRAIN, "--teach", "keep=0.5"], "give --label-model, too"),
        (["eval", "m", "new.jsonl"], "no item has a label in the field 'label'"),
        (["eval", "m", "train.jsonl", "--columns", "a"], "are for column files"),
        (["tag", "m", "train.jsonl", "--kbest", "2"], "whole texts have --marginals only"),
        (["calibrate", "m", "train.jsonl"], "classifies whole texts"),
    ],
)
def test_what_does_not_fit(trained, run, arguments, message):
    code, _, err = run(*arguments)
    assert code != 0
    assert message in err


def test_fields_are_never_replaced(trained, run):
    (trained / "odd.jsonl").write_text('{"text": "a", "predicted": "x"}\n')
    code, _, err = run("tag", "m", "odd.jsonl")
    assert code == 1
    assert "odd.jsonl:1: there is a field 'predicted' already" in err


@pytest.mark.parametrize("bad", [b"{\n", b'{"text": 1e999}\n', b"[1]\n", b'{"text": "\xff"}\n', b"\x00\n"])
def test_broken_files(trained, run, bad):
    (trained / "bad.jsonl").write_bytes(bad)
    for command in (["tag", "m", "bad.jsonl"], ["eval", "m", "bad.jsonl"]):
        code, _, err = run(*command)
        assert code == 1
        assert "bad.jsonl:1" in err
