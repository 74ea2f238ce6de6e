"""Trainings number their weights as they appear, which nobody need know: models, checkpoints, cascades are as ever."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from trellis.cascade import Cascade, Stage
from trellis.corpus import sample_corpus
from trellis.errors import CheckpointError, ConvergenceWarning
from trellis.models import CRF
from trellis.objective import appearance, cutting
from trellis.optim import quasi_newton


@pytest.fixture(autouse=True)
def several_shards(monkeypatch):
    monkeypatch.setattr(cutting, "SHARD", 300)
    monkeypatch.setattr(appearance, "LEAST", 1)


def trained(corpus, max_iter, given=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return CRF("chunk", max_iter=max_iter, **settings).fit(corpus, **(given or {}))


@pytest.mark.parametrize("optimizer", ["lbfgs", "auto", "newton-cg", "sgd", "boosting"])
def test_a_model_is_the_same_but_for_rounding(monkeypatch, optimizer):
    corpus = sample_corpus().slice(0, 60)
    settings = {"optimizer": optimizer, "loss": "exp" if optimizer == "boosting" else "log"}
    given = {"dev": corpus.slice(0, 10)}
    ordered = trained(corpus, 4, given, **settings)
    monkeypatch.setattr(appearance, "LEAST", 1 << 40)
    plain = trained(corpus, 4, given, **settings)
    np.testing.assert_allclose(ordered.model_.weights, plain.model_.weights, rtol=1e-5, atol=1e-7)
    assert ordered.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_a_training_goes_on_from_its_checkpoint(monkeypatch, tmp_path):
    corpus = sample_corpus().slice(0, 60)
    whole = trained(corpus, 200)
    trained(corpus, 5, {"checkpoint": tmp_path})
    resumed = trained(corpus, 200, {"checkpoint": tmp_path, "resume": True})
    np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)
    monkeypatch.setattr(appearance, "LEAST", 1 << 40)
    with pytest.raises(CheckpointError, match="order of weights"):
        trained(corpus, 300, {"checkpoint": tmp_path, "resume": True})


@pytest.mark.parametrize("optimizer", ["lbfgs", "auto", "owlqn"])
def test_pairs_in_single_precision_are_kept_in_checkpoints(monkeypatch, tmp_path, optimizer):
    monkeypatch.setattr(quasi_newton, "_MANY", 1)
    corpus, settings = (
        sample_corpus().slice(0, 60),
        {"optimizer": optimizer, "l1": 0.1 if optimizer == "owlqn" else 0.0},
    )
    whole = trained(corpus, 14, **settings)
    trained(corpus, 12, {"checkpoint": tmp_path}, **settings)
    resumed = trained(corpus, 14, {"checkpoint": tmp_path, "resume": True}, **settings)
    np.testing.assert_array_equal(resumed.model_.weights, whole.model_.weights)


def test_stages_that_read_pairs_of_labels_have_an_order_of_their_own():
    corpus = sample_corpus().slice(0, 60)
    lower = Stage("pos", "word[0] + suffix(word, 2)[0]", tol=1e-2)
    upper = Stage(
        "chunk", "word[0] + pos[-1:1] + (pos[-1] & pos[0]) + transitions(pos[-1] & pos[0])", reads=["pos"], tol=1e-2
    )
    for wire in ("marginal", "joint"):
        cascade = Cascade([lower, upper], wire=wire, tol=1e-2).fit(corpus)
        assert cascade.score(corpus) > 0.5
