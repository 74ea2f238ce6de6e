"""`trellis bench memory`: phases of processes, and what grows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from trellis.cli.bench import bench
from trellis.errors import SettingError
from trellis.studies.bench_memory import bench_memory
from trellis.studies.growing import Text
from trellis.studies.phases import Marks, Phase, Phases, held_bytes, run_in_phases

COLUMNS = "word,pos,chunk"
needs_figures = pytest.mark.skipif(held_bytes() is None, reason="this platform does not tell a process' memory")


def grow(marks: str) -> None:
    """A process for the test: 60 MB that are held, and then no longer."""
    phase = Marks(marks)
    phase.end_of("nothing")
    ballast = bytearray(b"x") * 60_000_000
    phase.end_of("ballast")
    del ballast
    phase.end_of("gone")


@needs_figures
def test_phases_are_what_a_process_held_and_the_most_so_far(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    found = run_in_phases(f"{__name__}:grow", "nothing")
    nothing, ballast, gone = found.phases
    assert [one.name for one in found.phases] == ["nothing", "ballast", "gone"]
    assert ballast.held - nothing.held > 50_000_000
    assert gone.held < ballast.held
    assert gone.peak >= ballast.peak
    assert found.grown(nothing) == 0
    assert found.growth > 50_000_000


def test_growth_is_counted_from_the_base_and_unknown_where_nothing_is_told():
    phases = Phases(
        [Phase("import", 10, 10), Phase("kernels", 30, 40), Phase("data", 20, 40), Phase("end", 60, 70)], "kernels"
    )
    assert [phases.grown(one) for one in phases.phases] == [0, 0, 0, 30]
    assert phases.growth == 30
    assert Phases([Phase("import", None, None)], "import").growth is None


def test_both_systems_are_measured_phase_by_phase(files):
    pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; pip install trellis[bench]")
    arguments = ["memory", str(files[0]), "--columns", COLUMNS, "--tokens", "200", "--iterations", "2", "--json"]
    lines = CliRunner().invoke(bench, arguments, catch_exceptions=False).stdout.rstrip("\n").split("\n")
    found = json.loads(lines[-1])
    assert 200 <= found["data"]["tokens"] < 220
    names = {what: [one["phase"] for one in phases] for what, phases in found["trellis"].items()}
    assert names == {
        "steps": ["import", "kernels", "corpus", "features", "shards", "training"],
        "train": ["import", "kernels", "fit and save"],
        "tag": ["import", "kernels", "model", "tagging"],
    }
    theirs = {what: [one["phase"] for one in phases] for what, phases in found["crfsuite"].items()}
    assert theirs == {"train": ["import", "corpus and features", "training"], "tag": ["import", "model", "tagging"]}
    assert set(found["growth_bytes"]) == {"trellis", "crfsuite"}
    assert set(found["ratio"]) == {"train", "tag"}
    for phases in found["trellis"].values():
        peaks = [one["peak_bytes"] for one in phases]
        assert peaks == sorted(peaks) or None in peaks
    assert any("CRFsuite training: corpus and features" in line for line in lines)


def test_without_crfsuite_ours_alone_is_measured_unless_it_is_asked_for(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    text = Text(files[:1], tuple(COLUMNS.split(",")), "pos")
    with pytest.raises(SettingError, match=r"pip install trellis\[bench\]"):
        bench_memory(text, against="crfsuite")
    monkeypatch.setattr(
        "trellis.studies.bench_memory.run_in_phases", lambda *_: Phases([Phase("import", 1, 1)], "import")
    )
    monkeypatch.setattr("trellis.studies.bench_memory.run_apart", lambda *_: None)
    found = bench_memory(text, tokens=100).as_json()
    assert found["crfsuite"] == {"train": None, "tag": None}
    assert found["ratio"] == {"train": None, "tag": None}


def test_what_cannot_be_measured_is_refused(files):
    text = Text(files[:1], tuple(COLUMNS.split(",")), "pos")
    with pytest.raises(SettingError, match="tokens is 0; expected a whole number >= 1"):
        bench_memory(text, tokens=0)
    with pytest.raises(SettingError, match="no peer 'wapiti'; there is: crfsuite"):
        bench_memory(text, against="wapiti")
