"""Votes that hardly are any: a sensible result or a clear error, whatever the model."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.errors import DataError, SettingError
from trellis.weak.models import MODELS, label_model
from trellis.weak.space import Space
from trellis.weak.votes import Votes

pytestmark = pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")


def segments(values, functions, coarse=None, links=False):
    values = np.array(values, np.int32)
    space = Space.of_types(["A", "B"], coarse)
    offsets = np.array([0, 2, len(values)], np.int64)
    more = {"links": np.ones((len(values), 1), np.int8), "linkers": ("l",)} if links else {}
    return Votes(values, tuple(functions), space, offsets, **more)


def fitted(name, votes):
    """The model, or None where it needs more functions, and says so."""
    if name == "triplets" and len(votes.functions) < 3:
        with pytest.raises((SettingError, DataError), match="three functions"):
            label_model(name)().fit(votes)
        return None
    return label_model(name)().fit(votes)


@pytest.mark.parametrize("name", MODELS)
def test_all_abstain(name):
    votes = segments([[-1, -1]] * 6, "fg", links=True)
    if name == "majority":
        assert label_model(name)().fit(votes).predict(votes) == [["O"] * 2, ["O"] * 4]
        return
    with pytest.raises(DataError, match="every one of 2 functions abstains on all 6 tokens; there is nothing to learn"):
        label_model(name)().fit(votes)


@pytest.mark.parametrize("name", MODELS)
def test_nothing_at_all(name):
    empty = Votes(np.zeros((0, 3), np.int32), ("f", "g", "h"), Space.of_types(["A"]), np.zeros(1, np.int64))
    if name == "majority":
        assert label_model(name)().fit(empty).predict(empty) == []
        return
    with pytest.raises((DataError, SettingError), match="nothing to learn"):
        label_model(name)().fit(empty)


@pytest.mark.parametrize("name", MODELS)
def test_one_function_only(name):
    votes = segments([[1], [2], [-1], [3], [-1], [1]] * 3, "f", links=True)
    model = fitted(name, votes)
    if model is not None:
        assert np.mean(model.best(votes) == np.where(votes.values[:, 0] < 0, 0, votes.values[:, 0])) > 0.8


@pytest.mark.parametrize("name", MODELS)
def test_functions_that_always_conflict(name):
    votes = segments([[1, 3, 0]] * 6 + [[2, 4, -1]] * 3, "fgh", links=True)
    model = fitted(name, votes)
    if model is not None:
        chances = model.probabilities(votes)
        assert np.isfinite(chances).all()
        assert np.allclose(chances.sum(axis=1), 1.0)
        assert set(model.best(votes).tolist()) <= set(range(5))


@pytest.mark.parametrize("name", MODELS)
def test_a_coarse_label_alone(name):
    votes = segments([[5, 5], [6, -1], [-1, -1], [5, 5], [-1, -1], [-1, -1]], "fg", {"ENT": ["A", "B"]}, links=True)
    if name == "triplets":
        with pytest.raises(SettingError, match="triplets need three functions"):
            label_model(name)().fit(votes)
        return
    with pytest.warns(UserWarning, match="no function tells I?-?.*apart; where it is right, the choice among them"):
        model = label_model(name)().fit(votes)
    said = model.best(votes)
    assert (said[[0, 1, 3]] > 0).all()
    assert (said[[2, 4, 5]] == 0).all()
    assert np.allclose(model.probabilities(votes).sum(axis=1), 1.0)


@pytest.mark.parametrize("name", MODELS)
def test_one_label_only(name):
    votes = Votes.of_items(np.array([[0, 0, 0], [0, -1, 0], [-1, -1, -1]]), ["ONLY"])
    model = fitted(name, votes) if name not in ("linked-hmm", "triplets") else None  # two of the three are copies
    if model is not None:
        assert model.predict(votes) == [["ONLY"]] * 3


@pytest.mark.parametrize("name", MODELS)
def test_many_functions_that_are_sure_do_not_underflow(name):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 400)
    values = np.where(rng.random((400, 300)) < 0.97, truth[:, None], (truth[:, None] + 1) % 3)
    votes = Votes.of_items(values, ["A", "B", "C"])
    if name == "linked-hmm":
        votes = Votes(votes.values, votes.functions, votes.space, votes.offsets, np.ones((400, 1), np.int8), ("l",))
    if name == "triplets":
        votes = votes.only(votes.functions[:20])
    more = {"structure": "independent"} if "structure" in label_model(name)().get_params() else {}
    model = label_model(name)(**more).fit(votes)
    chances = model.probabilities(votes)
    assert np.isfinite(chances).all()
    assert np.mean(model.best(votes) == truth) > 0.99


@pytest.mark.parametrize("name", MODELS)
def test_fitting_changes_neither_votes_nor_settings(name, segment_votes):
    votes, _ = segment_votes(8, links=1)
    before = votes.values.copy()
    model = label_model(name)()
    params = model.get_params()
    first, second = (model.fit(votes).probabilities(votes) for _ in range(2))
    assert (votes.values == before).all()
    assert model.get_params() == params
    assert (first == second).all()
    assert repr(model) == f"{type(model).__name__}()"
