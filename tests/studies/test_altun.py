"""A quick run of the whole study through the command line, and what the command refuses."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from trellis.errors import DataError, FileAccessError, SettingError
from trellis.studies.altun.claims import CLAIMS
from trellis.studies.altun.methods import LOSSES, METHODS
from trellis.studies.altun.output import read_results

pytest.importorskip("matplotlib", reason="Matplotlib is not installed; pip install trellis[plot]")


@pytest.fixture(scope="module")
def run(reproduced):
    return partial(reproduced, "altun")


@pytest.fixture(scope="module")
def quick(quick_study):
    return quick_study("altun")


def test_every_method_that_is_there_runs_on_every_task_and_feature_set(quick):
    found, _, _ = quick
    assert list(found["scores"]) == ["ner-s1", "ner-s2", "ner-s3", "pos-s1", "pos-s2", "ptb-s1", "ptb-s2", "ptb-s3"]
    there = [key for key, method in METHODS.items() if method.is_there]
    assert there[:4] == list(LOSSES)
    assert sorted(there + found["left_out"]) == sorted(METHODS)
    for scores in found["scores"].values():
        assert list(scores) == there
        for each in scores.values():
            assert 0.0 <= each["score"] <= 1.0
            assert 0 < each["active"] <= each["weights"]
            assert each["seconds"] > 0
    assert [claim["claim"] for claim in found["claims"]] == [claim.key for claim in CLAIMS]


def test_results_have_every_cell_once(quick):
    study = read_results(quick[1])
    keys = [outcome.cell.key for outcome in study.outcomes]
    assert len(keys) == len(set(keys)) == quick[0]["cells"]
    assert {outcome.cell.prior for outcome in study.outcomes if outcome.cell.method == "log"} == {
        "l2", "l1", "hyperbolic", "none",
    }  # fmt: skip
    assert {outcome.cell.noise for outcome in study.outcomes} == {0.0, 0.2}
    for outcome in study.outcomes:
        assert outcome.sentences <= (outcome.cell.sentences or 150)
        assert (outcome.dev is None) == (outcome.cell.task == "pos" and not outcome.cell.held_out)


def test_a_sparse_prior_leaves_weights_out(quick):
    study = read_results(quick[1])
    assert any(outcome.active < outcome.weights for outcome in study.outcomes if outcome.cell.prior == "l1")
    assert all(outcome.active == outcome.weights for outcome in study.outcomes if outcome.cell.prior == "hyperbolic")


def test_the_report_has_every_claim_and_plot_and_the_papers_figures(quick):
    _, folder, page = quick
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "figures and verdicts mean nothing" in report
    for claim in CLAIMS:
        assert claim.text in report
    for figure in ("94.91 / ", "95.31 / ", "73.62 / ", "73.82 / ", "72.97 / ", "48.23 / ", "89.42 / ", "94.92 / "):
        assert figure in report
    for text, at in ((report, folder), (page.read_text(encoding="utf-8"), page.parent)):
        links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
        names = {Path(link).name for link in links}
        assert {"noise.png", "sizes-ner.png", "sizes-pos.png", "sizes-ptb.png"} <= names
        for link in links:
            assert not Path(link).is_absolute()
            assert (at / link).read_bytes().startswith(b"\x89PNG")
        assert str(folder.parent) not in text
        assert str(Path.home()) not in text


def test_a_study_goes_on_with_the_cells_that_are_missing(quick, tmp_path, monkeypatch, run):
    monkeypatch.delenv("TRELLIS_DATA", raising=False)
    whole = json.loads((quick[1] / "results.json").read_text())
    gone = whole["outcomes"][::40]
    part = {**whole, "outcomes": [one for one in whole["outcomes"] if one not in gone]}
    (tmp_path / "results.json").write_text(json.dumps(part))
    found = run("--quick", "--out", tmp_path, "--resume", "--json")
    assert found["cells"] == len(whole["outcomes"])
    again = json.loads((tmp_path / "results.json").read_text())["outcomes"]
    assert again[: len(part["outcomes"])] == part["outcomes"]
    for one, before in zip(again[len(part["outcomes"]) :], gone, strict=True):
        times = dict.fromkeys(("seconds", "cpu_seconds", "moments"))
        assert {**one, **times} == {**before, **times}
    with pytest.raises(SettingError, match="the study there has quick=True, not False"):
        run("--out", tmp_path, "--resume", "--data", tmp_path, "--task", "ptb")


@pytest.fixture(scope="module")
def small(tmp_path_factory, english_only, run):
    """The folder of a study of one part and task, and that of its data, in which there are no Spanish files."""
    out = tmp_path_factory.mktemp("small")
    run("--data", english_only, "--out", out, "--quick", "--only", "losses", "--task", "pos")
    return out, english_only


def test_parts_and_tasks_can_be_chosen(small):
    study = read_results(small[0])
    assert study.scope.tasks == (("pos", 60),)
    assert {outcome.cell.task for outcome in study.outcomes} == {"pos"}
    assert {outcome.cell.prior for outcome in study.outcomes} == {"l2"}
    assert "not measured" in (small[0] / "report.md").read_text(encoding="utf-8")


def test_a_second_run_adds_a_part(small, tmp_path, run):
    (tmp_path / "results.json").write_bytes((small[0] / "results.json").read_bytes())
    run("--data", small[1], "--out", tmp_path, "--quick", "--only", "sizes", "--task", "pos", "--resume")
    before, after = read_results(small[0]), read_results(tmp_path)
    assert after.outcomes[: len(before.outcomes)] == before.outcomes
    assert {outcome.cell.sentences for outcome in after.outcomes[len(before.outcomes) :]} == {40}


def test_results_of_an_earlier_run_are_kept(small, tmp_path, run):
    earlier = (small[0] / "results.json").read_bytes()
    (tmp_path / "results.json").write_bytes(earlier)
    with pytest.raises(SettingError):
        run("--out", tmp_path, "--only", "figures")
    assert not list(tmp_path.glob("results.before*"))
    (tmp_path / "results.before-1.json").write_text("still older")
    run("--data", small[1], "--out", tmp_path, "--quick", "--only", "sizes", "--task", "pos")
    assert (tmp_path / "results.before-1.json").read_text() == "still older"
    assert (tmp_path / "results.before-2.json").read_bytes() == earlier
    assert 40 in {outcome.cell.sentences for outcome in read_results(tmp_path).outcomes}


def test_the_treebank_sample_is_left_out_where_there_is_none(small, tmp_path, run):
    run("--data", small[1], "--out", tmp_path, "--quick", "--only", "losses", "--task", "pos", "--task", "ptb")
    assert read_results(tmp_path).scope.tasks == (("pos", 60),)


def test_the_report_can_be_made_again_from_the_results(small, tmp_path, run):
    (tmp_path / "results.json").write_bytes((small[0] / "results.json").read_bytes())
    run("--out", tmp_path, "--report-only")
    assert (tmp_path / "report.md").read_bytes() == (small[0] / "report.md").read_bytes()
    for damaged in ("{", '{"study": "tsuboi"}', '{"study": "altun", "scope": 1}'):
        (tmp_path / "results.json").write_text(damaged)
        with pytest.raises(DataError):
            run("--out", tmp_path, "--report-only")


def test_a_missing_file_is_named_together_with_how_to_get_it(small, tmp_path, run):
    with pytest.raises(FileAccessError, match=r"conll2002-es/train\.txt: no such file.*trellis data get conll2002-es"):
        run("--data", small[1], "--out", tmp_path, "--quick", "--task", "ner")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "speed"], "no part 'speed'; the parts are: losses, sizes, priors, noise, methods"),
        (["--task", "chunking"], "no task 'chunking'; the tasks are: ner, pos, ptb"),
        (["--threads", "0"], "threads is 0; expected a whole number >= 1"),
        (["--max-iter", "0"], "max_iter is 0; expected a whole number >= 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path, arguments, message, run):
    with pytest.raises(SettingError, match=message):
        run("--quick", "--out", tmp_path / "out", *arguments)
