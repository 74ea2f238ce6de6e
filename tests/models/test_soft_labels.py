"""Soft labels with pairs, as evidence, and with weights."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from trellis import CRF, Corpus, LocalClassifier, SemiCRF, SoftLabels
from trellis.errors import DataError, SettingError

X = [[["a", "x"], ["b"]], [["b", "x"], ["c"], ["a"]], [["c"]]]
Y = [["A", "B"], ["B", "C", "A"], ["C"]]
NAMES = ["A", "B", "C"]


def certain(rows=Y):
    return [np.array([[float(name == label) for name in NAMES] for label in row]) for row in rows]


def pairs_of(rows):
    """Of independent tokens."""
    return [sum((np.outer(a, b) for a, b in pairwise(one)), np.zeros((3, 3))) for one in rows]


def test_certain_paths_are_plain_training():
    plain = CRF().fit(X, Y)
    paths = CRF().fit(X, soft=SoftLabels(certain(), NAMES, pairs=pairs_of(certain())))
    assert paths.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert paths.predict(X) == Y


def test_certain_evidence_is_plain_training_whatever_its_scale():
    plain = CRF().fit(X, Y)
    for scale in (1.0, 1e-9, 7.0):
        found = CRF().fit(X, soft=SoftLabels([scale * rows for rows in certain()], NAMES, evidence=True))
        assert found.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_pairs_of_independent_tokens_are_soft_labels():
    rng = np.random.default_rng(0)
    rows = [rng.dirichlet(np.ones(3), len(sentence)) for sentence in X]
    soft = CRF().fit(X, soft=rows, labels=NAMES)
    paths = CRF().fit(X, soft=SoftLabels(rows, NAMES, pairs=pairs_of(rows)))
    assert paths.objective_ == pytest.approx(soft.objective_, rel=1e-9)


def test_evidence_may_be_overruled_by_the_text():
    """a is A three times; once somebody says, unsurely, that it is B."""
    texts = [[["a"]]] * 4
    rows = [np.array([[1.0, 0.0]])] * 3 + [np.array([[0.4, 0.6]])]
    found = CRF(l2=0.01).fit(texts, soft=SoftLabels(rows, ["A", "B"], evidence=True))
    assert found.predict_marginals([[["a"]]])[0][0, 0] > 0.95
    soft = CRF(l2=0.01).fit(texts, soft=rows, labels=["A", "B"])
    np.testing.assert_allclose(soft.predict_marginals([[["a"]]])[0][0], [0.85, 0.15], atol=0.01)


def test_where_all_is_alike_nothing_is_known():
    rows = [*certain()[:2], np.ones((1, 3))]
    found = CRF().fit(X, soft=SoftLabels(rows, NAMES, evidence=True))
    partial = CRF().fit(X, [*Y[:2], [None]])
    assert found.objective_ == pytest.approx(partial.objective_, rel=1e-6)


def test_weights_are_those_of_sentences():
    weights = np.array([2.0, 0.0, 1.0])
    found = CRF().fit(X, soft=SoftLabels(certain(), NAMES, weights=weights))
    assert found.objective_ == CRF().fit(X, soft=certain(), labels=NAMES, sample_weight=weights).objective_
    both = CRF().fit(X, soft=SoftLabels(certain(), NAMES, weights=weights), sample_weight=[1.0, 1.0, 3.0])
    assert both.objective_ == CRF().fit(X, soft=certain(), labels=NAMES, sample_weight=[2.0, 0.0, 3.0]).objective_


def test_weights_that_leave_nothing():
    with pytest.raises(DataError, match="the weight of every sentence is 0"):
        CRF().fit(
            X, soft=SoftLabels(certain(), NAMES, weights=np.array([1.0, 0.0, 0.0])), sample_weight=[0.0, 1.0, 1.0]
        )


def test_small_weights_are_weights_and_no_doubt():
    which, labels, weights = SoftLabels(certain(), NAMES, weights=np.array([1e-6, 0.0, 2.0])).repeated()
    assert (which.tolist(), labels, weights.tolist()) == ([0, 1, 5], ["A", "B", "C"], [1e-6, 1e-6, 2.0])


def test_pairs_say_nothing_to_a_local_classifier():
    soft = SoftLabels(certain(), NAMES, pairs=pairs_of(certain()))
    assert LocalClassifier().fit(X, soft=soft).objective_ == pytest.approx(LocalClassifier().fit(X, Y).objective_)


@pytest.mark.parametrize("settings", [{"order": 2}, {"only_seen": True}, {"prune": 0.01, "order": 2}])
def test_other_chains_know_no_pairs_and_say_so(settings):
    rows = [np.full((len(one), 3), 1 / 3) * 0.3 + 0.7 * one for one in certain()]
    with pytest.warns(UserWarning, match="tokens are taken to be independent"):
        found = CRF(**settings).fit(X, soft=SoftLabels(rows, NAMES, pairs=pairs_of(rows)))
    assert found.objective_ == CRF(**settings).fit(X, soft=rows, labels=NAMES).objective_


def test_segments_are_learnt_from_probabilities_of_labels():
    rows = [np.array([[0.9, 0.1, 0.0]])]
    with pytest.raises(SettingError, match="segments are not learnt from evidence"):
        SemiCRF().fit([[["a"]]], soft=SoftLabels(rows, ["O", "B-X", "I-X"], evidence=True))
    with pytest.warns(UserWarning, match="tokens are taken to be independent"):
        found = SemiCRF().fit([[["a"]]], soft=SoftLabels(rows, ["O", "B-X", "I-X"], pairs=[np.zeros((3, 3))]))
    assert found.objective_ == SemiCRF().fit([[["a"]]], soft=rows, labels=["O", "B-X", "I-X"]).objective_


SQUARE = np.zeros((3, 3))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"labels": ["A", "A", "B"]}, SettingError, "labels has 'A' 2 times"),
        ({"evidence": True, "pairs": [SQUARE] * 3}, SettingError, "evidence has none"),
        ({"pairs": [SQUARE]}, DataError, "for each of 3 sentences"),
        ({"pairs": [SQUARE[:2]] * 3}, DataError, "sentence 1: pairs of the shape"),
        ({"pairs": [SQUARE - 1.0] * 3}, DataError, "sentence 1: its pairs have a negative number"),
        ({"pairs": [SQUARE] * 3}, DataError, "sentence 1: its pairs do not fit its rows"),
        ({"pairs": [*pairs_of(certain())[:2], SQUARE + 1.0]}, DataError, "sentence 3: its pairs do not fit its rows"),
        ({"pairs": ["a", "b", "c"]}, DataError, "sentence 1: pairs that are no numbers"),
        ({"rows": [np.ones_like(one) for one in certain()], "evidence": True}, DataError, "no evidence speaks for one"),
        ({"rows": certain()[:2]}, DataError, "3 sentences and 2 arrays"),
        ({"rows": [0 * one for one in certain()], "evidence": True}, DataError, "sentence 1, token 1: the evidence"),
        ({"rows": [-one for one in certain()], "evidence": True}, DataError, "expected numbers >= 0"),
        ({"weights": np.ones(2)}, DataError, "one number for each of 3 sentences"),
    ],
)
def test_what_does_not_fit(given, error, message):
    with pytest.raises(error, match=message):
        CRF().fit(X, soft=SoftLabels(**{"rows": certain(), "labels": NAMES, **given}))


def test_names_given_twice():
    with pytest.raises(SettingError, match="labels are named twice"):
        CRF().fit(X, soft=SoftLabels(certain(), NAMES), labels=["A", "B", "D"])


class TestColumns:
    """As data sets of other programs have them."""

    def test_of_sentences(self):
        corpus = Corpus.from_lists({"word": [["a", "b"], ["b", "c", "a"], ["c"]]})
        found = SoftLabels(certain(), NAMES, weights=np.array([1.0, 0.0, 1.0])).columns(corpus)
        assert found["tokens"] == [["a", "b"], ["c"]]
        assert found["tags"] == [[0, 1], [2]]
        assert found["soft"][1] == [[0.0, 0.0, 1.0]]

    def test_of_texts(self):
        soft = SoftLabels([np.array([[0.25, 0.75]]), np.array([[0.5, 0.5]])], ["A", "B"])
        found = soft.columns(["one", "two"])
        assert found == {"text": ["one", "two"], "label": [1, 0], "soft": [[0.25, 0.75], [0.5, 0.5]]}

    def test_of_what_nothing_is_known(self):
        soft = SoftLabels([np.array([[0.5, 1.5]]), np.array([[2.0, 2.0]])], ["A", "B"], evidence=True)
        assert soft.columns([{"text": "one"}, {"text": "two"}]) == soft.columns(["one", "two"])
        assert soft.columns([{"body": "one"}, {"body": "two"}], "body") == soft.columns(["one", "two"])
        with pytest.raises(DataError, match="item 2: there is no text as its 'text'; say where the texts are: column"):
            soft.columns([{"text": "one"}, {"body": "two"}])
        assert soft.columns(["one", "two"]) == {"text": ["one"], "label": [1], "soft": [[0.25, 0.75]]}
        assert soft.repeated()[0].tolist() == [0, 0]
        corpus = Corpus.from_lists({"word": [["a"], ["b"]]})
        assert soft.columns(corpus)["tags"] == [[1], [-100]]  # as losses leave it out

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"rows": [-one for one in certain()]}, "negative number, or none"),
            ({"rows": [one * np.nan for one in certain()]}, "negative number, or none"),
            ({"rows": [one[:, :2] for one in certain()]}, "sentence 1: soft labels of the shape"),
            ({"rows": [["x"], ["y"], ["z"]]}, "sentence 1: soft labels that are no numbers"),
            ({"weights": np.ones(2)}, "weights are no numbers >= 0, one for each of 3"),
            ({"weights": "abc"}, "weights that are no numbers"),
        ],
    )
    def test_of_what_is_none(self, given, message):
        soft = SoftLabels(**{"rows": certain(), "labels": NAMES, **given})
        with pytest.raises(DataError, match=message):
            soft.repeated()
        with pytest.raises(DataError, match=message):
            soft.columns(Corpus.from_lists({"word": [["a", "b"], ["b", "c", "a"], ["c"]]}))

    def test_of_other_data(self):
        with pytest.raises(DataError, match="soft labels of 3 sentences do not fit data of 1"):
            SoftLabels(certain(), NAMES).columns(["one"])


def test_labels_that_evidence_speaks_for_and_a_pruner_leaves_out_are_counted():
    rows = np.array([[0.9, 0.1]] * 9 + [[0.2, 0.8]])
    data = Corpus.from_lists({"word": [["a"] * 10]})
    crf = CRF("label", "word[0]", order=2, prune=0.4)
    crf.fit(data, soft=SoftLabels([rows], ["A", "B"], evidence=True))
    assert [pruned.lost for pruned in crf.pruning_] == pytest.approx([0.1, 0.1])
