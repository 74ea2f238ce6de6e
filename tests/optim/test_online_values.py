"""Learners by single sentences with feature values of any size: as good as L-BFGS, or refused; never silently wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from trellis import CRF
from trellis.engine import ThreadedObjective
from trellis.errors import CheckpointError, ConvergenceWarning, SettingError, TrellisError
from trellis.losses import find_loss
from trellis.objective import L2, Examples, cut_into_shards
from trellis.optim import BCFW, EG, OPTIMIZERS, SAGA, traits_of
from trellis.scoring import observed_layout

ONLINE = [name for name, kind in OPTIMIZERS.items() if traits_of(kind).is_online]
SLOPES = ["sgd", "adagrad", "saga", "eg"]


def made(sentences, scale, seed=0):
    """Noisy labels that one attribute, of some scale, and a word tell about."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for _ in range(sentences):
        signs = rng.choice([-1.0, 1.0], rng.integers(1, 5))
        x.append([{"x": scale * sign, "w": str(rng.integers(4)), "half": 0.5} for sign in signs])
        y.append(["A" if sign * rng.choice([1, 1, 1, 1, -1]) > 0 else "B" for sign in signs])
    return x, y


def fitted(x, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return CRF(**settings).fit(x, y)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("optimizer", SLOPES)
def test_values_of_any_moderate_size_lead_near_the_optimum(optimizer, scale):
    x, y = made(60, scale)
    lowest = fitted(x, y, optimizer="lbfgs", tol=1e-8, options={"diagonal": True}).objective_
    found = fitted(x, y, optimizer=optimizer)
    # where scores are extreme on the way it may be far, but not say it is there
    assert found.objective_ <= 1.1 * lowest or (scale == 1000.0 and not found.converged_)


@pytest.mark.parametrize("sentences", [1, 2, 4, 5, 8, 12, 20])
def test_sgd_finds_a_step_on_the_smallest_corpora(sentences):
    x, y = made(sentences, 1.0)
    if len({label for each in y for label in each}) == 1:
        y[0][0] = "B" if y[0][0] == "A" else "A"
    lowest = fitted(x, y, optimizer="lbfgs").objective_
    assert fitted(x, y, optimizer="sgd").objective_ <= 1.15 * lowest


@pytest.mark.parametrize("scale", [1e60, 1e160, 1e300])
@pytest.mark.parametrize("optimizer", ONLINE)
def test_extreme_values_are_refused(optimizer, scale):
    x, y = made(10, scale)
    most = "1e\\+50" if traits_of(OPTIMIZERS[optimizer]).learns == ("perceptron",) else "10000"
    with pytest.raises(SettingError, match=f"with feature values above {most} .scale them.; use lbfgs or auto"):
        CRF(optimizer=optimizer).fit(x, y)


@pytest.mark.parametrize("optimizer", ["sgd", "saga"])
def test_an_epoch_that_is_thrown_away_is_no_end(optimizer):
    x, y = made(20, 300.0)
    settings = {"optimizer": optimizer, "l2": 0.0, "options": {"epochs": 1, "step_size": 1e8}}
    with pytest.warns(ConvergenceWarning):
        assert not CRF(**settings).fit(x, y).converged_


@pytest.mark.parametrize("optimizer", [SAGA(), EG(), BCFW()], ids=["saga", "eg", "bcfw"])
def test_memory_of_another_shape_is_refused(optimizer):
    """As a checkpoint that was made up may have it."""
    gold, offsets = np.array([0, 1, 0, 1, 1], np.int32), np.array([0, 2, 5])
    indptr, ids = np.arange(6), np.zeros(5, np.int32)
    layout = observed_layout(indptr, ids, gold, offsets, 1, 2)
    shards = cut_into_shards(layout, Examples(indptr, ids, None, gold, offsets), find_loss(optimizer.learns[0]))
    with ThreadedObjective(shards, layout.size, L2(1.0), 1) as objective:
        state = optimizer.step(objective, optimizer.start(objective, np.zeros(layout.size)))
        wrong = tuple(store[:1] for store in state.stores)
        object.__setattr__(state, "stores", wrong)
        with pytest.raises(CheckpointError, match="in the place of"):
            optimizer.step(objective, state)
    assert issubclass(CheckpointError, TrellisError)
