"""`trellis train`, `eval`, `tag` and `inspect` with whole texts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import trellis as tr
from trellis.cli import tag_texts
from trellis.weak import item_json

COMMENTS = [
    ("Check out my channel", "SPAM"),
    ("best song ever", "HAM"),
    ("subscribe to my page", "SPAM"),
    ("I love her voice", "HAM"),
    ("", "HAM"),
    ("free phones at www.x.com", "SPAM"),
] * 4


def written(path, records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """comments.jsonl with labels, new.jsonl and new.txt without, and a model."""
    folder = tmp_path_factory.mktemp("texts")
    records = [{"text": text, "label": label, "id": i} for i, (text, label) in enumerate(COMMENTS)]
    written(folder / "comments.jsonl", records)
    written(folder / "new.jsonl", [{"text": "my channel ü", "label": "?"}, {"text": "her song", "meta": {"a": [1]}}])
    (folder / "new.txt").write_text("my channel\nher song\n\n", encoding="utf-8")
    tr.TextClassifier().fit(records).save(folder / "m")
    return folder


def piped(data, *arguments):
    """What `trellis` prints when it is given such standard input, in a process of its own."""
    command = [sys.executable, "-m", "trellis", *map(str, arguments)]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()


class TestTrain:
    def test_items_become_a_model(self, run, folder, tmp_path):
        arguments = ("--model-type", "text-classifier", "--target", "label", "--model", tmp_path / "m", "--json")
        code, out, err = run("train", folder / "comments.jsonl", *arguments)
        assert code == 0, err
        assert "24 items; training 'label'" in err
        assert json.loads(out.splitlines()[-1])["converged"]
        assert (tmp_path / "m").read_bytes() == (folder / "m").read_bytes()

    def test_with_development_texts_and_from_a_model(self, run, folder, tmp_path):
        more = (
            "--dev",
            folder / "comments.jsonl",
            "--warm-start",
            folder / "m",
            "--features",
            "word_ngrams(text, 1)[0] + word_count(text)[0]",
        )
        arguments = ("--model-type", "text-classifier", "--model", tmp_path / "m", "--l2", 0.5, *more, "--json")
        code, out, err = run("train", folder / "comments.jsonl", *arguments)
        assert code == 0, err
        assert json.loads(out.splitlines()[-1])["dev_score"] == 1.0
        assert tr.load(tmp_path / "m").l2 == 0.5

    def test_probabilities_in_place_of_labels(self, run, tmp_path):
        soft = [
            {"text": t, "probabilities": {"HAM": 0.1, "SPAM": 0.9} if k == "SPAM" else {"HAM": 1.0}}
            for t, k in COMMENTS
        ]
        path = written(tmp_path / "soft.jsonl", soft)
        code, _, err = run("train", path, "--model-type", "text-classifier", "--soft", "--model", tmp_path / "m")
        assert code == 0, err
        rows = [[0.1, 0.9] if label == "SPAM" else [1.0, 0.0] for _, label in COMMENTS]
        model = tr.TextClassifier().fit([text for text, _ in COMMENTS], soft=rows, labels=["HAM", "SPAM"])
        assert tr.load(tmp_path / "m").model_.weights.tolist() == model.model_.weights.tolist()
        written(path, [{"text": "a", "probabilities": {"HAM": 0.5, "SPAM": 0.4}}])
        code, _, err = run("train", path, "--model-type", "text-classifier", "--soft", "--model", tmp_path / "n")
        assert (code, "soft.jsonl:1: its probabilities add up to 0.9; expected 1" in err) == (1, True)

    @pytest.mark.parametrize(
        ("line", "options", "message"),
        [
            ('{"txt": "a", "label": "X"}', (), "features 'texts' read the columns text"),
            ('{"text": null, "label": "X"}\n{"text": "a", "label": "Y"}', (), "bad.jsonl:1: item 1: 'text' is None"),
            ('{"text": "a"}', (), "no record has a label in the field 'label'"),
            ('{"text": "a", "label": "X"', (), "bad.jsonl:1:"),
            ("", (), "bad.jsonl: there is no item to learn from"),
            ('{"text": "a", "label": "X"}', ("--order", 2), "--order is no setting of a text-classifier"),
            ('{"text": "a", "label": "X"}', ("--columns", "text,label"), "--columns is for column files"),
            ('{"text": "a", "probabilities": {"X": 1e3, "Y": -999}}', ("--soft",), "numbers from 0 to 1"),
            ('{"text": "a", "probabilities": {"X": 1' + "0" * 400 + "}}", ("--soft",), "numbers from 0 to 1"),
            ('{"text": "a", "label": "X"}', ("--soft", "--teach", "rounds=2"), "--teach rounds needs votes"),
            ('{"text": "a", "label": "X"}', ("--teach", "rounds=2"), "--teach says how to learn from --soft or"),
            ('{"text": "a", "label": "X"}', ("--soft",), "bad.jsonl:1: the field 'probabilities' is no object"),
        ],
    )
    def test_what_is_refused(self, run, tmp_path, line, options, message):
        (tmp_path / "bad.jsonl").write_text(f"{line}\n" if line else "")
        arguments = ("--model-type", "text-classifier", "--model", tmp_path / "m", *options)
        code, _, err = run("train", tmp_path / "bad.jsonl", *arguments)
        assert code != 0
        assert message in err
        assert not (tmp_path / "m").exists()

    def test_other_commands_that_train_have_tokens(self, run, folder):
        code, _, err = run("curve", folder / "new.txt", folder / "new.txt", "--model-type", "text-classifier")
        assert (code, "--model-type text-classifier is for `trellis train` alone" in err) == (1, True)


class TestEval:
    def test_accuracy_and_the_scores_of_each_label(self, run, folder):
        code, out, _ = run("eval", folder / "m", folder / "comments.jsonl", "--json")
        lines = out.splitlines()
        assert code == 0
        assert lines[:2] == ["processed 24 items.", "accuracy: 100.00%"]
        assert lines[3].split() == "SPAM: precision: 100.00%; recall: 100.00%; FB1: 100.00 12".split()
        found = json.loads(lines[-1])
        assert (found["accuracy"], found["f1"], found["tokens"], found["sentences"]) == (1.0, None, 24, 24)
        assert found["by_type"]["HAM"]["gold"] == 12
        assert found["tokens_per_second"] > 0

    def test_options_of_columns_are_refused(self, run, folder):
        code, _, err = run("eval", folder / "m", folder / "comments.jsonl", "--columns", "a,b")
        assert (code, "are for column files" in err) == (1, True)


class TestTag:
    def test_json_lines_get_a_field(self, run, folder):
        code, out, _ = run("tag", folder / "m", folder / "new.jsonl", "--marginals")
        one, two = map(json.loads, out.splitlines())
        assert code == 0
        assert (one["text"], one["label"], one["predicted"]) == ("my channel ü", "?", "SPAM")
        assert two["meta"] == {"a": [1]}
        assert two["probabilities"].keys() == {"SPAM", "HAM"}
        assert sum(two["probabilities"].values()) == pytest.approx(1.0)
        assert two["probabilities"]["HAM"] > 0.5

    def test_other_files_are_a_text_a_line(self, run, folder):
        assert run("tag", folder / "m", folder / "new.txt")[1] == "SPAM\tmy channel\nHAM\ther song\nHAM\t\n"
        line = run("tag", folder / "m", folder / "new.txt", "--marginals")[1].splitlines()[0].split("\t")
        assert [one.partition(":")[0] for one in line] == ["SPAM", "HAM", "SPAM", "my channel"]

    @pytest.mark.parametrize(
        "before", [b"", b"\xef\xbb\xbf", b"\n \n"], ids=["as they are", "byte order", "blank lines"]
    )
    def test_json_lines_from_a_pipe_are_known_by_their_beginning(self, folder, before):
        out = piped(before + (folder / "new.jsonl").read_bytes(), "tag", folder / "m")
        assert [json.loads(line)["predicted"] for line in out.splitlines()] == ["SPAM", "HAM"]

    def test_labels_that_would_break_a_line(self, run, tmp_path):
        tr.TextClassifier().fit(["a", "b"], ["X", "Y\tZ"]).save(tmp_path / "m")
        (tmp_path / "new.txt").write_text("a\n")
        code, out, err = run("tag", tmp_path / "m", tmp_path / "new.txt")
        assert (code, out, "give JSON lines" in err) == (1, "", True)

    def test_tables_are_warned_of(self, run, folder, tmp_path):
        (tmp_path / "new.csv").write_text("1,my channel\n")
        code, out, err = run("tag", folder / "m", tmp_path / "new.csv")
        assert (code, out) == (0, "SPAM\t1,my channel\n")
        assert "new.csv is read as one text a line; rows of a table have to become JSON lines" in err

    def test_texts_from_a_pipe(self, folder):
        assert piped(b"\nher song\n", "tag", folder / "m", "-") == "HAM\t\nHAM\ther song\n"

    def test_a_text_may_begin_with_a_brace(self, folder):
        assert piped(b"{my channel} here\n", "tag", folder / "m", "-") == "SPAM\t{my channel} here\n"

    @pytest.mark.parametrize(("name", "limit"), [("_AT_ONCE", 5), ("_CHARACTERS", 30)])
    @pytest.mark.parametrize("file", ["comments.jsonl", "new.txt"])
    def test_batches_change_nothing(self, run, folder, monkeypatch, file, name, limit):
        whole = run("tag", folder / "m", folder / file, "--marginals")[1]
        monkeypatch.setattr(tag_texts, name, limit)
        assert run("tag", folder / "m", folder / file, "--marginals")[1] == whole

    def test_many_blank_lines_are_texts(self, folder, monkeypatch):
        monkeypatch.setattr(tag_texts, "_AT_ONCE", 3)
        (folder / "blank.txt").write_text("\n" * 5 + "my channel\n")
        out = tag_texts.tag_texts(tr.load(folder / "m"), str(folder / "blank.txt"), str(folder / "out"), False)
        assert (out, (folder / "out").read_text()) == (6, "HAM\t\n" * 5 + "SPAM\tmy channel\n")

    def test_an_endless_pipe_is_answered_as_it_comes(self, folder):
        command = [sys.executable, "-m", "trellis", "tag", str(folder / "m")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for text, label in (("my channel", "SPAM"), ("her song", "HAM")):
                process.stdin.write(json.dumps({"text": text}).encode() + b"\n")
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["predicted"] == label
            process.stdin.close()
            assert process.wait(60) == 0

    @pytest.mark.parametrize(
        ("line", "options", "message"),
        [
            ('{"text": "a", "predicted": "x"}', (), "new.jsonl:2: there is a field 'predicted' already"),
            (
                '{"text": "a", "probabilities": {}}',
                ("--marginals",),
                "new.jsonl:2: there is a field 'probabilities' al",
            ),
            ('{"txt": "a"}', (), "new.jsonl:2: item 2: there is no field 'text'"),
            ("[]", (), "new.jsonl:2: a list; expected an object a line"),
            ('{"text": "a"}', ("--spans",), "whole texts have --marginals only"),
            ('{"text": "a"}', ("--kbest", 2), "whole texts have --marginals only"),
        ],
    )
    def test_what_is_refused(self, run, folder, tmp_path, line, options, message):
        (tmp_path / "new.jsonl").write_text(f'{{"text": "fine"}}\n{line}\n')
        code, _, err = run("tag", folder / "m", tmp_path / "new.jsonl", *options)
        assert code == 1
        assert message in err

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"\xff", "byte 0xff is not valid UTF-8"),
            (b"a\0b", "a NUL byte"),
            (b"a" * 33, "a line of more than 32 bytes"),
        ],
    )
    def test_bytes_that_are_no_text(self, run, folder, tmp_path, monkeypatch, line, message):
        monkeypatch.setattr(item_json, "MAX_LINE", 32)
        (tmp_path / "new.txt").write_bytes(b"fine\n" + line + b"\n")
        code, _, err = run("tag", folder / "m", tmp_path / "new.txt")
        assert (code, f"new.txt:2: {message}" in err) == (1, True)


class TestInspect:
    def test_the_strongest_weights_with_their_labels(self, run, folder):
        code, out, _ = run("inspect", folder / "m", "--top", 3, "--json")
        found = json.loads(out.splitlines()[-1])
        assert code == 0
        assert len(found["strongest"]) == 3
        assert {one["label"] for one in found["strongest"]} <= {"SPAM", "HAM"}

    def test_texts_to_count_on_are_refused(self, run, folder):
        code, _, err = run("inspect", folder / "m", folder / "new.txt")
        assert (code, "classifies whole texts, which column files do not hold; leave DATA out" in err) == (1, True)


def test_commands_of_tokens_say_what_the_model_is(run, folder):
    code, _, err = run("calibrate", folder / "m", folder / "new.txt")
    assert (code, "classifies whole texts; `trellis tag` and `trellis eval` know how" in err) == (1, True)
