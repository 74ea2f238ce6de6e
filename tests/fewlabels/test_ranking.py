"""Rankings equal what enumeration of all labellings says; batches are parts of the pool."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trellis as tr
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.fewlabels import RANKINGS, next_batch, rest_of, uncertainty

WORDS = [["the", "dog", "sees"], ["Ann"], ["a", "red", "river", "."], ["likes", "idea"]]


@pytest.fixture(scope="module")
def pool():
    return Corpus.from_lists({"word": WORDS, "pos": [["NN"] * len(row) for row in WORDS]})


@pytest.fixture(scope="module", params=["crf", "order2", "hmm", "memm", "local"])
def model(request, corpus):
    features = "word[0] + pos[-1:1]"
    kinds = {
        "crf": tr.CRF("chunk", features, l2=5.0, tol=1e-3),
        "order2": tr.CRF("chunk", features, l2=5.0, order=2, tol=1e-3),
        "hmm": tr.HMM("chunk"),
        "memm": tr.SequentialClassifier("chunk", features, l2=5.0, tol=1e-3),
        "local": tr.LocalClassifier("chunk", features, l2=5.0, tol=1e-3),
    }
    return kinds[request.param].fit(corpus)


def enumerated(model, pool):
    """Of each sentence the probabilities of all labellings, the largest first."""
    out = []
    for s in range(len(pool)):
        one = pool.slice(s, s + 1)
        rows = [list(y) for y in itertools.product(model.classes_, repeat=one.tokens)]
        p = [math.exp(float(model.log_probability(one, [y])[0])) for y in rows]
        out.append(sorted(p, reverse=True))
        assert sum(p) == pytest.approx(1.0)
    return out


@pytest.mark.filterwarnings("ignore::trellis.ConvergenceWarning")
def test_rankings_are_what_enumeration_says(model, pool):
    every = enumerated(model, pool)
    lengths = np.diff(pool.offsets)
    expected = {
        "entropy": [-sum(p * math.log(p) for p in own if p > 0) for own in every],
        "least-confidence": [-math.log(own[0]) for own in every],
        "margin": [1 - (own[0] - own[1]) for own in every],
    }
    for name, values in expected.items():
        assert uncertainty(model, pool, name, per_token=False) == pytest.approx(values, abs=1e-9)
        assert uncertainty(model, pool, name, per_token=True) == pytest.approx(np.array(values) / lengths, abs=1e-9)


def test_segment_models_can_be_asked(corpus, pool):
    model = tr.SemiCRF("chunk", "word[0] + pos[-1:1]", l2=5.0, tol=1e-3).fit(corpus)
    every = [[math.exp(path.log_probability) for path in paths] for paths in model.predict_kbest(pool, 500)]
    assert uncertainty(model, pool, "least-confidence", per_token=False) == pytest.approx(
        [-math.log(own[0]) for own in every]
    )
    assert uncertainty(model, pool, "margin", per_token=False) == pytest.approx([1 - own[0] + own[1] for own in every])


def test_a_model_of_one_label_is_sure(pool):
    with pytest.warns(UserWarning, match="is the only label"):
        model = tr.CRF("pos", "word[0]").fit(pool)
    for name in ("entropy", "least-confidence", "margin"):
        assert uncertainty(model, pool, name) == pytest.approx(0.0, abs=1e-9)


def test_a_model_that_knows_nothing_is_ranked_in_time(pool):
    """All labellings are as probable."""
    blind = Corpus.from_lists({"word": [["x"], ["x"]], "label": [["A"], ["B"]]})
    model = tr.CRF("label", "word[0]", l2=1e6, tol=1e-2).fit(blind)
    long = Corpus.from_lists({"word": [["y"] * 60] * 3})
    assert uncertainty(model, long, "margin", per_token=False) == pytest.approx(1.0)
    assert uncertainty(model, long, "entropy", per_token=True) == pytest.approx(math.log(2), abs=1e-3)


def test_labels_of_the_pool_are_not_looked_at(corpus, heldout):
    model = tr.CRF("chunk", "word[0] + pos[-1:1]", tol=1e-2).fit(corpus)
    wrong = heldout.with_column("chunk", tr.Corpus.from_lists({"c": [["?"] * heldout.tokens]})["c"])
    none = Corpus({name: heldout[name] for name in ("word", "pos")}, heldout.offsets)
    for name in RANKINGS:
        found = [uncertainty(model, data, name, seed=3) for data in (heldout, wrong, none)]
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])


def test_at_random_the_seed_decides_and_length_does_not(pool):
    one, other = (uncertainty(None, pool, "random", seed=seed) for seed in (1, 2))
    assert np.array_equal(one, uncertainty(None, pool, "random", per_token=True, seed=1))
    assert not np.array_equal(one, other)


def test_models_without_probabilities_are_refused(corpus, pool):
    model = tr.StructuredPerceptron("chunk", "word[0]", epochs=2).fit(corpus)
    for name in ("entropy", "least-confidence", "margin"):
        with pytest.raises(SettingError, match="a StructuredPerceptron has no probabilities of whole labellings, so "):
            uncertainty(model, pool, name)
    with pytest.raises(SettingError, match="unknown ranking 'entropie'; did you mean entropy"):
        uncertainty(model, pool, "entropie")


def sentences(lengths):
    return Corpus.from_lists({"word": [[f"w{s}x{t}" for t in range(n)] for s, n in enumerate(lengths)]})


class TestBatches:
    @given(data=st.data())
    def test_are_the_first_of_the_ranking_and_the_rest_is_the_rest(self, data):
        lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
        scores = np.array(
            data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(lengths), max_size=len(lengths)))
        )
        pool = sentences(lengths)
        by_count = data.draw(st.booleans())
        most = data.draw(st.integers(1, 20))
        chosen = next_batch(pool, scores, **({"count": most} if by_count else {"tokens": most}))
        rest = rest_of(pool, chosen)
        assert sorted([*chosen.tolist(), *rest.tolist()]) == list(range(len(pool)))
        assert scores[chosen].tolist() == sorted(scores[chosen].tolist(), reverse=True)
        assert scores[chosen].min() >= scores[rest].max(initial=-1.0)
        if by_count:
            assert len(chosen) == min(most, len(pool))
        else:
            spent = sum(lengths[s] for s in chosen)
            assert spent <= most or len(chosen) == 1

    def test_of_equals_the_first_of_the_pool(self):
        assert next_batch(sentences([1] * 5), [1.0, 2.0, 2.0, 1.0, 2.0], count=4).tolist() == [1, 2, 4, 0]

    def test_do_not_have_the_same_sentence_twice(self):
        pool = Corpus.from_lists({"word": [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["a", "b", "c", "x"], ["y"]]})
        scores = [4.0, 3.0, 2.0, 1.0]
        assert next_batch(pool, scores, count=3, distinct=0.9).tolist() == [0, 2, 3]
        assert next_batch(pool, scores, count=3, distinct=0.6).tolist() == [0, 3]
        assert next_batch(pool, scores, count=3).tolist() == [0, 1, 2]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({}, "give one of the two"),
            ({"count": 1, "tokens": 1}, "give one of the two"),
            ({"count": 0}, "count is 0; expected a whole number >= 1"),
            ({"tokens": 1.5}, "tokens is 1.5"),
            ({"count": 1, "distinct": 0.0}, "distinct is 0.0; expected a share"),
        ],
    )
    def test_say_what_does_not_fit(self, settings, message):
        with pytest.raises(SettingError, match=message):
            next_batch(sentences([1, 2]), [1.0, 2.0], **settings)

    def test_need_a_number_for_each_sentence(self):
        with pytest.raises(DataError, match="3 scores for 2 sentences"):
            next_batch(sentences([1, 2]), [1.0, 2.0, 3.0], count=1)
        with pytest.raises(DataError, match="the score of sentence 2 is no number"):
            next_batch(sentences([1, 2]), [1.0, math.nan], count=1)

    def test_lists_and_numbers_that_no_sentence_has_are_refused(self):
        pool = sentences([1, 2])
        for call in (
            lambda: next_batch([["a"]], [1.0], count=1),
            lambda: rest_of([["a"]], [0]),
            lambda: uncertainty(None, [["a"]], "random"),
        ):
            with pytest.raises(DataError, match="the pool is of the type list; expected a Corpus"):
                call()
        for call in (lambda: rest_of(pool, [1000]), lambda: pool.picked([1000])):
            with pytest.raises(DataError, match="there is no sentence number 1000; expected numbers from 0 to 1"):
                call()
        with pytest.raises(DataError, match="there is no sentence number -1"):
            pool.picked([-1])
        with pytest.raises(DataError, match="the type float64; expected one dimension of whole numbers"):
            pool.picked([0.5])
        with pytest.raises(DataError, match="the scores are no numbers"):
            next_batch(pool, ["a", "b"], count=1)
        assert len(pool.picked([])) == 0


@pytest.mark.parametrize(
    ("settings", "how"), [({"loss": "hinge"}, "the loss hinge"), ({"optimizer": "arow"}, "the optimizer arow")]
)
def test_scores_that_are_no_probabilities_are_warned_of(corpus, pool, settings, how):
    model = tr.CRF("chunk", "word[0]", tol=1e-2, **settings).fit(corpus)
    with pytest.warns(UserWarning, match=f"the model was trained by {how}, so its scores are no probabilities"):
        uncertainty(model, pool)
    uncertainty(model, pool, "random")
