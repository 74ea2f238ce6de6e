"""`trellis weak relate`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

KB = "Bill Gates\tfounder\tMicrosoft\nLarry Page\tfounder\tGoogle\nBill Gates\tcollege_attended\tHarvard\n"
TEXT = [
    "Bill Gates founded Microsoft in 1975 .",
    "Bill Gates , founder of Microsoft , left .",
    "Bill Gates attended Harvard from 1973 .",
    "Google was founded by Larry Page and another .",
    "Larry Page took a swipe at Microsoft .",
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kb.tsv").write_text(KB)
    (tmp_path / "text.txt").write_text("\n\n".join(one.replace(" ", "\n") for one in TEXT) + "\n")
    return tmp_path


def run(*arguments, folder, **more):
    command = [sys.executable, "-m", "trellis", "weak", "relate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, **more)


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_the_example_of_the_lecture(folder):
    done = run("kb.tsv", "text.txt", "--columns", "word", "--negatives", 1, folder=folder)
    assert done.returncode == 0
    found = [(one["relation"], one["pattern"]) for one in records(done.stdout)]
    for expected in (
        ("founder", "X founded Y"), ("founder", "X , founder of Y"), ("founder", "Y was founded by X"),
        ("college_attended", "X attended Y"), ("none", "X took a swipe at Y"),
    ):  # fmt: skip
        assert expected in found
    assert "facts: 3 of 3 matched, 0 never seen" in done.stderr


def test_json_counts_everything(folder):
    (folder / "kb.tsv").write_text(KB + KB)
    done = run("kb.tsv", "text.txt", "--columns", "word", "--all", "-o", "out.jsonl", "--json", folder=folder)
    said = json.loads(done.stdout)
    assert said["examples"] == {"founder": 3, "college_attended": 1}
    assert (said["candidates"], said["unrelated"], said["duplicate_facts"], said["written"]) == (10, 6, 3, 10)
    assert "3 facts are there more than once" in done.stderr
    made = records((folder / "out.jsonl").read_text())
    assert [one["relation"] for one in made].count(None) + said["negatives"] == 6


def test_standard_input_and_names_from_a_column(folder):
    text = "Bo B-PER\nEk I-PER\nleft O\nMicrosoft B-ORG\n"
    more = ("--columns", "word,entity", "--entities", "entity", "--all")
    done = run("kb.tsv", "-", *more, folder=folder, input=text)
    assert {(one["subject"], one["object"]) for one in records(done.stdout)} == {
        ("Bo Ek", "Microsoft"), ("Microsoft", "Bo Ek"),
    }  # fmt: skip
    assert "no sentence has both entities of a fact" in done.stderr


def test_lines_are_the_same_however_the_text_is_cut(folder, monkeypatch):
    from click.testing import CliRunner

    from trellis.cli.weak_relate import relate_

    monkeypatch.chdir(folder)
    arguments = ["kb.tsv", "text.txt", "--columns", "word", "--negatives", "0.5", "--all", "--output"]
    assert CliRunner().invoke(relate_, [*arguments, "whole.jsonl"]).exit_code == 0
    monkeypatch.setattr("trellis.corpus.columns.CHUNK", 16)
    assert CliRunner().invoke(relate_, [*arguments, "pieces.jsonl"]).exit_code == 0
    assert (folder / "whole.jsonl").read_bytes() == (folder / "pieces.jsonl").read_bytes()


def test_few_unrelated_pairs_are_warned_of(folder):
    done = run("kb.tsv", "text.txt", "--columns", "word", "--negatives", "1e-9", folder=folder)
    assert (done.returncode, "warning: only 0 of" in done.stderr) == (0, True)
    assert (
        "raise --negatives"
        not in run("kb.tsv", "text.txt", "--columns", "word", "--negatives", 1, folder=folder).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.tsv", "text.txt"], "trellis: none.tsv: no such file"),
        (["text.txt", "text.txt"], "trellis: text.txt:1: 1 column; expected 3, apart by tabs"),
        (["kb.tsv", "text.txt", "--negatives", "2"], "trellis: negatives is 2.0; expected a share"),
        (["kb.tsv", "text.txt", "--several", "x"], "trellis: several is 'x'; expected one of each, leave"),
        (["kb.tsv", "text.txt", "--entities", "ner"], "trellis: there is no column 'ner'"),
        (["kb.tsv", "text.txt", "--output", "kb.tsv"], "trellis: --output kb.tsv would overwrite what is read"),
        (["-", "-"], "trellis: standard input (-) can be read only once"),
        (["kb.tsv", "pairs.jsonl"], "trellis: pairs.jsonl is a file of items"),
        (["kb.tsv", "text.txt", "--json"], "trellis: the JSON would follow the data"),
    ],
)
def test_mistakes_are_said_in_one_line(arguments, said, folder):
    done = run(*arguments, "--columns", "word", folder=folder)
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize(("option", "value"), [("--max-names", "1"), ("--max-between", "-1"), ("--window", "-1")])
def test_limits_are_named_as_options(option, value, folder):
    done = run("kb.tsv", "text.txt", option, value, "--columns", "word", folder=folder)
    assert (done.returncode, f"Invalid value for '{option}': {value}" in done.stderr) == (2, True)
