"""scikit-learn's rules for estimators, which hold without it and with it."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from trellis import (
    CRF,
    HMM,
    KernelPerceptron,
    LocalClassifier,
    NeuralCRF,
    ScoredHMM,
    SequentialClassifier,
    StructuredPerceptron,
    StructuredSVM,
    TextClassifier,
)
from trellis.errors import SettingError

X = [[["a"], ["b"]], [["a"]]] * 4
Y = [["X", "Y"], ["X"]] * 4
TEXTS, LABELS = ["a b", "c"] * 4, ["Y", "X"] * 4

# an estimator, and a setting of it with another value than by default
ESTIMATORS = {
    CRF: {"l2": 0.1},
    LocalClassifier: {"l2": 0.1},
    SequentialClassifier: {"l2": 0.1},
    HMM: {"smoothing": 1.0},
    ScoredHMM: {"l2": 0.1},
    StructuredPerceptron: {"averaged": False},
    StructuredSVM: {"tol": 0.5},
    KernelPerceptron: {"degree": 3},
    NeuralCRF: {"features": "word[0]", "embedding": 8, "hidden": 6, "epochs": 10},
    TextClassifier: {"l2": 0.1},
}


def data(kind):
    """What it learns from: sentences and their labels, or texts and theirs."""
    return (TEXTS, LABELS) if kind is TextClassifier else (X, Y)


each = pytest.mark.parametrize(("kind", "setting"), ESTIMATORS.items(), ids=lambda one: getattr(one, "__name__", ""))


@each
def test_parameters_are_the_constructors_arguments(kind, setting):
    model = kind(target="t", **setting)
    params = model.get_params()
    assert params["target"] == "t"
    assert setting.items() <= params.items()
    assert kind(**params).get_params() == params
    assert model.get_params(deep=False) == params


@each
def test_parameters_can_be_set_by_name(kind, setting):
    model = kind()
    assert model.set_params(target="t", **setting) is model
    assert (model.target, model.get_params() | setting) == ("t", model.get_params())
    with pytest.raises(SettingError, match=f"'sigma' is no parameter of {kind.__name__}; it has: target, "):
        model.set_params(sigma=1.0)


@each
def test_fit_returns_the_estimator_and_changes_no_parameter(kind, setting):
    model = kind(**setting)
    before = model.get_params()
    assert model.fit(*data(kind)) is model
    assert model.get_params() == before


@each
def test_a_clone_has_the_parameters_and_nothing_learnt(kind, setting):
    X, Y = data(kind)
    model = kind(threads=2, **setting).fit(X, Y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
    assert copy.fit(X, Y).predict(X) == model.predict(X)


@each
def test_a_further_fit_forgets_the_one_before(kind, setting):
    X, Y = data(kind)
    other = [row.replace("Y", "Z") if isinstance(row, str) else ["Z", *row[1:]] for row in Y]
    model = kind(**setting).fit(X, other).fit(X, Y)
    assert sorted(model.classes_) == ["X", "Y"]
    assert model.predict(X) == kind(**setting).fit(X, Y).predict(X)


@each
def test_a_sentence_has_the_same_answer_alone_and_among_others(kind, setting):
    X, Y = data(kind)
    model = kind(**setting).fit(X, Y)
    assert model.predict(X[::-1]) == model.predict(X)[::-1]
    assert [model.predict([sentence])[0] for sentence in X] == model.predict(X)


def test_shows_what_is_not_default():
    assert repr(CRF(target="t", l2=2.0)) == "CRF(target='t', l2=2.0)"
    assert repr(KernelPerceptron("t", degree=3)) == "KernelPerceptron(target='t', degree=3)"


def test_giving_every_sentence_twice_is_a_weight_of_two():
    """Twice the data under twice the prior has the same optimum, at twice the objective."""
    once = CRF(l2=0.5, tol=1e-9).fit(X, Y)
    twice = CRF(l2=1.0, tol=1e-9).fit(X * 2, Y * 2)
    assert twice.objective_ == pytest.approx(2 * once.objective_, rel=1e-6)


@each
def test_cross_validation_by_scikit_learn(kind, setting):
    from sklearn.model_selection import cross_val_score

    assert cross_val_score(kind(**setting), *data(kind), cv=2).tolist() == [1.0, 1.0]
