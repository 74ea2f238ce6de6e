"""Figures from curves: when a goal was reached, ratios, verdicts; and on what data they are measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trellis.studies.tsuboi.claims import HOLDS, MIXED, NO, SMALLER, UNKNOWN, Claim, judge, judge_fastest, verdict_of
from trellis.studies.tsuboi.measures import fastest, gap, ratio, reached
from trellis.studies.tsuboi.online_claims import ONLINE_CLAIMS, judge_online
from trellis.studies.tsuboi.page import _case
from trellis.studies.tsuboi.prior import best_of
from trellis.studies.tsuboi.results import Case, Moment, Run, Sizes
from trellis.studies.tsuboi.runs import merged
from trellis.studies.tsuboi.tasks import load_tasks


def curve(key, points, paper=True, batch=True):
    """Points (seconds, objective, f1)."""
    moments = tuple(Moment(t, t, k + 1, 0, value, f1) for k, (t, value, f1) in enumerate(points))
    return Run(key, key, paper, batch, True, 1, None, (points[-1][0],), moments)


@pytest.fixture
def case():
    """The optimum is 100, where F1 is 0.9."""
    runs = (
        curve("ncg-all", [(1.0, 500.0, 0.1), (2.0, 100.99, 0.8991), (4.0, 100.09, 0.9), (8.0, 100.0, 0.9)]),
        curve("ncg-0", [(1.0, 500.0, 0.1), (6.0, 100.99, 0.8991), (8.0, 100.09, 0.8), (9.0, 100.0, 0.95)]),
        curve("lbfgs-50", [(1.0, 500.0, 0.1), (3.0, 100.9, 0.89), (5.0, 100.5, 0.898)]),
        curve("eg", [(0.7, 100.0, 0.9)], batch=False),
        curve("auto", [(0.5, 100.0, 0.9)], paper=False),
    )
    return Case("ner", "", "seen", "", "", Sizes(*[1] * 7), {}, 1.0, 100.0, 0.9, {}, runs)


def test_a_gap_is_a_share_of_the_optimum(case):
    assert gap(case.runs[0].moments[0], case) == pytest.approx(4.0)
    assert gap(replace(case.runs[0].last, objective=99.0), case) == 0.0


def test_a_goal_is_reached_at_the_first_moment_that_is_near_enough(case):
    found = {measure: reached(case.runs[0], case, measure) for measure in ("1e-2", "1e-3", "1e-4", "f1")}
    assert {measure: moment.seconds for measure, moment in found.items()} == {
        "1e-2": 2.0, "1e-3": 4.0, "1e-4": 8.0, "f1": 2.0,
    }  # fmt: skip


def test_f1_has_to_stay_high(case):
    assert reached(case.runs[1], case, "f1").seconds == 9.0  # it fell once more, and better than the optimum will do
    assert reached(case.runs[2], case, "f1") is None


def test_ratios_are_times_of_the_slow_one_over_times_of_the_fast_one(case):
    assert ratio(case, "ncg-0", "ncg-all", "1e-2") == 3.0
    assert ratio(case, "ncg-0", "ncg-all", "f1") == 4.5
    assert ratio(case, "lbfgs-50", "ncg-all", "1e-4") is None  # never there
    assert ratio(case, "ncg-some", "ncg-all", "1e-2") is None  # left out


def test_the_fastest_is_one_of_the_papers_batch_or_online_methods(case):
    assert fastest(case, "1e-2").key == "ncg-all"
    assert fastest(case, "1e-2", batch=False).key == "eg"
    assert judge_fastest([case], ["1e-2", "f1"]) == ({"ner": {"1e-2": "ncg-all", "f1": "ncg-all"}}, HOLDS)


@pytest.mark.parametrize(
    ("ratios", "least", "verdict"),
    [
        ([2.5, 1.9, 2.0], 2.0, HOLDS),
        ([1.2, 1.5], 2.0, SMALLER),
        ([1.2, 1.5], 1.0, HOLDS),
        ([1.02, 3.0], 2.0, MIXED),
        ([1.0, 0.3], 1.0, NO),
        ([], 1.0, UNKNOWN),
    ],
)
def test_verdicts(ratios, least, verdict):
    assert verdict_of(ratios, least) == verdict


def test_a_claim_is_judged_over_its_own_measures(case):
    found = judge(Claim("", "", "2 times", "ncg-0", "ncg-all", ("1e-2", "1e-3"), 2.0), [case])
    assert found.ratios == {"ner": {"1e-2": 3.0, "1e-3": 2.0}}
    assert (found.verdict, found.weights) == (HOLDS, "seen")


@pytest.fixture
def with_online(case):
    """The same with all online methods, as the paper has them for entities."""
    sgd = (
        curve("sgd-inverse", [(0.4, 500.0, 0.1), (1.0, 109.0, 0.8), (9.0, 100.2, 0.8995)], batch=False),
        curve("sgd-exponential", [(0.4, 500.0, 0.1), (0.5, 109.0, 0.8), (1.5, 100.3, 0.8991)], batch=False),
        curve("eg", [(0.4, 900.0, 0.1), (0.6, 101.0, 0.8995)], batch=False),
    )
    moments = tuple(replace(moment, objective=109.0 if moment.seconds == 1.0 else moment.objective)
                    for moment in case.runs[0].moments)  # fmt: skip
    others = [run for run in case.runs[1:] if run.key != "eg"]
    return replace(case, runs=(replace(case.runs[0], moments=moments), *others, *sgd))


def judged_online(*cases):
    return {claim.key: judge_online(claim, cases) for claim in ONLINE_CLAIMS}


def test_claims_about_online_methods(with_online):
    found = judged_online(with_online)
    assert {key: (each.found["ner"], each.verdict) for key, each in found.items()} == {
        "online-fastest": ("eg", HOLDS),
        "eg-place": ("1 of 6", HOLDS),
        "sgd-start": ("2.00", HOLDS),
        "sgd-decay": ("2.00", HOLDS),
        "sgd-end": ("gap 3e-03", HOLDS),
        "online-score": ("89.95, batch 95.00", HOLDS),
    }


def test_what_holds_for_entities_does_not_for_chunking(with_online):
    chunking = replace(with_online, task="chunking")
    assert judged_online(chunking)["online-fastest"].verdict == NO
    assert judged_online(chunking)["eg-place"].verdict == NO
    both = judged_online(with_online, chunking)["eg-place"]
    assert (both.found, both.verdict) == ({"ner": "1 of 6", "chunking": "1 of 6"}, MIXED)
    slow = tuple(replace(run, moments=run.moments[:1]) if run.key == "eg" else run for run in chunking.runs)
    never = judged_online(replace(chunking, runs=slow))["eg-place"]
    assert (never.found["chunking"], never.verdict) == ("never there", HOLDS)


def test_claims_about_methods_that_did_not_run_are_not_judged(case):
    found = judged_online(case)
    assert found["eg-place"].verdict == HOLDS
    for key in ("online-fastest", "sgd-start", "sgd-decay", "sgd-end", "online-score"):
        assert (found[key].found["ner"], found[key].verdict) == ("-", UNKNOWN)


def test_rounds_are_merged_by_their_medians(case):
    rounds = [case.runs[0], *(replace(case.runs[0], moments=_times(case.runs[0], k)) for k in (2.0, 10.0))]
    found = merged(rounds)
    assert [moment.seconds for moment in found.moments] == [2.0, 4.0, 8.0, 16.0]
    assert found.round_seconds == (8.0, 16.0, 80.0)
    assert [moment.objective for moment in found.moments] == [moment.objective for moment in case.runs[0].moments]


def _times(run, factor):
    return tuple(replace(moment, seconds=factor * moment.seconds) for moment in run.moments)


def test_a_run_that_did_not_converge_is_named_without_a_guess_at_why(case):
    def written(converged):
        runs = tuple(replace(run, converged=converged or run.key != "ncg-0") for run in case.runs)
        return _case(replace(case, title="entities", runs=runs), "images/")

    assert "Not converged, at the limit on passes or stuck: ncg-0." in written(False)
    assert "Not converged" not in written(True)


def test_of_equal_priors_the_strongest_is_chosen():
    assert best_of({0.1: 0.8, 1.0: 0.9, 2.0: 0.9, 5.0: 0.7}) == 2.0


def test_where_there_is_no_development_file_every_tenth_sentence_is_held_out():
    ner, chunking, quarter = load_tasks(None, quick=True)
    assert ner.fit is ner.train
    assert len(quarter.train) == len(chunking.train) // 4
    for task in (chunking, quarter):
        words, held_out, rest = (part.sentences("word") for part in (task.train, task.dev, task.fit))
        assert held_out == words[9::10]
        assert rest == [sentence for k, sentence in enumerate(words) if k % 10 != 9]
        assert np.array_equal(task.dev["chunk"].values(), [v for s in task.train.sentences("chunk")[9::10] for v in s])
