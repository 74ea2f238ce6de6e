"""Calibration: what slow loops find, and what must be so."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.errors import DataError, SettingError
from trellis.metrics.calibration import Reliability, Threshold, reliability, threshold_curve, threshold_for

PROBABILITY = st.one_of(
    st.floats(0.0, 1.0),
    st.integers(0, 20).map(lambda k: k / 20),  # ties, and values on the edges of bins
    st.sampled_from([0.0, 1.0, 1.0 - 1e-16, 0.3, 0.1 + 0.2]),
)
ITEMS = st.lists(st.tuples(PROBABILITY, st.booleans()), max_size=40)
EQUAL = st.sampled_from(["width", "mass"])


def columns(items) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in items], dtype=np.float64), np.array([ok for _, ok in items], dtype=np.bool_)


def in_bin(found: Reliability, k: int, items):
    last = k == len(found.count) - 1
    return [(p, ok) for p, ok in items if found.low[k] <= p < found.high[k] or (last and p == 1.0)]


@given(ITEMS, st.integers(1, 12), EQUAL)
def test_numbers_equal_those_of_a_loop(items, bins, equal):
    found = reliability(*columns(items), bins, equal)
    ece = mce = 0.0
    for k in range(len(found.count)):
        here = in_bin(found, k, items)
        said = sum(p for p, _ in here) / len(here) if here else 0.0
        seen = sum(ok for _, ok in here) / len(here) if here else 0.0
        assert (found.count[k], found.accuracy[k]) == (len(here), seen)
        assert found.confidence[k] == pytest.approx(said)
        ece += len(here) / max(len(items), 1) * abs(said - seen)
        mce = max(mce, abs(said - seen))
    n = max(len(items), 1)
    assert (found.ece, found.mce) == (pytest.approx(ece, abs=1e-12), pytest.approx(mce, abs=1e-12))
    assert found.brier == pytest.approx(sum((p - ok) ** 2 for p, ok in items) / n, abs=1e-12)
    assert found.mean_confidence == pytest.approx(sum(p for p, _ in items) / n)
    assert (found.total, found.accuracy_of_all) == (len(items), sum(ok for _, ok in items) / n)


@given(ITEMS, st.integers(1, 12), EQUAL)
def test_bins_cover_everything_once(items, bins, equal):
    found = reliability(*columns(items), bins, equal)
    assert (found.low[0], found.high[-1]) == (0.0, 1.0)
    assert found.low[1:] == found.high[:-1]
    assert sum(found.count) == found.total
    assert len(found.count) == bins if equal == "width" else len(found.count) <= bins
    assert 0.0 <= found.ece <= found.mce + 1e-12 <= 1.0 + 1e-12


@given(ITEMS.filter(bool), st.integers(1, 12))
def test_bins_of_equal_mass_are_never_empty_and_differ_by_ties_only(items, bins):
    p, ok = columns(items)
    found = reliability(p, ok, bins, "mass")
    assert min(found.count) > 0
    assert len(found.count) <= min(bins, len(set(p.tolist())))
    starts = np.searchsorted(np.sort(p), found.low[1:])
    most_alike = np.unique(p, return_counts=True)[1].max()
    ideal = np.arange(1, bins) * len(p) / bins
    if starts.size:
        assert np.abs(ideal[:, None] - starts).min(axis=1).max() <= most_alike


def test_without_ties_the_masses_are_equal():
    assert reliability(np.linspace(0, 1, 40), np.ones(40, bool), 4, "mass").count == (10, 10, 10, 10)
    assert reliability(np.linspace(0, 1, 3), np.ones(3, bool), 7, "mass").count == (1, 1, 1)
    assert reliability(np.full(9, 0.7), np.ones(9, bool), 3, "mass").count == (9,)


def test_hand_counted():
    found = reliability([0.1, 0.3, 0.5, 0.9, 1.0], [False, True, True, True, False], bins=2)
    assert (found.low, found.high, found.count) == ((0.0, 0.5), (0.5, 1.0), (2, 3))
    assert found.confidence == pytest.approx((0.2, 0.8))
    assert found.accuracy == pytest.approx((0.5, 2 / 3))
    assert found.ece == pytest.approx(2 / 5 * 0.3 + 3 / 5 * (0.8 - 2 / 3))
    assert found.mce == pytest.approx(0.3)
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.25 + 0.01 + 1) / 5)


def test_edges_of_bins_are_the_numbers_one_writes():
    """3 * 0.1 is above 0.3, which then would be in the bin below its own."""
    tenths = [k / 10 for k in range(11)]
    assert reliability(tenths, [True] * 11).count == (1,) * 9 + (2,)


@pytest.mark.parametrize("equal", ["width", "mass"])
def test_honest_probabilities_have_hardly_any_error_and_boasting_ones_do(equal):
    rng = np.random.default_rng(7)
    p = rng.random(200_000)
    honest = reliability(p, rng.random(p.size) < p, equal=equal)
    boasting = reliability(p, rng.random(p.size) < p**3, equal=equal)
    assert honest.ece < 0.005
    assert honest.mce < 0.02
    assert honest.brier == pytest.approx(1 / 6, abs=0.005)
    assert boasting.ece == pytest.approx(1 / 4, abs=0.01)
    assert boasting.mean_confidence > boasting.accuracy_of_all + 0.2


@pytest.mark.parametrize("equal", ["width", "mass"])
def test_no_items_give_zeros(equal):
    found = reliability([], [], 3, equal)
    assert found.count == ((0, 0, 0) if equal == "width" else (0,))
    assert (found.total, found.ece, found.mce, found.brier) == (0, 0.0, 0.0, 0.0)
    assert (found.mean_confidence, found.accuracy_of_all) == (0.0, 0.0)
    assert found.as_text().endswith("ECE: 0.00%; largest gap: 0.00%; Brier score: 0.0000")


def test_the_table():
    found = reliability([0.1, 0.3, 0.9, 0.9, 1.0], [False, True, True, True, False], bins=3)
    assert found.as_text().split("\n") == [
        "  probability    items  confidence  accuracy  = accuracy, | confidence",
        "  0.00 -  33.33      2       20.00     50.00  =====|======",
        " 33.33 -  66.67      0           -         -",
        " 66.67 - 100.00      3       93.33     66.67  =================      |",
        "            all      5       64.00     60.00  =============== |",
        "ECE: 28.00%; largest gap: 30.00%; Brier score: 0.3040",
    ]


@given(ITEMS, EQUAL)
def test_json_is_plain_and_has_a_dict_for_each_bin(items, equal):
    found = reliability(*columns(items), 5, equal)
    record = found.as_json()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert list(record) == ["bins", "total", "ece", "mce", "brier", "mean_confidence", "accuracy_of_all"]
    assert [tuple(one.values()) for one in record["bins"]] == list(
        zip(found.low, found.high, found.count, found.confidence, found.accuracy, strict=True)
    )
    assert len(found.as_text().split("\n")) == len(found.count) + 3


def test_rounding_beyond_the_ends_is_clipped():
    found = reliability([1 + 5e-10, -5e-10], [True, False])
    assert (found.brier, found.ece, found.count[0], found.count[-1]) == (0.0, 0.0, 1, 1)
    assert [one.threshold for one in threshold_curve([1 + 5e-10, 1.0, -5e-10], [True] * 3, 3)] == [1.0, 0.0]


def by_trying(items, precision: float, total_gold: int) -> Threshold | None:
    best = None
    for threshold in sorted({p for p, _ in items}, reverse=True):
        kept = [ok for p, ok in items if p >= threshold]
        right = sum(kept)
        if right / len(kept) >= precision:
            recall = right / total_gold if total_gold else 0.0
            f1 = 2 * right / (len(kept) + total_gold)
            best = Threshold(threshold, right / len(kept), recall, f1, len(kept), right, total_gold)
    return best


@given(ITEMS, st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 2 / 3, 0.9, 1.0])), st.integers(0, 5))
def test_the_lowest_threshold_equals_that_found_by_trying_all(items, precision, missed):
    gold = sum(ok for _, ok in items) + missed
    assert threshold_for(*columns(items), precision, gold) == by_trying(items, precision, gold)


@given(ITEMS, st.integers(0, 5))
def test_the_curve_has_each_distinct_probability_once(items, missed):
    gold = sum(ok for _, ok in items) + missed
    curve = threshold_curve(*columns(items), gold)
    assert [one.threshold for one in curve] == sorted({p for p, _ in items}, reverse=True)
    for one in curve:
        assert one.kept == sum(p >= one.threshold for p, _ in items)
        assert one.correct == sum(ok for p, ok in items if p >= one.threshold)
        assert one.precision == one.correct / one.kept
        both = one.precision + one.recall
        assert one.f1 == pytest.approx(2 * one.precision * one.recall / both if both else 0.0)
    assert all(type(value) in (int, float) for one in curve for value in dataclasses.astuple(one))


def test_equal_probabilities_are_kept_together():
    confidence, correct = [0.9, 0.8, 0.8, 0.1], [True, True, False, False]
    assert threshold_for(confidence, correct, 0.9, 2) == Threshold(0.9, 1.0, 0.5, 2 / 3, 1, 1, 2)
    assert threshold_for(confidence, correct, 2 / 3, 2) == Threshold(0.8, 2 / 3, 1.0, 0.8, 3, 2, 2)


def test_a_precision_that_is_lost_and_found_again_counts():
    """The precision falls to 2/3 at 0.7, but the threshold below that is good enough again, and keeps more."""
    assert threshold_for([0.9, 0.8, 0.7, 0.6], [True, True, False, True], 0.75, 3).threshold == 0.6


def test_no_threshold_reaches_the_precision():
    assert threshold_for([0.9, 0.8], [False, True], 0.6, 1) is None
    assert threshold_for([], [], 0.0, 3) is None
    assert threshold_curve([], [], 0) == []


def test_nineteen_of_twenty_are_enough_for_95_percent():
    assert threshold_for(np.full(20, 0.5), np.arange(20) > 0, 0.95, 20).kept == 20


def test_input_is_left_as_it_was():
    confidence, correct = np.array([1.0 + 1e-10, 0.5]), np.array([True, False])
    confidence.flags.writeable = correct.flags.writeable = False
    reliability(confidence, correct, equal="mass")
    threshold_for(confidence, correct, 0.5, 1)
    assert confidence.tolist() == [1.0 + 1e-10, 0.5]


def test_results_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        reliability([], []).ece = 1.0


@pytest.mark.parametrize(
    ("confidence", "correct", "message"),
    [
        ([0.5, np.nan], [True, True], r"confidence\[1\] is nan: expected a probability from 0 to 1"),
        ([0.5, 0.6, 97.0], [True] * 3, r"confidence\[2\] is 97: .*no score or percent"),
        ([np.inf], [True], r"confidence\[0\] is inf"),
        ([-2e-9], [True], r"confidence\[0\] is -2e-09"),
        ([1 + 2e-9], [True], r"confidence\[0\] is 1\.000000002"),
        ([0.5], [True, False], "confidence has 1 items but correct has 2: these must be equal"),
        ([], [True], "confidence has 0 items but correct has 1"),
        ([[0.5]], [True], r"confidence has shape \(1, 1\) and type float64: expected one dimension"),
        (["0.5"], [True], "type <U3: expected one dimension of probabilities"),
        ([True], [0.5], "confidence has shape .* and type bool"),
        ([0.5], [1], r"correct has shape \(1,\) and type int64: expected one dimension of booleans"),
        (0.5, True, r"confidence has shape \(\)"),
    ],
)
def test_data_that_does_not_fit_is_refused(confidence, correct, message):
    with pytest.raises(DataError, match=message):
        reliability(confidence, correct)
    with pytest.raises(DataError, match=message):
        threshold_for(confidence, correct, 0.5, 9)
    with pytest.raises(DataError, match=message):
        threshold_curve(confidence, correct, 9)


@pytest.mark.parametrize("bins", [0, -3, 2.5, True, None])
def test_a_number_of_bins_that_is_none_is_refused(bins):
    with pytest.raises(SettingError, match=f"bins is {bins}; expected a whole number >= 1"):
        reliability([0.5], [True], bins)


def test_other_settings_that_do_not_fit_are_refused():
    with pytest.raises(SettingError, match="equal is 'size'; expected 'width' or 'mass'"):
        reliability([0.5], [True], equal="size")
    for precision in (95, -0.1, float("nan"), "0.9", True):
        with pytest.raises(SettingError, match=r"precision is .*; expected a fraction from 0 to 1, such as 0\.95"):
            threshold_for([0.5], [True], precision, 1)
    for gold in (-1, 1.5, None):
        with pytest.raises(SettingError, match=f"total_gold is {gold}; expected a whole number >= 0"):
            threshold_curve([0.5], [True], gold)
    with pytest.raises(DataError, match="2 items are correct but total_gold is 1"):
        threshold_for([0.5, 0.6], [True, True], 0.5, 1)
