"""A CRF on plain Python data: lists, dicts and matrices of the same features are the same problem."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import trellis
from trellis import CRF
from trellis.errors import DataError

WIDTH = 6


@pytest.fixture(scope="module")
def dense():
    """Matrices whose column 3 is always zero, some without tokens; labels follow from the other columns."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, WIDTH)) * (rng.random((n, WIDTH)) < 0.6) for n in rng.integers(0, 9, size=40)]
    for matrix in X:
        matrix[:, 3] = 0
    return X, [["P" if row[0] + row[1] > 0 else "N" for row in matrix] for matrix in X]


@pytest.fixture(scope="module")
def model(dense):
    return CRF(l2=0.1, tol=1e-7).fit(*dense)


def as_dicts(X):
    return [[{str(j): v for j, v in enumerate(row) if v} for row in matrix.tolist()] for matrix in X]


def as_sparse(X):
    return [sp.csr_array(matrix) for matrix in X]


FORMS = [as_dicts, as_sparse, lambda X: [sp.coo_matrix(matrix) for matrix in X]]


class TestFormsOfTheSameData:
    @pytest.mark.parametrize("form", FORMS)
    def test_train_the_same_model(self, dense, model, form):
        X, y = dense
        other = CRF(l2=0.1, tol=1e-7).fit(form(X), y)
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)
        assert other.predict(form(X)) == model.predict(X)
        for a, b in zip(other.predict_marginals(form(X)), model.predict_marginals(X), strict=True):
            assert a == pytest.approx(b[:, [model.classes_.index(label) for label in other.classes_]], abs=1e-4)

    @pytest.mark.parametrize("form", FORMS)
    def test_are_tagged_the_same(self, dense, model, form):
        X, y = dense
        assert np.array_equal(
            np.concatenate(model.predict_marginals(form(X))), np.concatenate(model.predict_marginals(X))
        )
        assert model.score(form(X), y) == model.score(X, y) > 0.9

    @pytest.mark.parametrize("form", [list, *FORMS])
    def test_are_answered_in_batches_on_threads(self, dense, model, form):
        X = dense[0] * 120
        assert sum(map(len, X)) > 3 * 4096
        data = form(X)
        expected = [labels for sentence in dense[0] for labels in model.predict([sentence])] * 120
        for threads in (1, 2):
            assert clone_with(model, threads).predict(data) == expected

    def test_serve_as_development_data(self, dense):
        X, y = dense
        for form in FORMS:
            assert CRF().fit(X, y, dev=form(X), dev_y=y).dev_score_ > 0.9

    def test_stay_as_they_are(self, dense):
        X, y = dense
        for data in (X, as_dicts(X)):
            before = copy.deepcopy(data)
            CRF().fit(data, y).predict(data)
            assert all(np.array_equal(a, b) for a, b in zip(before, data, strict=True))


def clone_with(model, threads):
    return pickle.loads(pickle.dumps(model)).set_params(threads=threads)


def test_a_model_of_matrices_is_saved_whole(dense, model, tmp_path):
    X, _ = dense
    model.save(tmp_path / "m")
    loaded = trellis.load(tmp_path / "m")
    assert loaded.model_.features.names() == ["0", "1", "2", "3", "4", "5"]
    for data in (X, as_sparse(X), as_dicts(X)):
        assert loaded.predict(data) == model.predict(X)
    with pytest.raises(DataError, match="sentence 1 has 5 columns; the model was trained on 6"):
        loaded.predict([np.ones((1, 5))])


def test_nested_tokens_survive_saving(tmp_path):
    X = [[{"word": {"lower": "dog", "len": 3}, "affix": {"d", "g"}}, {b"word": {"lower": b"cat"}}], [["word:len"]]]
    model = CRF().fit(X, [["A", "B"], ["A"]])
    model.save(tmp_path / "m")
    loaded = trellis.load(tmp_path / "m")
    assert loaded.model_.features.names() == ["word:lower:dog", "word:len", "affix:d", "affix:g", "word:lower:cat"]
    assert np.array_equal(np.concatenate(loaded.predict_marginals(X)), np.concatenate(model.predict_marginals(X)))


