"""What label models believe of whole labellings."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from trellis.labels import convert, first_tokens
from trellis.weak import Votes, label_model
from trellis.weak.models import MODELS
from trellis.weak.paths import path_labels

TOKENWISE = ["majority", "weighted", "dawid-skene", "generative", "triplets"]


def fitted(name, votes):
    return label_model(name)().learn(votes)


@pytest.mark.parametrize("name", TOKENWISE)
def test_runs_of_types_are_spelt_as_in_a_list_of_all_labellings(name, segment_votes):
    votes, _ = segment_votes(3, sentences=30)
    model = fitted(name, votes)
    nodes, pairs = path_labels(model, votes)
    chances = model.probabilities(votes)
    for s, (a, b) in enumerate(pairwise(votes.offsets.tolist())):
        if b - a > 5:
            continue
        expected, counts = np.zeros((b - a, len(model.labels_))), np.zeros((len(model.labels_),) * 2)
        for path in product(range(len(model.own_labels)), repeat=b - a):
            q = np.prod([chances[a + t, k] for t, k in enumerate(path)])
            ids, names = convert(np.array(path), model.own_labels, np.array([0, b - a]), "iob2", encoding="io")
            spelt = [model.space_.index[names[i]] for i in ids]
            expected[np.arange(b - a), spelt] += q
            for i, j in pairwise(spelt):
                counts[i, j] += q
        np.testing.assert_allclose(nodes[a:b], expected, atol=1e-12)
        np.testing.assert_allclose(pairs[s], counts, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("space", ["iob2", "io"])
def test_pairs_and_labels_say_the_same(name, space, segment_votes):
    votes, _ = segment_votes(5, sentences=40, links=1)
    settings = {"space": space} if name in ("hmm", "linked-hmm") else {}
    model = label_model(name)(**settings).learn(votes)
    nodes, pairs = path_labels(model, votes)
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-9)
    first, last = first_tokens(votes.offsets), np.zeros(votes.tokens, bool)
    last[votes.offsets[1:] - 1] = True
    sentence = np.repeat(np.arange(len(votes)), np.diff(votes.offsets))
    for axis, left_out in ((1, first), (2, last)):
        sums = np.zeros((len(votes), nodes.shape[1]))
        np.add.at(sums, sentence[~left_out], nodes[~left_out])
        np.testing.assert_allclose(pairs.sum(axis=axis), sums, atol=1e-9)


def test_a_chain_of_iob2_is_as_it_is(segment_votes):
    votes, _ = segment_votes(6)
    model = fitted("hmm", votes)
    np.testing.assert_allclose(path_labels(model, votes)[0], model.probabilities(votes), atol=1e-12)


def test_labels_that_are_no_segments(segment_votes):
    votes = Votes.of_items([["HAM", None], ["SPAM", "HAM"], ["SPAM", "SPAM"]], ["HAM", "SPAM"])
    model = fitted("majority", votes)
    nodes, pairs = path_labels(model, votes)
    np.testing.assert_allclose(nodes, model.probabilities(votes))
    assert not pairs.any()


def test_pieces_do_not_matter(segment_votes, monkeypatch):
    votes, _ = segment_votes(7, sentences=50, links=1)
    for name in ("majority", "hmm", "linked-hmm"):
        model = fitted(name, votes)
        whole = path_labels(model, votes)
        monkeypatch.setattr("trellis.weak.models.walks._PAIRS", 200)
        for one, other in zip(whole, path_labels(model, votes), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
        monkeypatch.undo()


def test_no_sentence_at_all(segment_votes):
    votes, _ = segment_votes(8)
    nodes, pairs = path_labels(fitted("hmm", votes), votes.picked(np.zeros(0, np.int64)))
    assert nodes.shape == (0, 5)
    assert pairs.shape == (0, 5, 5)
