"""The log of a run: a JSON object a line, whatever happens."""

from __future__ import annotations

import json

import pytest

from trellis.errors import FileAccessError
from trellis.store import RunLog


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, *values, append=False):
    log = RunLog(path, append)
    for value in values:
        log.write("iteration", {"value": value})
    log.close()


def test_a_line_each(tmp_path):
    write(tmp_path / "log", 1, "ü\n\ud800", None, [1, 2])
    assert [line["value"] for line in lines(tmp_path / "log")] == [1, "ü\n\ud800", None, [1, 2]]
    assert lines(tmp_path / "log")[0] == {"event": "iteration", "value": 1}


def test_a_line_is_there_before_the_next_one(tmp_path):
    log = RunLog(tmp_path / "log")
    log.write("start", {})
    assert lines(tmp_path / "log") == [{"event": "start"}]
    log.close()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_null(tmp_path, value):
    write(tmp_path / "log", value)
    assert lines(tmp_path / "log")[0]["value"] is None


def test_a_new_run_begins_a_new_log(tmp_path):
    write(tmp_path / "log", 1)
    write(tmp_path / "log", 2)
    assert [line["value"] for line in lines(tmp_path / "log")] == [2]


def test_a_run_that_goes_on_goes_on_in_it(tmp_path):
    write(tmp_path / "log", 1, append=True)
    write(tmp_path / "log", 2, append=True)
    assert [line["value"] for line in lines(tmp_path / "log")] == [1, 2]


def test_half_a_line_is_cut_off_first(tmp_path):
    path = tmp_path / "log"
    path.write_text('{"event": "iteration", "value": 1}\n{"event": "iter')
    write(path, 2, append=True)
    assert [line["value"] for line in lines(path)] == [1, 2]


@pytest.mark.parametrize("name", ["no/log", ".", "-"])
def test_where_nothing_can_be_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileAccessError):
        RunLog(name)
