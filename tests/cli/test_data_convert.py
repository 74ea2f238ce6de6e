"""`trellis data convert`: labels of a column file in another encoding."""

from __future__ import annotations

import json
import sys

import pytest

from trellis.corpus import sample_path
from trellis.files import read_bytes

COLUMNS = "word,pos,chunk,entity"


def convert(run, *arguments):
    return run("data", "convert", *arguments)


def test_there_and_back_is_the_same_file(run, tmp_path):
    there, back = tmp_path / "bioes.txt", tmp_path / "iob2.txt"
    given = ["--columns", COLUMNS, "--column", "chunk", "--json"]
    code, out, err = convert(run, sample_path("test"), there, "--to", "bioes", *given)
    found = json.loads(out)
    assert code == 0
    assert (found["from"], found["to"], found["repaired"]) == ("iob2", "bioes", 0)
    assert list(found) == ["from", "to", "sentences", "tokens", "segments", "repaired"]
    assert err == f"{found['segments']:,} segments from iob2 to bioes; labels repaired: 0\n"
    assert b"S-NP" in there.read_bytes()
    assert convert(run, there, back, "--to", "iob2", "--repair", "strict", *given)[0] == 0
    assert back.read_bytes() == read_bytes(sample_path("test"))


@pytest.mark.parametrize("column", [[], ["--column", "last"], ["--column", "c1"]])
def test_a_file_is_repaired_in_its_place(run, tmp_path, column):
    file = tmp_path / "a.txt"
    for repair, expected in (("conlleval", "x\tO\ny\tB-A\n\nz\tB-A\n"), ("discard", "x\tO\ny\tO\n\nz\tB-A\n")):
        file.write_text("x\tO\ny\tI-A\n\nz\tB-A\n")
        arguments = ["--from", "iob2", "--to", "iob2", "--repair", repair, *column]
        assert convert(run, file, file, *arguments)[0] == 0
        assert file.read_text() == expected


def test_standard_input_to_standard_output(run, monkeypatch, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("x B-A\ny I-A\n")
    with file.open() as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        code, out, err = convert(run, "-", "-", "--to", "bilou", "--json")
    assert (code, out.splitlines()[:2]) == (0, ["x B-A", "y L-A"])
    assert json.loads(out.splitlines()[-1])["tokens"] == 2
    assert "1 segments from iob2 to bilou" in err


def test_an_error_leaves_no_file_and_says_where(run, tmp_path):
    file, out = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("x O\ny I-A\nz B-A\nz B-A\n")
    code, _, err = convert(run, file, out, "--to", "bioes", "--from", "iob2", "--repair", "strict")
    assert (code, out.exists()) == (1, False)
    assert err.startswith(
        f"trellis: {file}:2: the label 'I-A' may not stand there in iob2; mend it, or choose a repair"
    )
    code, _, err = convert(run, file, out, "--to", "iob9")
    assert (code, "unknown encoding 'iob9': expected one of io, iob1" in err) == (1, True)
    assert convert(run, file, out)[0] == 2


def test_data_check_names_the_command_that_repairs(run, tmp_path):
    file, out = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("w B-A\nx O\ny I-A\nz O\nz B-A\n")
    code, found, _ = run("data", "check", file)
    assert code == 0
    line = f"      to repair them: trellis data convert {file} OUT --to iob2"
    assert line in found.splitlines()
    assert run(*line.replace("OUT", str(out)).split("trellis ")[1].split())[0] == 0
    assert "to repair" not in run("data", "check", out)[1]
    file.write_text("B-A 1\nO 1\nI-A 2\nO 3\nB-A 4\n")
    assert f"{file} OUT --column c0 --to iob2" in run("data", "check", file, "--target", "c0")[1]


def test_data_check_knows_labels_with_gaps(run, tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("x B-A\ny o\nz I-A\n\nx B-A\ny o\nz O\n")
    code, found, _ = run("data", "check", file)
    assert (code, "encoding gappy" in found, f"{file}:7: O after o" in found) == (0, True, True)
    assert "to repair" not in found
