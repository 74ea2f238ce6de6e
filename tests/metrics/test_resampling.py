"""Bootstrap intervals and approximate randomisation, from tallies of sentences."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.metrics import METRICS, Randomised, approximate_randomisation, differences, intervals, tallies
from trellis.metrics.resampling import resampled
from trellis.metrics.tally import metric_of

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def labelling(seed: int, sentences: int = 60, wrong: float = 0.2) -> np.ndarray:
    """Tallies of a labelling of the same sentences, whatever the seed."""
    rng = np.random.default_rng(11)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, sentences))])
    gold = rng.integers(0, 5, offsets[-1])
    rng = np.random.default_rng(seed)
    guess = np.where(rng.random(len(gold)) < wrong, rng.integers(0, 5, len(gold)), gold)
    return tallies(gold, guess, LABELS, offsets)


SEEDS = st.integers(0, 10_000)
WRONG = st.sampled_from([0.02, 0.2, 0.7])


@settings(max_examples=25)
@given(SEEDS, WRONG)
def test_intervals_contain_the_score(seed, wrong):
    for metric, found in intervals(labelling(seed, wrong=wrong), draws=200, seed=seed).items():
        assert 0.0 <= found.low <= found.score <= found.high <= 1.0, metric


def test_intervals_agree_with_the_normal_distribution():
    right = np.random.default_rng(0).random(2000) < 0.8
    one = np.ones(2000, np.int64)
    found = intervals(np.stack([right, one, one, right, one], axis=1).astype(np.int64))
    for metric in METRICS:
        wide = (found[metric].high - found[metric].low) / 2
        assert wide == pytest.approx(1.96 * right.std() / math.sqrt(2000), rel=0.06)
        assert found[metric].score == right.mean()


def test_a_perfect_labelling_has_no_interval():
    for found in intervals(labelling(0, wrong=0.0), draws=100).values():
        assert (found.score, found.low, found.high) == (1.0, 1.0, 1.0)


def test_a_resample_is_the_sum_of_as_many_rows_as_there_are():
    rows = np.stack([np.ones(30, np.int64), 100 ** np.arange(30) % 97], axis=1)
    found = resampled(rows, 500, 3)
    assert (found[:, 0] == 30).all()
    assert found[:, 1].mean() == pytest.approx(rows[:, 1].sum(), rel=0.05)
    assert len(set(found[:, 1].tolist())) > 100


@given(SEEDS, st.sampled_from([1, 7, 64, 1 << 20]), st.integers(1, 70))
def test_what_is_drawn_does_not_depend_on_how_much_at_once(seed, at_once, draws):
    first, second = labelling(1), labelling(2)
    whole = differences(first, second, draws=draws, seed=seed), intervals(first, draws=draws, seed=seed)
    with (
        mock.patch("trellis.metrics.resampling._AT_ONCE", at_once),
        mock.patch("trellis.metrics.randomisation._AT_ONCE", at_once),
    ):
        assert (differences(first, second, draws=draws, seed=seed), intervals(first, draws=draws, seed=seed)) == whole


def test_the_same_bits_for_any_number_of_threads():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_resampling import *\n"
        "first, second = labelling(1, 3000), labelling(2, 3000)\n"
        "print(differences(first, second, draws=200), intervals(first, draws=200))"
    )
    folder = __file__.rpartition("/")[0]
    outputs = set()
    for threads in ("1", "4"):
        more = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], threads)
        run = subprocess.run([sys.executable, "-c", code, folder], env=more, capture_output=True, text=True, check=True)
        outputs.add(run.stdout)
    assert len(outputs) == 1


@settings(max_examples=25)
@given(SEEDS, SEEDS, WRONG)
def test_when_the_two_change_places_the_difference_is_negated_and_p_stays(one, other, wrong):
    first, second = labelling(one), labelling(other, wrong=wrong)
    there, back = differences(first, second, draws=300), differences(second, first, draws=300)
    for metric in METRICS:
        assert back[metric].difference == -there[metric].difference
        assert back[metric].p == there[metric].p
        assert (back[metric].low, back[metric].high) == pytest.approx((-there[metric].high, -there[metric].low))
        assert there[metric].low <= there[metric].difference <= there[metric].high
        assert 0.0 < there[metric].p <= 1.0


@given(SEEDS)
def test_a_labelling_does_not_differ_from_itself(seed):
    rows = labelling(seed)
    assert approximate_randomisation(rows, rows) == dict.fromkeys(METRICS, Randomised(1.0, 1, True))
    for found in differences(rows, rows, draws=50).values():
        assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def by_trying_all(first, second, metric: str) -> float:
    """Every sentence changes places or not: all ways, also of sentences that are alike."""
    wanted = abs(float(metric_of(second.sum(axis=0), metric) - metric_of(first.sum(axis=0), metric)))
    large = []
    for ways in itertools.product([False, True], repeat=len(first)):
        swap = np.array(ways)[:, None]
        a, b = np.where(swap, second, first).sum(axis=0), np.where(swap, first, second).sum(axis=0)
        large.append(abs(float(metric_of(b, metric) - metric_of(a, metric))) >= wanted - 1e-12)
    return float(np.mean(large))


@settings(max_examples=30)
@given(SEEDS, SEEDS, st.integers(1, 8))
def test_few_sentences_have_an_exact_p(one, other, sentences):
    first, second = labelling(one, sentences), labelling(other, sentences)
    for metric, found in approximate_randomisation(first, second).items():
        assert found.exact
        assert found.draws == 2 ** int(np.any(first != second, axis=1).sum())
        assert found.p == pytest.approx(by_trying_all(first, second, metric))


def test_draws_approach_the_exact_p():
    first, second = labelling(3, 14, 0.3), labelling(4, 14, 0.2)
    exact = approximate_randomisation(first, second, draws=1 << 14)
    drawn = approximate_randomisation(first, second, draws=exact["f1"].draws - 1, seed=5)
    for metric in METRICS:
        assert exact[metric].exact
        assert not drawn[metric].exact
        assert drawn[metric].p == pytest.approx(exact[metric].p, abs=0.03)


def test_p_of_draws_is_never_zero():
    first, second = labelling(1, 200, 0.6), labelling(2, 200, 0.05)
    for found in approximate_randomisation(first, second, draws=999).values():
        assert found == Randomised(1 / 1000, 999, False)


def test_p_is_uniform_where_there_is_no_difference():
    """Of two equally good labellings 5 % differ at the level of 5 %, more or less."""
    found = [approximate_randomisation(labelling(2 * k), labelling(2 * k + 1), ["f1"], 199)["f1"].p for k in range(200)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.04)
    assert np.mean(found) == pytest.approx(0.5, abs=0.06)


def test_labels_without_segments_have_zeros_for_them():
    rows = tallies([0, 1, 1], [0, 1, 0], ["DT", "NN"], [0, 1, 3])
    assert rows.tolist() == [[0, 0, 0, 1, 1], [0, 0, 0, 1, 2]]
    assert list(intervals(rows, ["accuracy"], 10)) == ["accuracy"]


def test_what_does_not_fit_is_refused():
    rows = labelling(1, 5)
    none = np.zeros((0, 5), np.int64)
    with pytest.raises(DataError, match="no sentences to draw from"):
        intervals(none)
    with pytest.raises(DataError, match="the two labellings have 5 and 4 sentences"):
        differences(rows, rows[:4])
    with pytest.raises(DataError, match="the two labellings have 5 and 4 sentences"):
        approximate_randomisation(rows, rows[:4])
    for draws in (0, -1, 2.5, True):
        with pytest.raises(SettingError, match=f"draws is {draws}; expected a whole number >= 1"):
            differences(rows, rows, draws=draws)
    with pytest.raises(SettingError, match="seed is -1; expected a whole number >= 0"):
        intervals(rows, seed=-1)
    with pytest.raises(SettingError, match="metric is 'F1'; expected one of accuracy, precision, recall, f1"):
        intervals(rows, ["F1"])
