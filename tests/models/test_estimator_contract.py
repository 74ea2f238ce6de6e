"""scikit-learn's rules for estimators, which hold without it and with it."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from trellis import CRF
from trellis.errors import SettingError

X = [[["a"], ["b"]], [["a"]]] * 4
Y = [["X", "Y"], ["X"]] * 4


def test_parameters_are_the_constructors_arguments():
    crf = CRF(target="t", l2=3.0)
    params = crf.get_params()
    assert (params["target"], params["l2"], params["max_iter"]) == ("t", 3.0, 1000)
    assert CRF(**params).get_params() == params
    assert crf.get_params(deep=False) == params


def test_parameters_can_be_set_by_name():
    crf = CRF()
    assert crf.set_params(l2=7.0, target="t") is crf
    assert (crf.l2, crf.target) == (7.0, "t")
    with pytest.raises(SettingError, match="'sigma' is no parameter of CRF; it has: target, features"):
        crf.set_params(sigma=1.0)


def test_fit_returns_the_estimator_and_changes_no_parameter():
    crf = CRF(l2=0.1)
    before = crf.get_params()
    assert crf.fit(X, Y) is crf
    assert crf.get_params() == before


def test_a_clone_has_the_parameters_and_nothing_learnt():
    crf = CRF(l2=0.1, threads=2).fit(X, Y)
    copy = clone(crf)
    assert copy.get_params() == crf.get_params()
    assert not hasattr(copy, "classes_")
    assert copy.fit(X, Y).predict(X) == crf.predict(X)


def test_shows_what_is_not_default():
    assert repr(CRF(target="t", l2=2.0)) == "CRF(target='t', l2=2.0)"


def test_giving_every_sentence_twice_is_a_weight_of_two():
    """Twice the data under twice the prior has the same optimum, at twice the objective."""
    once = CRF(l2=0.5, tol=1e-9).fit(X, Y)
    twice = CRF(l2=1.0, tol=1e-9).fit(X * 2, Y * 2)
    assert twice.objective_ == pytest.approx(2 * once.objective_, rel=1e-6)


def test_cross_validation_by_scikit_learn():
    from sklearn.model_selection import cross_val_score

    assert cross_val_score(CRF(), X, Y, cv=2).tolist() == [1.0, 1.0]
