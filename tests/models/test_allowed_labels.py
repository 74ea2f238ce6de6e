"""A model asked for labels among allowed ones answers as if the others had a score of -inf."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.errors import DataError
from trellis.features import TagDictionary
from trellis.lattice import Allowed, Chain
from trellis.models import CRF
from trellis.scoring import plain_scores

WAYS = ["plain", "compiled"]


@pytest.fixture(scope="module")
def model(corpus):
    return CRF(target="pos", features="U0:%x[-1,word]\nU1:%x[0,word]\nU2:%x[1,word]\nB", l2=0.5).fit(corpus).model_


@pytest.fixture(scope="module")
def allowed(corpus, heldout, model):
    """A dictionary that forbids the labels of some words, so that answers change."""
    gold = corpus["pos"].translated({label: j for j, label in enumerate(model.labels)})
    gold = (gold + corpus["word"].ids % 2) % len(model.labels)
    return TagDictionary.learn(corpus["word"], gold.astype(np.int32), len(model.labels), 8).allowed(heldout["word"])


def full_lattice(model, data, allowed):
    packed = model.pack(data)
    scores = plain_scores(model.layout, model.weights, packed.indptr, packed.ids, packed.values)
    transitions = model.layout.transition_matrix(model.weights[model.layout.pairs :])
    return Chain(np.where(allowed.mask(), scores, -np.inf), transitions, data.offsets)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [1, 3])
def test_best_labels_and_marginals(model, heldout, allowed, way, threads, computing, monkeypatch):
    monkeypatch.setattr("trellis.models.linear._BATCH", 11)
    with computing(way):
        best, nodes = model.best(heldout, threads, allowed), model.marginals(heldout, threads, allowed)
    expected = full_lattice(model, heldout, allowed)
    np.testing.assert_array_equal(best, expected.best()[0])
    np.testing.assert_allclose(nodes, expected.marginals().nodes, atol=1e-12)
    assert allowed.first_outside(best) is None
    assert np.any(best != model.best(heldout))


@pytest.mark.parametrize("way", WAYS)
def test_label_sets_that_do_not_fit_are_refused(model, heldout, allowed, way, computing):
    fewer = allowed.part(0, len(allowed) - 1)
    other = Allowed(np.zeros(len(allowed), np.int32), np.array([0, 2]), np.arange(2, dtype=np.int32))
    packed = model.pack(heldout)
    for wrong in (fewer, other):
        with computing(way):
            for ask in (model.best, model.marginals):
                with pytest.raises(DataError, match="allowed labels are given for"):
                    ask(heldout, 1, wrong)
            with pytest.raises(DataError, match="allowed labels are given for"):
                model.best_of_packed(packed, heldout.offsets, wrong)
