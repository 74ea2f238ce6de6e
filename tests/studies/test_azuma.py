"""`trellis reproduce azuma` and `trellis bench cascade`, on a little data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trellis.cascade import Stage
from trellis.corpus import Column, Corpus, read_conll
from trellis.corpus.sample import sample_path
from trellis.errors import DataError, SettingError
from trellis.labels import detect
from trellis.studies.azuma import output
from trellis.studies.azuma.cases import Case
from trellis.studies.azuma.comparing import between, compared
from trellis.studies.azuma.page import write_page
from trellis.studies.azuma.pictures import points
from trellis.studies.azuma.plan import PARTS, cases_of, held_out, with_folds
from trellis.studies.azuma.results import Study
from trellis.studies.azuma.runs import Data, cascade_of, run_case
from trellis.studies.azuma.spelling import as_scored, in_training
from trellis.studies.azuma.study import Settings, quick_settings, run_study
from trellis.studies.azuma.systems import SYSTEMS
from trellis.studies.bench_cascade import bench_cascade
from trellis.studies.corpora import read_part

HELD_OUT = held_out("left-out-all")[:2]


@pytest.fixture(scope="module")
def quick():
    return replace(quick_settings(Settings(parts=("table", "product", "layers"))), max_iter=2, threads=1)


@pytest.fixture(scope="module")
def study(quick, tmp_path_factory):
    folder = tmp_path_factory.mktemp("azuma")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trellis.studies.corpora.QUICK", 25)
        kept = []
        found = run_study(None, quick, folder, keep=kept.append)
    assert len(kept) == len(found.outcomes) + 1
    return found, folder


def test_every_case_has_scores_and_predictions(study):
    found, folder = study
    assert len(found.outcomes) == 12
    for outcome in found.outcomes:
        assert set(outcome.scores) == {"pos", "chunk"}
        assert (folder / "predictions" / f"{outcome.case.key}.txt").exists()
    joint = found.of(Case("left-out", "joint"))
    assert joint.errors["all"] >= joint.errors["traced"] >= 0
    assert "left-out-onebest / left-out-joint" in found.tests


def test_joint_training_begins_with_what_was_trained_before(study, quick, monkeypatch):
    """With the same weights in the end as if all of it had been trained anew."""
    monkeypatch.setattr("trellis.studies.corpora.QUICK", 25)
    data = Data(*(read_part("conll2000", part, None, True) for part in ("train", "test")))
    first = run_case(Case("left-out", "marginal"), data, quick, None)
    assert first.begins(Case("left-out", "joint"))
    for other in (Case("table1", "joint"), Case("left-out", "onebest"), Case("left-out", "joint", jackknife=5)):
        assert not first.begins(other)
    after, anew = (run_case(Case("left-out", "joint"), data, quick, None, before) for before in (first, None))
    assert after.outcome.objective == anew.outcome.objective
    assert after.outcome.seconds > first.outcome.seconds


def test_held_out_cases_know_nothing_of_the_test_data(quick, tmp_path, monkeypatch):
    monkeypatch.setattr("trellis.studies.corpora.QUICK", 25)
    data = Data(*(read_part("conll2000", part, None, True) for part in ("train", "test")))
    train, test = (part["word"].values() for part in (data.of(HELD_OUT[0]).train, data.of(HELD_OUT[0]).test))
    assert train + test == data.train["word"].values()
    assert data.of(Case("left-out", "onebest")) is data
    outcomes = tuple(run_case(case, data, quick, tmp_path).outcome for case in HELD_OUT)
    tests = compared(HELD_OUT, tmp_path)
    page = write_page(Study({"quick": True}, {}, outcomes, None, tests), "")
    assert HELD_OUT[0].key == "left-out-all-onebest-held-out"
    for part in ("## Once more, on other sentences", between(*HELD_OUT)):
        assert part in page


def test_labels_within_are_spelt_back_to_be_scored(quick, tmp_path, monkeypatch):
    monkeypatch.setattr("trellis.studies.corpora.QUICK", 25)
    data = Data(*(read_part("conll2000", part, None, True) for part in ("train", "test")))
    system, own = SYSTEMS["left-out-bioes"], data.train["chunk"]
    within = in_training(data.train, system, "chunk")
    assert detect(within["chunk"].strings) == "bioes"
    assert within["pos"] is data.train["pos"]
    assert as_scored(within["chunk"], data.train, system, "chunk").values() == own.values()
    assert as_scored(own, data.train, SYSTEMS["left-out-all"], "chunk") is own
    gold, ill = ("B-NP I-NP B-VP B-VP O B-NP".split(), "I-NP E-NP S-VP I-VP O E-NP".split())
    some = Corpus.from_lists({"chunk": [gold]})
    assert as_scored(Column.of(ill), some, system, "chunk").values() == gold
    cases = with_folds("left-out-bioes")[:3]
    outcomes = tuple(run_case(case, data, quick, tmp_path).outcome for case in cases)
    told = outcomes[0]
    assert told.errors["traced"] == told.errors["new"] == 0
    assert told.errors["all"] == round(data.test.tokens * (1.0 - told.scores["chunk"]["accuracy"]))
    predicted = read_conll(tmp_path / "predictions" / f"{cases[1].key}.txt", columns=["_", "_", "gold", "chunk"])
    assert predicted["gold"].values() == data.test["chunk"].values()
    assert detect(predicted["chunk"].strings) in ("io", "iob2")
    page = write_page(Study({"quick": True}, {}, outcomes, None, compared(cases, tmp_path)), "")
    for part in ("## Labels that say where a chunk ends", between(*cases[1:])):
        assert part in page


def test_curves_are_of_one_system(study):
    found, _ = study
    for wire in ("onebest", "joint"):
        mine = points(found, wire, "chunk", "f1")
        assert mine == {150: 100 * found.of(Case("left-out", wire)).scores["chunk"]["f1"]}


def test_results_come_back_from_their_file_and_make_a_page(study, tmp_path):
    found, _ = study
    output.write_results(found, tmp_path)
    again = output.read_results(tmp_path)
    assert again.outcomes == found.outcomes
    (tmp_path / "docs").mkdir()
    output.write_report(again, tmp_path, tmp_path / "docs" / "azuma.md")
    assert output.read_results(tmp_path / "docs" / "azuma").outcomes == found.outcomes
    page = (tmp_path / "report.md").read_text()
    for part in ("## Table 2", "95.6 / 92.1", "CRF + CRF-BP", "## One CRF over product labels"):
        assert part in page
    assert output.summary(again)["scores"]["table1-joint"]["pos"]["accuracy"] > 0


def test_what_is_there_is_not_run_again(study, quick, monkeypatch, tmp_path):
    found, folder = study

    def never(*_):
        raise AssertionError

    monkeypatch.setattr("trellis.studies.azuma.study.run_case", never)
    for place in (folder, tmp_path):  # where predictions are gone, what was found out by them is kept
        again = run_study(None, quick, place, earlier=found)
        assert again.outcomes == found.outcomes
        assert again.tests == found.tests
    monkeypatch.undo()
    monkeypatch.setattr("trellis.studies.corpora.QUICK", 25)
    some = replace(found, outcomes=tuple(o for o in found.outcomes if o.case != Case("table1", "joint")))
    again = run_study(None, quick, tmp_path, earlier=some)  # of a case that is run again, earlier tests are not kept
    assert set(again.tests) == {key for key in found.tests if "table1-joint" not in key}
    with pytest.raises(SettingError, match="max_iter"):
        run_study(None, replace(quick, max_iter=3), folder, earlier=found)
    before = found.as_json()
    for outcome in before["outcomes"]:
        del outcome["case"]["held_out"]  # which earlier versions did not have
    assert Study.from_json(before).outcomes == found.outcomes
    with pytest.raises(DataError, match="no results"):
        Study.from_json({"study": "altun"})


def test_parts_have_cases_and_others_are_refused():
    for part in PARTS:
        cases = cases_of(part, (40,), (10,), 10)
        assert bool(cases) == (part != "cost")
        for case in cases:
            assert case.wire == "product" or cascade_of(case, Settings()).check()
    chosen = cascade_of(Case("margin", "joint", jackknife=5), Settings())
    assert (chosen.optimizer, chosen.max_iter) == ("lbfgs", 25)
    assert cascade_of(Case("left-out", "joint"), Settings(max_iter=2000)).max_iter == 2000
    with pytest.raises(SettingError, match="no part 'figures'"):
        Settings(parts=("figures",))


def test_the_cost_of_a_joint_evaluation():
    stages = [Stage("pos", "word[0]"), Stage("chunk", "pos[0] + transitions(pos[-1] & pos[0])", reads=["pos"])]
    found = bench_cascade(sample_path("train"), ["word", "pos", "chunk", "_"], stages, 1, 20, 2, memory=False)
    assert set(found.stages) == {"pos", "chunk"}
    assert found.ratio > 0
    assert found.as_json()["listed"][0] >= 1.0
