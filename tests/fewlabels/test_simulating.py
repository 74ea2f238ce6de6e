"""Active learning rehearsed: no label is looked at before it is paid for, and it pays to choose."""

from __future__ import annotations

import re

import numpy as np
import pytest

import trellis as tr
from trellis.corpus import Column
from trellis.errors import DataError, SettingError
from trellis.fewlabels import simulate
from trellis.fewlabels.ranking import RANKINGS, Ranking
from trellis.fewlabels.saving import saved
from trellis.fewlabels.simulated import Run, Simulation, Step

CRF = tr.CRF("chunk", "word[0] + pos[-1:1]", l2=0.1, tol=1e-2)
SETTINGS = {"start": 60, "batch": 60, "rounds": 3, "repeats": 2}


@pytest.fixture(scope="module")
def pool():
    return tr.sample_corpus("train").slice(0, 150)


@pytest.fixture(scope="module")
def test_part():
    return tr.sample_corpus("test").slice(0, 60)


@pytest.fixture(scope="module")
def simulation(pool, test_part):
    return simulate(CRF, pool, test_part, ["entropy", "random"], **SETTINGS)


def scores(found):
    return [[(step.sentences, step.tokens, step.score) for step in run.steps] for run in found.runs]


def test_budgets_are_kept_and_tokens_counted(simulation, pool):
    lengths = np.diff(pool.offsets)
    for run in simulation.runs:
        assert [step.tokens for step in run.steps] == sorted(step.tokens for step in run.steps)
        for step, budget in zip(run.steps, (60, 120, 180, 240), strict=True):
            assert step.tokens <= budget
            assert step.tokens == lengths[run.paid[: step.sentences]].sum()
        assert len(set(run.paid.tolist())) == len(run.paid)


def test_runs_of_a_repeat_begin_alike_and_others_do_not(simulation):
    first = [run.paid[: run.steps[0].sentences].tolist() for run in simulation.runs]
    assert [(run.by, run.repeat) for run in simulation.runs] == [
        ("entropy", 0), ("random", 0), ("entropy", 1), ("random", 1),
    ]  # fmt: skip
    assert first[0] == first[1]
    assert first[2] == first[3]
    assert first[0] != first[2]


def test_labels_that_were_not_paid_for_change_nothing(simulation, pool, test_part):
    paid = np.unique(np.concatenate([run.paid for run in simulation.runs]))
    free = np.setdiff1d(np.arange(len(pool)), paid)
    assert len(free)
    wrong = np.array(pool["chunk"].values(), object)
    for s in free.tolist():
        wrong[pool.offsets[s] : pool.offsets[s + 1]] = "B-WRONG"
    again = simulate(CRF, pool.with_column("chunk", Column.of(wrong)), test_part, ["entropy", "random"], **SETTINGS)
    assert scores(again) == scores(simulation)


def test_models_see_the_rest_without_its_labels(pool, test_part, monkeypatch):
    seen = []

    def peeking(model, rest, seed):
        seen.append(list(rest.columns))
        return np.zeros(len(rest))

    monkeypatch.setitem(RANKINGS, "peeking", Ranking(peeking, per_token=False))
    simulate(CRF, pool, test_part, ["peeking"], start=60, batch=60, rounds=2, repeats=1)
    assert seen == [["word", "pos", "entity"]] * 2


def test_it_pays_to_choose():
    """On the corpus that ships, whatever the measure of uncertainty."""
    by = ["entropy", "least-confidence", "margin", "random"]
    crf = tr.CRF("entity", "word[-1:1] + pos[0] + suffix(word, 3)[0] + shape(word)[-1:1]", l2=0.1, tol=1e-2)
    simulation = simulate(
        crf, tr.sample_corpus("train"), tr.sample_corpus("test"), by, start=200, batch=400, rounds=3, repeats=3
    )
    for name in by[:-1]:
        found = simulation.compared(name)
        assert (found.area.samples, found.area.better) == (3, 3)
        assert found.last.difference > 0
        assert found.last.p < 0.05
        assert 0 < found.saved.part < 1
    lines = simulation.as_text("F1").splitlines()
    assert [line.split()[0] for line in lines[1:5]] == by
    found = simulation.as_json()["rankings"]
    assert list(found) == by
    assert set(found["entropy"]) - set(found["random"]) == {"against_random"}


