"""Labels that are the best or near them, with what is known about how near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from trellis import CRF, Constraints, SemiCRF
from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.metrics.segments import segments

FEATURES = "word[-1:1] + pos[0]"


def log_scores(model, data, labels):
    """Of labellings, up to a constant for each sentence."""
    own = Corpus({**data.columns, model.target: Corpus.from_lists({"y": labels})["y"]}, data.offsets)
    return model.log_probability(own)


@pytest.mark.parametrize("settings", [{}, {"order": 2}, {"order": 0}, {"encoding": "auto"}])
def test_a_beam_is_never_above_the_best_and_its_gap_holds(corpus, heldout, settings):
    crf = CRF("chunk", FEATURES, tol=1e-2, **settings).fit(corpus)
    best = crf.predict(heldout)
    for width in (1, 2, 100):
        near = crf.predict_near(heldout, beam=width)
        off = log_scores(crf, heldout, best) - log_scores(crf, heldout, [one.labels for one in near])
        assert (off <= np.array([one.gap for one in near]) + 1e-9).all()
    assert [one.labels for one in near] == best
    assert all(one.gap < 1e-9 for one in near)
    assert [(one.labels, one.gap) for one in crf.predict_near(heldout)] == [(labels, 0.0) for labels in best]


@pytest.mark.parametrize("order", [1, 2])
def test_pruning_reports_what_it_may_have_lost(corpus, heldout, order):
    pruned = CRF("chunk", "pos[0]", order=order, prune=0.4, tol=1e-3).fit(corpus)
    near = pruned.predict_near(heldout)
    assert [one.labels for one in near] == pruned.predict(heldout)
    whole = CRF("chunk", "pos[0]", order=order)
    whole.model_ = replace(pruned.model_, pruner=None)
    off = log_scores(whole, heldout, whole.predict(heldout)) - log_scores(whole, heldout, [one.labels for one in near])
    gaps = np.array([one.gap for one in near])
    assert (off <= gaps + 1e-9).all()
    assert (gaps > 0).any()


def test_many_types_once(corpus, heldout):
    kinds = "ABCDEF"
    rng = np.random.default_rng(0)
    words = [[kinds[k] for k in rng.integers(0, 6, n)] for n in rng.integers(1, 9, 40)]
    labels = [[f"B-{word}" if rng.random() < 0.8 else "O" for word in row] for row in words]
    data = Corpus.from_lists({"word": words, "y": labels})
    for model in (CRF("y", "word[0]"), SemiCRF("y", "word[0]", segments="")):
        model.fit(data)
        rule = Constraints(at_most_once=list(kinds))
        near = model.predict_near(data, constraints=rule)
        assert model.predict(data, rule) == [one.labels for one in near]
        for one in near:
            ids = np.array([model.classes_.index(label) for label in one.labels], np.int32)
            found = segments(ids, model.classes_, np.array([0, len(ids)]))[2].tolist()
            assert len(set(found)) == len(found)
        assert sum(one.gap == 0.0 for one in near) > 20
        with pytest.raises(SettingError, match="only the best path can be asked for"):
            model.predict_marginals(data, rule)
        with pytest.raises(SettingError, match="only the best path can be asked for"):
            model.predict_spans(data, constraints=rule)


def test_wrong_widths_are_refused(corpus, heldout):
    crf = CRF("chunk", FEATURES, tol=1e-2).fit(corpus)
    with pytest.raises(SettingError, match="beam is 0"):
        crf.predict_near(heldout, beam=0)
