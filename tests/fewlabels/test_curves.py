"""Learning curves and what lies ahead of them; tests over pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trellis as tr
from trellis.errors import DataError, SettingError
from trellis.fewlabels import augmented, copy_weights, learning_curve
from trellis.fewlabels.curve import Point, counts_of, models_to_train, weighs
from trellis.fewlabels.paired import paired
from trellis.fewlabels.power_law import Law, fitted, predicted
from trellis.models import MODEL_TYPES

CRF = tr.CRF("chunk", "word[0] + pos[-1:1]", tol=1e-2)


class Spy:
    """A model that remembers what it was trained on."""

    target = "chunk"

    def __init__(self, seen=None):
        self.seen = seen

    def get_params(self):
        return {"seen": self.seen}

    def fit(self, corpus, sample_weight=None):
        self.seen.append((corpus.sentences("word"), sample_weight))
        return self

    def score(self, test):
        return len(self.seen) / 100


def test_parts_of_a_repeat_hold_the_smaller_ones(corpus, heldout):
    seen = []
    learning_curve(Spy(seen), corpus, heldout, [10, 20, 0.5], repeats=2)
    parts = [{" ".join(words) for words in rows} for rows, _ in seen]
    assert [len(rows) for rows, _ in seen] == [10, 10, 20, 20, 30, 30]
    assert parts[0] <= parts[2] <= parts[4]
    assert parts[1] <= parts[3] <= parts[5]
    assert seen[0][0] != seen[1][0]


def test_the_whole_is_learnt_once(corpus, heldout):
    seen = []
    curve = learning_curve(Spy(seen), corpus, heldout, [1.0], repeats=3)
    assert len(seen) == 1
    assert seen[0][0] == corpus.sentences("word")
    assert curve.points[0].scores == (0.01, 0.01, 0.01)
    assert curve.points[0].deviation is None
    assert curve.as_json()["points"][0]["deviation"] is None
    assert curve.doubled is None


def test_single_scores_have_no_deviation():
    assert Point(1, 10.0, (0.5,)).deviation is None
    assert Point(1, 10.0, (0.5, 0.5)).deviation == 0.0


@pytest.mark.parametrize(
    ("sizes", "more"), [([10, 20], None), ([10, 1.0], None), ([10, 1.0], lambda part, k: (part, None))]
)
def test_how_many_models_there_will_be_is_known_before(sizes, more, corpus, heldout):
    seen, told = [], []
    learning_curve(Spy(seen), corpus, heldout, sizes, repeats=3, more=more, progress=told.append)
    assert len(seen) == len(told) == models_to_train(sizes, len(corpus), 3, more is not None)
    assert told[0] == "10 of 60 sentences, 1 of 3"
    assert told[1] == "10 of 60 sentences, 2 of 3; about 1 s left"


def test_scores_rise_with_more_labels_and_the_law_says_so():
    train, test = tr.sample_corpus("train"), tr.sample_corpus("test")
    curve = learning_curve(CRF, train, test, [8, 16, 32, 64, 128], repeats=2)
    assert not hasattr(CRF, "model_")
    means = [point.mean for point in curve.points]
    assert means[0] < means[-1]
    assert curve.points[0].deviation > 0
    assert curve.doubled is not None
    assert curve.doubled.tokens == pytest.approx(2 * curve.points[-1].tokens)
    assert means[-1] - 0.02 < curve.doubled.score <= 1.0
    assert list(curve.as_json()) == ["points", "doubled"]


def test_what_is_learnt_from_may_be_augmented(corpus, heldout):
    seen = []

    def more(part, repeat):
        made = augmented(part, "chunk", "mentions", seed=repeat)
        return made, copy_weights(part, made, 0.5)

    learning_curve(Spy(seen), corpus, heldout, [5, 1.0], repeats=2, more=more)
    assert len(seen) == 4  # of the whole, copies differ
    assert all(len(rows) > 5 and set(weights) == {0.5, 1.0} for rows, weights in seen)


def test_copies_must_count_as_much_where_a_model_has_no_weights(corpus, heldout):
    for model, name in (
        (tr.KernelPerceptron("chunk", "word[0]", epochs=1), "KernelPerceptron"),
        (tr.StructuredPerceptron("chunk", "word[0]", epochs=1), "StructuredPerceptron"),
        (tr.CRF("chunk", "word[0]", optimizer="arow"), "CRF with the optimizer arow"),
    ):
        message = rf"a {name} cannot count some sentences less; let copies count 1 \(--copy-weight 1\)"
        with pytest.raises(SettingError, match=message):
            learning_curve(model, corpus, heldout, [5], 1, more=lambda part, k: (part, np.ones(len(part))))


@pytest.mark.parametrize("name", MODEL_TYPES)
def test_which_models_weigh_sentences_is_known(name, corpus):
    model = MODEL_TYPES[name](target="chunk")
    weighed = name not in ("structured-perceptron", "structured-svm", "kernel-perceptron")
    assert weighs(model) == weighed


@pytest.mark.parametrize("size", [0, 0.0, 1.5, -3, 61, True, "x"])
def test_sizes_that_are_none(size):
    with pytest.raises(SettingError, match=r"a size is .*; expected a fraction above 0 and up to 1\.0, or a number"):
        counts_of([size], 60)


def test_sizes_are_fractions_or_numbers():
    assert counts_of([0.5, 10, 1.0, 0.001, 10], 60) == [1, 10, 30, 60]


def test_nothing_to_learn_from_or_to_test_on(corpus):
    with pytest.raises(DataError, match="no token to test on"):
        learning_curve(CRF, corpus, corpus.slice(0, 0))
    with pytest.raises(SettingError, match="repeats is 0"):
        learning_curve(CRF, corpus, corpus, repeats=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": 50}, "sizes is 50; expected a list"),
        ({"sizes": "50"}, "sizes is '50'; expected a list"),
        ({"model": "crf"}, "the model is of the type str; expected a tagger with its settings"),
        ({"model": tr.CRF}, "the model is the class CRF; expected a tagger"),
        ({"model": tr.Cascade([tr.Stage("pos", "word[0]")])}, "the model is of the type Cascade; expected a tagger"),
        ({"train": None}, "train is None; expected a Corpus: read_conll reads one"),
        ({"test": [["a"]]}, "test is of the type list; expected a Corpus"),
        ({"more": lambda part, k: part}, r"`more` gave back a Corpus; expected \(corpus, weights\)"),
    ],
)
def test_what_is_of_another_kind_is_said(corpus, given, message):
    with pytest.raises((SettingError, DataError), match=message):
        learning_curve(**{"model": CRF, "train": corpus, "test": corpus, "sizes": [5], **given})


class TestPowerLaws:
    @given(a=st.floats(0.0, 0.3), c=st.floats(0.15, 1.5), scale=st.floats(0.05, 0.6))
    def test_are_found_again(self, a, c, scale):
        n = np.array([500.0, 1000.0, 2000.0, 4000.0, 8000.0])
        law = Law(a, scale * 500.0**c, c)
        found = fitted(n, [law.score(each) for each in n])
        assert found.score(16000.0) == pytest.approx(law.score(16000.0), abs=0.01)

    def test_are_not_pulled_away_by_one_odd_score(self):
        n = np.tile([500.0, 1000.0, 2000.0, 4000.0, 8000.0], 3)
        law = Law(0.05, 0.3 * 500.0**0.5, 0.5)
        scores = np.array([law.score(each) for each in n])
        scores[4] -= 0.2
        assert fitted(n, scores).score(16000.0) == pytest.approx(law.score(16000.0), abs=0.01)

    def test_need_four_sizes_and_scores_that_rise(self):
        assert fitted([1, 2, 3], [0.1, 0.2, 0.3]) is None
        assert fitted([1, 2, 3, 4], [0.5, 0.4, 0.3, 0.2]) is None
        assert predicted([1, 2, 3], [[0.1], [0.2], [0.3]], 6) is None

    def test_the_range_is_of_the_repeats_and_holds_the_score(self):
        rng, n = np.random.default_rng(0), [500.0, 1000.0, 2000.0, 4000.0]
        law = Law(0.05, 0.3 * 500.0**0.5, 0.5)
        for _ in range(10):
            table = [[law.score(each) + rng.normal(0, 0.01) for _ in range(3)] for each in n]
            score, low, high = predicted(n, table, 8000.0)
            assert low <= score <= high
            assert low < high
            assert predicted(n, table, 8000.0) == (score, low, high)

    def test_one_repeat_has_no_range(self):
        assert predicted([1, 2, 4, 8], [[0.5], [0.6], [0.7], [0.75]], 16)[1:] == (None, None)


class TestPairs:
    def test_p_is_the_share_of_signs_as_far_away(self):
        differences = [0.3, 0.1, -0.05, 0.2]
        found = paired([0.0] * 4, differences)
        sums = [
            abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product([1, -1], repeat=4)
        ]
        assert found.p == sum(each >= 0.55 - 1e-9 for each in sums) / 16
        assert (found.better, found.samples) == (3, 4)
        assert found.difference == pytest.approx(0.1375)

    def test_with_five_samples_nothing_is_below_a_sixteenth(self):
        assert paired([0.0] * 5, [1.0] * 5).p == 1 / 16
        assert paired([1.0] * 3, [1.0] * 3).p == 1.0

    def test_many_samples_are_drawn(self):
        assert paired(np.zeros(20), np.ones(20)).p < 1e-4

    def test_scores_of_other_samples_are_refused(self):
        with pytest.raises(DataError, match="2 and 1 scores"):
            paired([1.0, 2.0], [1.0])