def test_areas_are_means_along_the_curve(simulation):
    grid = simulation.grid
    for area, run in zip(simulation.areas("random"), simulation.of("random"), strict=True):
        fine = np.linspace(grid[0], grid[-1], 4001)
        assert area == pytest.approx(np.mean(run.at(fine)), abs=1e-3)


def test_runs_that_have_no_number_of_tokens_in_common():
    """One began with a sentence longer than all that another was given."""
    steps = [(Step(1, 50, 0.5), Step(2, 60, 0.6)), (Step(3, 10, 0.2), Step(4, 20, 0.3))]
    none = np.zeros(0, np.int64)
    found = Simulation(tuple(Run("random", k, own, none, none) for k, own in enumerate(steps)), ("random",))
    assert set(found.grid.tolist()) == {50.0}
    assert found.areas("random") == [0.5, 0.3]


def test_what_is_learnt_from_a_whole_pool_is_not_compared():
    """It is the same for all rankings, so that both would be as good at the very end only."""
    steps = {"entropy": (Step(1, 50, 0.5), Step(2, 60, 0.7), Step(3, 90, 0.8))}
    steps["random"] = Step(1, 50, 0.5), Step(2, 60, 0.6), Step(3, 90, 0.8)
    runs = tuple(run_of(by, 0, own, 6, used_up=True) for by, own in steps.items())
    found = Simulation(runs, tuple(steps))
    assert found.grid[-1] == 60.0
    assert found.compared("entropy").saved.part == pytest.approx(1 - 55 / 60, abs=1e-3)


def test_the_same_seed_gives_the_same_runs(simulation, pool, test_part):
    assert scores(simulate(CRF, pool, test_part, ["entropy", "random"], **SETTINGS)) == scores(simulation)
    other = simulate(CRF, pool, test_part, ["random"], seed=1, **SETTINGS)
    assert other.runs[0].paid.tolist() != simulation.runs[1].paid.tolist()


def test_a_pool_may_be_used_up(pool, test_part):
    found = simulate(CRF, pool.slice(0, 8), test_part, ["random"], start=20, batch=1000, rounds=5, repeats=1)
    assert found.runs[0].steps[-1].sentences == 8
    assert len(found.runs[0].steps) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": []}, "rankings to compare are none"),
        ({"by": ["random", "random"]}, "each of them once"),
        ({"by": ["nonsense"]}, "unknown ranking 'nonsense'"),
        ({"batch": 0}, "batch is 0; expected a whole number >= 1"),
        ({"start": 10**6}, "tokens in the pool and 1,000,000 to start"),
    ],
)
def test_what_does_not_fit_is_said(pool, test_part, settings, message):
    with pytest.raises((SettingError, DataError), match=message):
        simulate(CRF, pool, test_part, **{"by": ["random"], **settings})


CURVE = np.array([[0.2, 0.5, 0.6, 0.7, 0.75, 0.8]])
GRID = np.array([100.0, 200.0, 300.0, 400.0, 500.0, 600.0])