def test_one_array_for_sentences_of_equal_length():
    X = np.random.default_rng(0).normal(size=(10, 4, 2))
    y = np.where(X[:, :, 0] > 0, "P", "N")
    model = CRF(l2=0.01).fit(X, y)
    assert model.predict(X) == y.tolist()
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([np.array(["X", "Y"]), np.array(["X"])], ["X", "Y"]),
        ([np.array([7, 8]), np.array([7])], ["7", "8"]),
        ([np.array([True, False]), [True]], ["True", "False"]),
        (np.array([["X", "Y"], ["X"]], dtype=object), ["X", "Y"]),
        (np.array([np.array(["X", "Y"]), np.array(["X"])], dtype=object), ["X", "Y"]),
    ],
)
def test_labels_may_be_arrays(y, classes):
    model = CRF().fit([[["a"], ["b"]], [["a"]]], y)
    assert model.classes_ == classes
    assert {type(label) for label in model.classes_} == {str}


def test_labels_that_are_no_lists():
    for y in (["X", 3], np.array([1, 2]), 7):
        with pytest.raises(DataError, match="a list of labels for each sentence"):
            CRF().fit([[["a"]], [["a"]]], y)
    with pytest.raises(DataError, match=r"sentence 1, token 1: the label np\.float64\(0\.5\)"):
        CRF().fit([[["a"]]], [np.array([0.5])])


class TestLittleInput:
    def test_no_sentences_and_no_tokens(self, model):
        assert model.predict([]) == []
        assert model.predict([[], np.zeros((0, WIDTH)), sp.csr_array((0, WIDTH))]) == [[], [], []]
        assert model.predict(np.zeros((2, 0, WIDTH))) == [[], []]
        assert [part.shape for part in model.predict_marginals([[]])] == [(0, 2)]

    def test_tokens_without_attributes(self, model):
        zeros = model.predict_marginals([np.zeros((2, WIDTH))])[0]
        assert np.array_equal(zeros, model.predict_marginals([[[], {}]])[0])

    @pytest.mark.parametrize("X", [[np.zeros((2, 0))], [np.zeros((2, 3))], [[[], {}]]], ids=["none", "zeros", "lists"])
    def test_training_without_attributes(self, X, tmp_path):
        model = CRF().fit(X, [["A", "B"]])
        model.save(tmp_path / "m")
        assert np.array_equal(trellis.load(tmp_path / "m").predict_marginals(X)[0], model.predict_marginals(X)[0])

    def test_nothing_to_learn_from(self):
        with pytest.raises(DataError, match="no token"):
            CRF().fit([np.zeros((0, 2))], [[]])


class TestRefused:
    def test_with_the_number_of_the_sentence_in_all_of_the_data(self, model):
        data = [np.ones((100, WIDTH)) for _ in range(300)]
        data[250] = np.full((100, WIDTH), np.nan)
        with pytest.raises(DataError, match=r"^sentence 251, token 1, column 0: nan"):
            model.predict(data)
        lists = [*as_dicts(data[:250]), [["a"], [3]]]
        with pytest.raises(DataError, match=r"^sentence 251, token 2: "):
            model.predict(lists)

    def test_kinds_mixed_far_from_each_other(self, model):
        data = [np.ones((100, WIDTH)) for _ in range(300)]
        data[290] = as_dicts(data[:1])[0]
        with pytest.raises(DataError, match="sentence 291 is a list of tokens, sentence 1 an array of numbers"):
            model.predict(data)

    def test_matrices_where_names_were_learnt(self):
        model = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        with pytest.raises(DataError, match="trained on attributes with names"):
            model.predict([np.ones((1, 2))])

    def test_matrices_for_a_model_of_templates(self, small_model):
        with pytest.raises(DataError, match="reads the columns of a corpus"):
            small_model.predict([np.ones((1, 2))])

    @pytest.mark.parametrize("data", [None, 7, "text", sp.csr_array(np.ones((2, WIDTH)))], ids=type)
    def test_what_is_no_list_of_sentences(self, model, data):
        with pytest.raises(DataError, match="expected a list of sentences, not "):
            model.predict(data)
        with pytest.raises(DataError, match="expected a"):
            CRF().fit(data, [["X", "Y"]])


def test_cross_validation_over_matrices(dense):
    from sklearn.model_selection import cross_val_score

    X, y = dense
    assert cross_val_score(CRF(l2=0.1), X, y, cv=3).min() > 0.7
