"""Whole texts, records and rows of matrices, classified."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import trellis
from trellis import LocalClassifier, SoftLabels, TextClassifier
from trellis.errors import DataError, NotFittedError, SettingError

TEXTS = [
    "Check out my page!",
    "lovely song",
    "her voice is lovely",
    "Check this: www.example",
    "my page",
    "song, voice",
]
LABELS = ["spam", "ham", "ham", "spam", "spam", "ham"]


@pytest.fixture(scope="module")
def model():
    return TextClassifier(l2=0.1).fit(TEXTS, LABELS)


def test_a_label_a_text(model):
    assert model.predict(TEXTS) == LABELS
    assert model.predict(["check my page", "what a voice"]) == ["spam", "ham"]
    assert model.predict([]) == []
    assert model.classes_ == ["spam", "ham"]
    assert model.score(TEXTS, LABELS) == 1.0


def test_probabilities(model):
    chances = model.predict_proba(TEXTS)
    assert chances.shape == (6, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances, model.predict_marginals(TEXTS))
    assert [model.classes_[j] for j in chances.argmax(axis=1)] == LABELS
    np.testing.assert_allclose(model.entropy(TEXTS), -(chances * np.log(chances)).sum(axis=1))


def test_it_is_a_local_classifier_of_one_token():
    corpus = trellis.Corpus.from_lists({"text": [[text] for text in TEXTS], "label": [[label] for label in LABELS]})
    local = LocalClassifier("label", "texts", l2=0.1).fit(corpus)
    assert TextClassifier(l2=0.1).fit(TEXTS, LABELS).objective_ == local.objective_


def test_records_have_fields():
    records = [
        {"text": text, "site": site, "score": 3, "more": [1], "label": label}
        for text, site, label in zip(TEXTS, "aabbab", LABELS, strict=True)
    ]
    found = TextClassifier(features="word_ngrams(text, 1)[0] + site[0] + score[0]", l2=0.1).fit(records)
    assert found.columns_ == ["text", "site", "score"]
    assert found.predict([{"text": "my page"}, {"text": None, "site": "b"}]) == [
        "spam",
        found.predict([{"site": "b"}])[0],
    ]
    assert found.score(records) == 1.0


def test_unknown_labels_are_learnt_around():
    found = TextClassifier(l2=0.1).fit([*TEXTS, "page song"], [*LABELS, None])
    assert found.classes_ == ["spam", "ham"]
    assert found.evaluate([*TEXTS, "page song"], [*LABELS, None]).tokens == 6


def test_matrices_are_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    found = TextClassifier(l2=0.1).fit(X, y)
    assert found.score(X, y) > 0.95
    from scipy.sparse import csr_matrix

    np.testing.assert_allclose(found.predict_proba(csr_matrix(X)), found.predict_proba(X))


def test_soft_labels():
    rows = np.array([[0.9, 0.1], [0.1, 0.9], [0.2, 0.8], [1.0, 0.0], [0.8, 0.2], [0.0, 1.0]])
    arrays = TextClassifier(l2=0.1).fit(TEXTS, soft=rows, labels=["spam", "ham"])
    assert arrays.predict(TEXTS) == LABELS
    named = TextClassifier(l2=0.1).fit(TEXTS, soft=SoftLabels([row[None] for row in rows], ["spam", "ham"]))
    assert named.objective_ == arrays.objective_


def test_a_weight_of_two_is_given_twice():
    weighted = TextClassifier(l2=0.1, tol=1e-9).fit(TEXTS, LABELS, sample_weight=[2, 1, 1, 1, 1, 1])
    twice = TextClassifier(l2=0.1, tol=1e-9).fit([TEXTS[0], *TEXTS], [LABELS[0], *LABELS])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)


def test_files_pickles_and_clones(model, tmp_path):
    model.save(tmp_path / "m.trellis")
    for other in (trellis.load(tmp_path / "m.trellis"), pickle.loads(pickle.dumps(model))):
        assert isinstance(other, TextClassifier)
        np.testing.assert_array_equal(other.predict_proba(TEXTS), model.predict_proba(TEXTS))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError, match="this TextClassifier has not been trained"):
        copy.predict(TEXTS)


def test_the_same_bits_for_any_number_of_threads(tmp_path):
    for threads in (1, 2):
        TextClassifier(threads=threads).fit(TEXTS * 5, LABELS * 5).save(tmp_path / f"{threads}.trellis")
    assert (tmp_path / "1.trellis").read_bytes() == (tmp_path / "2.trellis").read_bytes()


def test_cross_validation_by_scikit_learn():
    assert cross_val_score(TextClassifier(l2=0.1), TEXTS * 4, LABELS * 4, cv=2).tolist() == [1.0, 1.0]


def test_a_start_and_development_data(model):
    found = TextClassifier(l2=0.1).fit(TEXTS, LABELS, start=model, dev=TEXTS, dev_y=LABELS)
    assert found.dev_score_ == 1.0
    assert found.iterations_ <= model.iterations_ + 10


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ("one text", ["a"], DataError, "items are a str; expected a list of texts"),
        (["a", 1], ["x", "y"], DataError, "item 1 is a str; expected a text|item 2 is a int"),
        ([{"text": "a"}, "b"], ["x", "y"], DataError, "item 2 is a str; expected a record"),
        (["a", "b"], ["x"], DataError, "2 sentences and 1"),
        (["a", "b"], None, SettingError, "labels are needed"),
        ([{"text": "a"}], None, SettingError, "no record has a label in the field 'label'"),
        ([], [], DataError, "there is no item to learn from"),
        ([{"body": "a"}], ["x"], SettingError, "features 'texts' read the columns text, and there are: body"),
        (["a", "b"], "xy", DataError, "y is a str"),
        (np.zeros((2, 2, 2)), ["x", "y"], DataError, "a matrix of the shape"),
    ],
)
def test_what_does_not_fit(X, y, error, message):
    with pytest.raises(error, match=message):
        TextClassifier().fit(X, y)


def test_a_start_of_another_kind():
    with pytest.raises(SettingError, match="start is a CRF; expected a trained TextClassifier"):
        TextClassifier().fit(TEXTS, LABELS, start=trellis.CRF())
