"""A model asked for labels among allowed ones answers as if the others had a score of -inf."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trellis.errors import SettingError
from trellis.features import TagDictionary
from trellis.lattice import Chain
from trellis.models import CRF
from trellis.scoring import plain_scores

WAYS = ["plain", "compiled"]


@pytest.fixture(scope="module")
def model(corpus):
    return CRF(target="pos", features="U0:%x[-1,word]\nU1:%x[0,word]\nU2:%x[1,word]\nB", l2=0.5).fit(corpus).model_


@pytest.fixture(scope="module")
def dictionary(corpus, model):
    """One that forbids the labels of some words, so that answers change."""
    gold = corpus["pos"].translated({label: j for j, label in enumerate(model.labels)})
    gold = (gold + corpus["word"].ids % 2) % len(model.labels)
    return TagDictionary.learn("word", corpus["word"], gold.astype(np.int32), len(model.labels), 8)


def full_lattice(model, data, allowed):
    packed = model.pack(data)
    scores = plain_scores(model.layout, model.weights, packed.indptr, packed.ids, packed.values)
    transitions = model.layout.transition_matrix(model.weights[model.layout.pairs :])
    return Chain(np.where(allowed.mask(), scores, -np.inf), transitions, data.offsets)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [1, 3])
def test_best_labels_and_marginals(model, heldout, dictionary, way, threads, computing, monkeypatch):
    monkeypatch.setattr("trellis.models.batches._BATCH", 11)
    restricted = replace(model, features=replace(model.features, dictionary=dictionary))
    allowed = dictionary.allowed(heldout["word"])
    with computing(way):
        best, nodes = restricted.best(heldout, threads), restricted.marginals(heldout, threads)
    expected = full_lattice(model, heldout, allowed)
    np.testing.assert_array_equal(best, expected.best()[0])
    np.testing.assert_allclose(nodes, expected.marginals().nodes, atol=1e-12)
    assert allowed.first_outside(best) is None
    assert np.any(best != model.best(heldout))


@pytest.mark.parametrize("features", ["word[-1:1]", "word[-1:1] + transitions(suffix(word, 1)[0])"])
def test_a_trained_dictionary_is_kept_in_the_file(corpus, heldout, features, tmp_path):
    crf = CRF(target="pos", features=features, tag_dictionary=3, l2=0.5).fit(corpus)
    allowed = crf.model_.features.dictionary.allowed(heldout["word"])
    assert allowed.first_outside(crf.predict_ids(heldout)) is None
    crf.save(tmp_path / "m")
    again = CRF.load(tmp_path / "m")
    assert again.predict(heldout) == crf.predict(heldout)
    for a, b in zip(again.predict_marginals(heldout), crf.predict_marginals(heldout), strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_needs_a_corpus():
    with pytest.raises(SettingError, match="tag_dictionary is for corpora with columns"):
        CRF(tag_dictionary=2).fit([[["a"]]], [["x"]])
