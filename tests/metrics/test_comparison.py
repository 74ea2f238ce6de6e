"""Two labellings of the same sentences: one table, and a sentence that says what to conclude."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.metrics import METRICS, McNemar, compare, compare_two, mcnemar, tallies
from trellis.metrics.compare import same_table
from trellis.metrics.span_scores import score_gappy
from trellis.metrics.tally import metric_of

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def three(seed: int, wrong: tuple[float, float], sentences: int = 40):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 8, sentences))]).astype(np.int64)
    gold = rng.integers(0, 5, offsets[-1]).astype(np.int32)
    others = [np.where(rng.random(len(gold)) < w, rng.integers(0, 5, len(gold)), gold).astype(np.int32) for w in wrong]
    return *(Column(ids, LABELS) for ids in (gold, *others)), offsets


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from(["conlleval", "strict"]))
def test_scores_are_those_of_each_alone_and_differences_of_their_scores(seed, scheme):
    gold, first, second, offsets = three(seed, (0.3, 0.1))
    found = compare_two(gold, first, second, offsets, scheme, draws=100, seed=seed)
    assert found.first == compare(gold, first, offsets, scheme)
    assert found.second == compare(gold, second, offsets, scheme)
    assert found.mcnemar == mcnemar(gold, first, second)
    for metric in METRICS:
        difference = getattr(found.second, metric) - getattr(found.first, metric)
        assert found.differences[metric].difference == pytest.approx(difference)


def test_the_better_one_is_named_and_whether_it_may_be_chance():
    gold, bad, good, offsets = three(1, (0.5, 0.05), 200)
    clear = compare_two(gold, bad, good, offsets, draws=500)
    assert clear.conclusion().startswith("FB1: the second is better by ")
    assert clear.conclusion().endswith("points, hardly by chance: p = 0.0020")
    assert (
        compare_two(gold, good, bad, offsets, draws=500).conclusion("recall").startswith("recall: the first is better")
    )
    gold, one, other, offsets = three(2, (0.2, 0.2))
    assert "which may be chance: p = 0." in compare_two(gold, one, other, offsets, draws=500).conclusion()
    assert compare_two(gold, one, one, offsets, draws=5).conclusion() == "FB1: the two are equal"


def test_the_table():
    gold = Column.of("B-X I-X O B-X B-Y O".split())
    first, second = Column.of("B-X I-X O O O O".split()), Column.of("B-X I-X O B-X B-Y B-Y".split())
    found = compare_two(gold, first, second, np.array([0, 3, 4, 6]), draws=50)
    assert (found.draws, found.ways, found.exact) == (50, 4, True)
    # in the four ways to swap two sentences accuracy differs by 1/6, precision by 1/4 or 1/3, recall by 2/3 or 0
    assert {metric: one.p for metric, one in found.differences.items()} == {
        "accuracy": 1.0, "precision": 1.0, "recall": 0.5, "f1": 0.5,
    }  # fmt: skip
    fixed = {metric: replace(one, low=-0.4, high=1.0) for metric, one in found.differences.items()}
    found = replace(found, differences=fixed, mcnemar=McNemar(1, 2, 2e-5))
    assert found.as_text().split("\n") == [
        "             first   second  difference       95% interval       p",
        " accuracy:   66.67    83.33      +16.67  -40.00 to +100.00  1.0000",
        "precision:  100.00    75.00      -25.00  -40.00 to +100.00  1.0000",
        "   recall:   33.33   100.00      +66.67  -40.00 to +100.00  0.5000",
        "      FB1:   50.00    85.71      +35.71  -40.00 to +100.00  0.5000",
        "intervals: paired bootstrap, 50 draws; p: approximate randomisation, all 4 ways to swap sentences",
        "tokens that only the first has right: 1, only the second: 2; McNemar's test: p = 2.0e-05",
        "FB1: the second is better by 35.71 points, which may be chance: p = 0.5000",
    ]
    record = found.as_json()
    assert json.loads(json.dumps(record)) == record
    assert list(record) == ["difference", "mcnemar", "randomisation"]
    assert list(record["difference"]["f1"]) == ["difference", "low", "high", "p"]
    assert record["randomisation"] == {"draws": 4, "exact": True}


def test_labels_without_segments_are_compared_by_accuracy():
    gold, first, second = (Column.of(text.split()) for text in ("DT NN VB", "DT NN NN", "DT DT DT"))
    found = compare_two(gold, first, second, np.array([0, 3]), draws=10)
    assert list(found.differences) == ["accuracy"]
    assert found.conclusion().startswith("accuracy: the first is better by 33.33 points")
    with pytest.raises(SettingError, match="the metric 'f1' is not among those of these labels: accuracy"):
        found.as_text("f1")


def test_strict_counting_is_in_one_encoding_for_both():
    """The gold labels could be of three encodings; the second labelling has B, and the first would do without."""
    gold, first, second = (Column.of(text.split()) for text in ("I-X I-X O", "I-X I-X O", "I-X B-X O"))
    found = compare_two(gold, first, second, np.array([0, 3]), "strict", draws=10)
    assert found.first.encoding == found.second.encoding == "iob1"


def test_labels_with_gaps_are_compared_by_their_spans():
    gold = Column.of("B-V o b-N i-N I-V I-V O".split())
    first, second = Column.of("B-V o b-N I-V I-V I-V O".split()), Column.of("B-V I-V O O O O O".split())
    offsets = np.array([0, 7])
    found = compare_two(gold, first, second, offsets, draws=20)
    assert (found.first, found.second) == (score_gappy(gold, first, offsets), score_gappy(gold, second, offsets))
    assert (found.first.encoding, list(found.differences)) == ("gappy", list(METRICS))
    better = compare_two(gold, first, gold, offsets, draws=20)
    assert better.differences["f1"].difference == 1.0


@given(st.lists(st.lists(st.tuples(st.sampled_from("BIObio"), st.sampled_from("BIObio")), max_size=8), max_size=4))
def test_tallies_of_labels_with_gaps_add_up_to_their_report(sentences):
    offsets = np.cumsum([0, 6, *map(len, sentences)])
    gold, guess = (Column.of([*"BobiIO", *(row[i] for s in sentences for row in s)]) for i in range(2))
    (right, found), names = same_table(gold, guess)
    for scheme in ("conlleval", "strict"):
        report, sums = (
            score_gappy(gold, guess, offsets, scheme),
            tallies(right, found, names, offsets, scheme).sum(axis=0),
        )
        for metric in METRICS:
            assert metric_of(sums, metric) == pytest.approx(getattr(report, metric))
