"""k best labellings, spans with their probability, and the probability of given labels."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from trellis import CRF, KernelPerceptron, NeuralCRF, SemiCRF
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.metrics.segments import segment_types, segments

FEATURES = "word[-1:1] + pos[0]"
MODELS = {
    "order 0": lambda: CRF("chunk", FEATURES, order=0),
    "order 1": lambda: CRF("chunk", FEATURES),
    "order 2": lambda: CRF("chunk", FEATURES, order=2),
    "pruned": lambda: CRF("chunk", FEATURES, order=2, prune=0.01),
    "tag dictionary": lambda: CRF("chunk", FEATURES, tag_dictionary=3),
    "arcs": lambda: CRF("chunk", FEATURES + " + transitions(pos[0])"),
    "segments": lambda: SemiCRF("chunk", FEATURES, segments="surface + length", longest=3),
    "neural": lambda: NeuralCRF("chunk", FEATURES, embedding=8, letters=4, filters=4, hidden=6, epochs=2),
    "neural, order 2": lambda: NeuralCRF("chunk", FEATURES, embedding=8, hidden=6, epochs=2, order=2),
}


@pytest.fixture(scope="module", params=MODELS)
def crf(request, corpus):
    # weak features and few iterations: probabilities that are no 0 and 1
    model = MODELS[request.param]().set_params(l2=5.0)
    return model.fit(corpus)


@pytest.fixture(scope="module")
def short(heldout):
    """Sentences of up to four tokens."""
    return [s for s, length in enumerate(np.diff(heldout.offsets)) if length <= 4]


def rows_of(corpus, column):
    values = corpus[column].values()
    return [values[a:b] for a, b in pairwise(corpus.offsets.tolist())]


def listed(crf, tokens, corpus, s):
    """All labellings of a sentence with their probabilities, one by one."""
    paths = [list(labels) for labels in product(crf.classes_, repeat=tokens)]
    from trellis.corpus import Corpus

    words, pos = (rows_of(corpus, column)[s] for column in ("word", "pos"))
    many = Corpus.from_lists({"word": [words] * len(paths), "pos": [pos] * len(paths), "chunk": paths})
    return paths, np.exp(crf.log_probability(many))


def test_probabilities_of_all_labellings_sum_to_one_and_the_best_come_first(crf, heldout, short):
    best = crf.predict_kbest(heldout, k=4)
    for s in short[:3]:
        tokens = int(np.diff(heldout.offsets)[s])
        paths, p = listed(crf, tokens, heldout, s)
        assert p.sum() == pytest.approx(1.0)
        order = np.argsort(-p)
        np.testing.assert_allclose([np.exp(path.log_probability) for path in best[s]], p[order[:4]], atol=1e-9)
        for path in best[s]:
            assert p[paths.index(path.labels)] == pytest.approx(np.exp(path.log_probability), abs=1e-9)
    assert [row[0].labels for row in best] == crf.predict(heldout)


def test_spans_have_the_probability_of_all_labellings_with_them(crf, heldout, short):
    spans, everything = crf.predict_spans(heldout), crf.predict_candidates(heldout, 0.01)
    kinds = segment_types(crf.classes_)
    predicted = crf.predict(heldout)
    for s in short[:3]:
        tokens = int(np.diff(heldout.offsets)[s])
        paths, p = listed(crf, tokens, heldout, s)
        expected, mine = {}, {}
        for path, probability in zip(paths, p, strict=True):
            ids = np.array([crf.classes_.index(label) for label in path])
            for start, end, kind in zip(*segments(ids, crf.classes_, np.array([0, tokens])), strict=True):
                key = (int(start), int(end), kinds[kind])
                expected[key] = expected.get(key, 0.0) + probability
                if path == predicted[s]:
                    mine[key] = None
        assert [span[:3] for span in spans[s]] == sorted(mine)
        for span in [*spans[s], *everything[s]]:
            assert span.probability == pytest.approx(expected[span[:3]], abs=1e-8)
        assert {span[:3] for span in everything[s]} >= {key for key, q in expected.items() if q > 0.01 + 1e-9}


def test_spans_below_a_confidence_are_left_out(crf, heldout):
    spans, sure = crf.predict_spans(heldout), crf.predict_spans(heldout, min_confidence=0.7)
    assert [[span for span in row if span.probability >= 0.7] for row in spans] == sure


def test_threads_and_batches_change_nothing(crf, heldout, monkeypatch):
    before = crf.predict_spans(heldout), crf.predict_kbest(heldout, 2)
    log_p = crf.log_probability(heldout)
    monkeypatch.setattr("trellis.models.batches._BATCH", 20)
    assert [[span[:3] for span in row] for row in crf.predict_spans(heldout)] == [
        [x[:3] for x in row] for row in before[0]
    ]
    assert [[path.labels for path in row] for row in crf.predict_kbest(heldout, 2)] == [
        [path.labels for path in row] for row in before[1]
    ]
    np.testing.assert_allclose(crf.log_probability(heldout), log_p, atol=1e-9)


def test_what_cannot_be_asked(corpus, heldout):
    tagger = CRF("pos", "word[0]").fit(corpus)
    with pytest.raises(SettingError, match="no segments"):
        tagger.predict_spans(heldout)
    with pytest.raises(SettingError, match="whole number"):
        tagger.predict_kbest(heldout, 0)
    with pytest.raises(SettingError, match="above 0"):
        tagger.predict_candidates(heldout, 0.0)
    with pytest.raises(DataError, match="XX"):
        tagger.log_probability(heldout, [["XX"] * n for n in np.diff(heldout.offsets)])
    with pytest.raises(SettingError, match="no probabilities"):
        KernelPerceptron("pos", "word[0]", epochs=1).fit(corpus).predict_kbest(heldout)


@pytest.mark.parametrize("make", [lambda: CRF("chunk", FEATURES), lambda: CRF("chunk", FEATURES, order=2),
                                  lambda: SemiCRF("chunk", FEATURES, segments="")])  # fmt: skip
def test_entropy_samples_and_posteriors_equal_enumeration(corpus, heldout, make):
    model = make().fit(corpus)
    short = Corpus.from_lists({name: [row[:3] for row in heldout.sentences(name)[:3]] for name in ("word", "pos")})
    paths = model.predict_kbest(short, 10_000)
    entropy = [-sum(np.exp(one.log_probability) * one.log_probability for one in own) for own in paths]
    np.testing.assert_allclose(model.entropy(short), entropy, atol=1e-9)
    drawn = model.sample(short, 4000, seed=3)
    assert drawn == model.sample(short, 4000, seed=3)
    marginals = model.predict_marginals(short)
    for own, found, rows, best in zip(paths, drawn, marginals, model.predict_posterior(short), strict=True):
        for one in own[:3]:
            assert abs(found.count(one.labels) / 4000 - np.exp(one.log_probability)) < 0.04

        def right(labels, rows=rows):
            return sum(row[model.classes_.index(label)] for row, label in zip(rows, labels, strict=True))

        assert right(best) == pytest.approx(max(right(one.labels) for one in own))
    for wrong in ({"count": 0}, {"count": "a"}, {"seed": -1}):
        with pytest.raises(SettingError):
            model.sample(short, **wrong)
