"""A quick run of the whole study through the command line, and what the command refuses."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.studies.tsuboi.claims import CLAIMS
from trellis.studies.tsuboi.memory import Growth
from trellis.studies.tsuboi.methods import all_methods
from trellis.studies.tsuboi.online_claims import ONLINE_CLAIMS
from trellis.studies.tsuboi.output import read_results

pytest.importorskip("matplotlib", reason="Matplotlib is not installed; pip install trellis[plot]")

CASES = [f"{task}-{weights}" for task in ("ner", "chunking", "quarter") for weights in ("seen", "all")]


@pytest.fixture(scope="module")
def run(reproduced):
    return partial(reproduced, "tsuboi")


@pytest.fixture(scope="module")
def quick(quick_study):
    return quick_study("tsuboi")


def test_every_method_runs_on_every_case(quick):
    found, _, _ = quick
    assert list(found["cases"]) == CASES
    for key, case in found["cases"].items():
        expected = [name for name in all_methods() if name != "ncg-some" or not key.startswith("quarter")]
        assert list(case["methods"]) == expected
        for method in case["methods"].values():
            assert set(method) == {
                "seconds", "evaluations", "products", "objective", "gap", "f1", "converged", "held_bytes",
                "peak_bytes", "seconds_to",
            }  # fmt: skip
            assert method["objective"] >= case["f_star"] > 0
            assert method["held_bytes"] > 0
        assert set(case["fastest"]) == {"1e-2", "1e-3", "1e-4", "f1"}
        assert min(case["costs"].values()) > 0
    assert {claim["claim"] for claim in found["claims"]} == {claim.key for claim in (*CLAIMS, *ONLINE_CLAIMS)}
    assert {claim["weights"] for claim in found["claims"]} == {"seen", "all"}


def test_variants_of_newton_cg_take_the_same_steps_and_hold_what_they_keep(quick):
    for case in quick[0]["cases"].values():
        methods = case["methods"]
        kept, anew, dual = (methods[name] for name in ("ncg-all", "ncg-0", "ncg-ad"))
        assert kept["objective"] == pytest.approx(anew["objective"], rel=1e-3)  # kept in single precision
        assert kept["objective"] == pytest.approx(dual["objective"], rel=1e-3)  # may be a step apart
        assert kept["held_bytes"] > anew["held_bytes"]
        assert methods["lbfgs-50"]["held_bytes"] > methods["lbfgs-5"]["held_bytes"]


def test_a_study_goes_on_with_the_cases_that_are_missing(quick, tmp_path, monkeypatch, run):
    monkeypatch.delenv("TRELLIS_DATA", raising=False)
    whole = json.loads((quick[1] / "results.json").read_text())
    part = {
        **whole,
        "cases": [case for case in whole["cases"] if case["task"] != "quarter" or case["weights"] == "all"],
    }
    (tmp_path / "results.json").write_text(json.dumps(part))
    found = run("--quick", "--out", tmp_path, "--resume", "--json")
    assert list(found["cases"]) == CASES
    cases = json.loads((tmp_path / "results.json").read_text())["cases"]
    for case, before in zip(cases, whole["cases"], strict=True):
        assert (case == before) == ((case["task"], case["weights"]) != ("quarter", "seen"))
        assert case["tried"] == before["tried"]
    with pytest.raises(SettingError, match="the study there has threads=1, not 2"):
        run("--quick", "--out", tmp_path, "--resume", "--threads", 2)


def test_a_study_goes_on_with_the_methods_that_are_missing(quick, tmp_path, monkeypatch, run):
    monkeypatch.delenv("TRELLIS_DATA", raising=False)
    whole = json.loads((quick[1] / "results.json").read_text())
    first = whole["cases"][0]
    part = {**first, "runs": [each for each in first["runs"] if each["key"] not in ("eg", "lbfgs-5")]}
    (tmp_path / "results.json").write_text(json.dumps({**whole, "cases": [part, *whole["cases"][1:]]}))
    run("--quick", "--out", tmp_path, "--resume", "--json")
    cases = json.loads((tmp_path / "results.json").read_text())["cases"]
    assert cases[1:] == whole["cases"][1:]
    assert [each["key"] for each in cases[0]["runs"]] == [each["key"] for each in first["runs"]]
    for new, old in zip(cases[0]["runs"], first["runs"], strict=True):
        assert (new == old) == (new["key"] not in ("eg", "lbfgs-5"))
        assert [moment["objective"] for moment in new["moments"]] == [moment["objective"] for moment in old["moments"]]


def test_results_have_every_point_of_every_curve(quick):
    study = read_results(quick[1])
    assert study.settings["quick"]
    for case in study.cases:
        assert set(case.tried) == {"0.5", "2"}
        assert f"{case.l2:g}" in case.tried
        for one in case.runs:
            seconds = [moment.seconds for moment in one.moments]
            assert seconds == sorted(seconds)
            assert one.last.passes >= len(one.moments) - 1
            assert all(0.0 <= moment.f1 <= 1.0 for moment in one.moments)
            assert one.moments[0].objective == pytest.approx(case.runs[0].moments[0].objective)  # all start from zero


def test_the_report_has_every_claim_method_and_plot(quick):
    _, folder, page = quick
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "figures mean nothing" in report
    for claim in (*CLAIMS, *ONLINE_CLAIMS):
        assert report.count(claim.text) == 2  # for both kinds of weights
    for method in all_methods(60).values():
        assert method.name in report
    assert "99,135 / " in report  # the paper's Table 1 beside ours
    for text, at in ((report, folder), (page.read_text(encoding="utf-8"), page.parent)):
        links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
        assert len(links) == 2 * len(CASES)
        for link in links:
            assert not Path(link).is_absolute()
            assert (at / link).read_bytes().startswith(b"\x89PNG")


def test_pages_say_nothing_of_the_machine_they_were_made_on(quick):
    _, folder, page = quick
    for text in ((folder / "report.md").read_text(encoding="utf-8"), page.read_text(encoding="utf-8")):
        assert str(folder.parent) not in text
        assert str(Path.home()) not in text


@pytest.fixture(scope="module")
def small(tmp_path_factory, english_only, run):
    """The folder of a run of one task in three rounds, and that of its data, in which there are no Spanish files."""
    out = tmp_path_factory.mktemp("small")
    run("--data", english_only, "--out", out, "--quick", "--task", "chunking", "--weights", "seen", "--repeat", 3)
    return out, english_only


def test_rounds_are_medians_of_the_same_run(small):
    (case,) = read_results(small[0]).cases
    assert case.sizes.train == 60
    assert all(len(one.round_seconds) == 3 for one in case.runs)
    assert "Every method ran 3 times" in (small[0] / "report.md").read_text(encoding="utf-8")


def test_the_report_can_be_made_again_from_the_results(small, tmp_path, run):
    (tmp_path / "results.json").write_bytes((small[0] / "results.json").read_bytes())
    run("--out", tmp_path, "--report-only")
    assert (tmp_path / "report.md").read_bytes() == (small[0] / "report.md").read_bytes()
    run("--out", tmp_path, "--report-only", "--clock", "cpu")
    assert "Times are processor seconds" in (tmp_path / "report.md").read_text(encoding="utf-8")
    for damaged in ("{", '{"study": "altun"}', '{"study": "tsuboi", "cases": 1}'):
        (tmp_path / "results.json").write_text(damaged)
        with pytest.raises(DataError):
            run("--out", tmp_path, "--report-only")


def test_a_missing_file_is_named_together_with_how_to_get_it(small, tmp_path, run):
    with pytest.raises(FileAccessError, match=r"conll2002-es/train\.txt: no such file.*trellis data get conll2002-es"):
        run("--data", small[1], "--out", tmp_path, "--quick", "--task", "ner")


def test_memory_is_measured_in_processes_of_their_own():
    growth = Growth(None, True, "quarter", "seen", 1.0, 1)
    found = growth.of(all_methods()["lbfgs-5"])
    assert found is None or 0 <= found < 500e6


def test_data_is_needed_unless_it_is_quick(tmp_path, monkeypatch, run):
    monkeypatch.setenv("TRELLIS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TRELLIS_DATA", str(tmp_path))
    with pytest.raises(FileAccessError, match=r"conll2002-es/train\.txt: no such file.*trellis data get conll2002-es"):
        run("--out", tmp_path / "out")


def test_missing_matplotlib_is_explained_before_anything_runs(tmp_path, monkeypatch, run):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingError, match=r"pip install 'trellis\[plot\]'"):
        run("--quick", "--out", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "parsing"], "no task 'parsing'; the tasks are: ner, chunking, quarter"),
        (["--threads", "0"], "threads is 0; expected a whole number >= 1"),
        (["--repeat", "0"], "repeat is 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path, monkeypatch, arguments, message, run):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=message):
        run("--quick", "--out", tmp_path / "out", *arguments)