class TestSaved:
    def test_is_nothing_against_itself(self):
        for base in (CURVE, CURVE[:, ::-1], np.full((1, 6), 0.5)):
            assert saved(GRID, base, base) == (0.0, None, None)
            assert saved(GRID, np.tile(base, (4, 1)), np.tile(base, (4, 1))) == (0.0, 0.0, 0.0)

    @pytest.mark.parametrize("factor", [0.5, 0.8, 1.25, 1.6])
    def test_is_the_factor_that_tokens_are_fewer_by(self, factor):
        grid = np.linspace(100, 6000, 600)
        base, other = np.log(grid)[None], np.log(grid / factor)[None]
        assert saved(grid, base, other).part == pytest.approx(1 - factor, abs=1e-3)

    def test_is_about_nothing_where_there_is_but_noise(self):
        rng, found = np.random.default_rng(0), []
        for _ in range(300):
            base, other = (CURVE + rng.normal(0, 0.02, (6, 6)) for _ in range(2))
            found.append(saved(GRID, base, other))
        assert abs(np.mean([one.part for one in found])) < 0.02
        assert np.mean([one.low <= 0 <= one.high for one in found]) > 0.8

    def test_has_a_range_of_four_repeats_or_more(self):
        curves = np.tile(CURVE, (4, 1))
        assert saved(GRID, curves[:3], curves[:3]).low is None
        assert saved(GRID, curves, curves).low == 0.0

    def test_scores_that_were_reached_stay_reached(self):
        base, other = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]), np.array([[0.1, 0.6, 0.2, 0.2, 0.2, 0.2]])
        assert saved(GRID, base, other).part == pytest.approx(1 - 200 / 600)


def run_of(by, repeat, steps, right, used_up=False):
    """With so many tokens right of ten in one test sentence."""
    return Run(by, repeat, tuple(steps), np.zeros(0, np.int64), np.array([[0, 0, 0, right, 10]]), used_up)


def test_last_scores_are_of_what_their_difference_is_of(simulation):
    one = simulation.compared("entropy")
    assert one.last.difference == simulation.last("entropy") - simulation.last("random")
    found = simulation.as_json()["rankings"]
    assert (
        found["entropy"]["last"] - found["random"]["last"] == found["entropy"]["against_random"]["last"]["difference"]
    )
    assert {"saved", "saved_low", "saved_high"} <= set(found["entropy"]["against_random"])


class TestTable:
    def table(self, by, last=(300, 300), used_up=False):
        steps = [[Step(1, 100, 0.4), Step(3, tokens, 0.6)] for tokens in last]
        runs = [run_of(name, k, steps[j], 6 + j, used_up) for j, name in enumerate(by) for k in range(2)]
        return Simulation(tuple(runs), tuple(by)).as_text("accuracy").splitlines()

    def test_says_what_p_can_be_and_what_it_is_over(self):
        *_, last = self.table(["entropy", "random"])
        assert last == (
            "from 100 to 300 annotated tokens, 2 repeats; p of means: all ways to swap the two in a repeat; with 2 it "
            "is never below 0.5; p of last models: approximate randomisation over test sentences only, not over "
            "training samples"
        )
        assert self.table(["entropy", "random"])[1].endswith(" 0%")

    def test_compares_with_random_where_there_is_one(self):
        head, row, last = self.table(["entropy"])
        assert head.split() == ["mean", "accuracy", "last"]
        assert row.split() == ["entropy", "50.00", "60.00"]
        assert last.endswith("2 repeats; add random to the rankings to see what choosing saves")
        assert self.table(["random"])[-1].endswith("2 repeats")

    def test_says_where_models_learnt_from_unlike_amounts_and_where_the_pool_ran_out(self):
        assert (
            "tokens of the last models differ: entropy 330, random 300"
            in self.table(["entropy", "random"], (330, 300))[-1]
        )
        assert "differ" not in self.table(["entropy", "random"], (305, 300))[-1]
        assert self.table(["entropy", "random"], used_up=True)[-1].endswith("; the pool ran out in 4 of 4 runs")


def test_what_was_spent_too_much_is_spared_in_the_next_round(pool, test_part):
    (run,) = simulate(CRF, pool, test_part, ["random"], start=60, batch=5, rounds=6, repeats=1).runs
    spent = [step.tokens for step in run.steps]
    assert len(spent) == 7
    for before, after, budget in zip(spent, spent[1:], range(65, 95, 5), strict=False):
        assert (after > before) == (before < budget)
    assert len(set(spent)) < 7


def test_progress_says_how_long_the_rest_takes(pool, test_part):
    told = []
    simulate(CRF, pool, test_part, ["random"], start=60, batch=60, rounds=1, repeats=1, progress=told.append)
    assert told[0] == "random, 1 of 1: round 0 of 1"
    assert re.fullmatch(r"random, 1 of 1: round 1 of 1; about \d+ s left", told[1])
