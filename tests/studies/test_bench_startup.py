"""`trellis bench startup`: small processes, and first runs on caches of their own."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import SettingError, TrellisError
from trellis.studies.bench_startup import FirstRun, _run, bench_startup
from trellis.studies.clock import Times

SMALL = {"python", "import numpy", "import trellis", "tag one sentence"}


def test_small_processes_take_turns():
    answer = CliRunner().invoke(
        bench, ["startup", "--repeat", "1", "--first-runs", "0", "--json"], catch_exceptions=False
    )
    *table, last = answer.stdout.rstrip("\n").split("\n")
    found = json.loads(last)
    assert set(found["seconds"]) - {"import pycrfsuite"} == SMALL
    assert all(times["runs"] == 1 and times["best"] > 0 for times in found["seconds"].values())
    assert found["ratio"]["import trellis / import numpy"] > 0
    assert found["first_run"] == {}
    assert found["compiling_seconds"] is None
    assert any("tag one sentence" in line for line in table)


def test_first_runs_are_timed_with_an_empty_cache_and_with_a_filled_one(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than a test should
    found = bench_startup(repeat=1, first_runs=1, tokens=40, iterations=1)
    assert set(found.first) == {"train", "tag"}
    assert found.kernels == (0, 0)
    seconds = {name: run.empty.median - run.filled.median for name, run in found.first.items()}
    assert found.compiling == pytest.approx(sum(seconds.values()))
    assert found.as_json()["first_run"]["train"]["compiling_seconds"] == seconds["train"]


def test_compiling_is_what_an_empty_cache_costs():
    assert FirstRun(Times((9.0, 11.0)), Times((2.0,))).compiling == 8.0


def test_a_process_that_fails_and_counts_that_cannot_be_are_told():
    with pytest.raises(TrellisError, match=r"ended with status 1: .*no such"):
        _run(["-c", "raise SystemExit('no such')"])
    with pytest.raises(SettingError, match="repeat is 0; expected a whole number >= 1"):
        bench_startup(repeat=0)
