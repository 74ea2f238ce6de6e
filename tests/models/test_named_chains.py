"""Chains under other names than CRF: they are trained as a CRF with those settings is, and keep what they are."""

from __future__ import annotations

import numpy as np
import pytest

import trellis as tr
from trellis.errors import SettingError

FEATURES = "word[-1:1] + pos[0]"
NAMED = {
    tr.LocalClassifier: ({"l2": 0.2}, {"l2": 0.2, "order": 0}),
    tr.StructuredPerceptron: ({"epochs": 3}, {"optimizer": "perceptron", "options": {"epochs": 3}}),
    tr.StructuredSVM: (
        {"epochs": 3, "l2": 0.5},
        {"optimizer": "bcfw", "options": {"epochs": 3}, "l2": 0.5, "tol": 1e-2},
    ),
}
each = pytest.mark.parametrize(
    ("kind", "own", "same"), [(k, *v) for k, v in NAMED.items()], ids=[k.__name__ for k in NAMED]
)
ignoring = pytest.mark.filterwarnings("ignore::trellis.errors.ConvergenceWarning")


@ignoring
@each
def test_it_is_the_crf_with_those_settings(kind, own, same, corpus):
    named = kind(target="chunk", features=FEATURES, **own).fit(corpus)
    crf = tr.CRF(target="chunk", features=FEATURES, **same).fit(corpus)
    assert named.model_.weights.tolist() == crf.model_.weights.tolist()
    assert named.objective_ == crf.objective_


@ignoring
@each
def test_a_model_file_says_what_it_is(kind, own, same, corpus, heldout, tmp_path):
    named = kind(target="chunk", features=FEATURES, **own).fit(corpus)
    named.save(tmp_path / "m")
    again = tr.load(tmp_path / "m")
    assert type(again) is kind
    assert again.get_params() == {**named.get_params(), "threads": None}
    assert again.predict(heldout) == named.predict(heldout)


@ignoring
@each
def test_training_goes_on_from_a_checkpoint(kind, own, same, corpus, tmp_path):
    def stop(now):
        if now.iteration == 2:
            raise KeyboardInterrupt

    model = kind(target="chunk", features=FEATURES, **own)
    with pytest.raises(KeyboardInterrupt):
        model.fit(corpus, checkpoint=tmp_path, progress=stop)
    again = model.fit(corpus, checkpoint=tmp_path, resume=True)
    whole = kind(target="chunk", features=FEATURES, **own).fit(corpus)
    assert again.model_.weights.tolist() == whole.model_.weights.tolist()


@ignoring
@pytest.mark.parametrize("kind", [tr.StructuredPerceptron, tr.StructuredSVM])
def test_scores_are_no_probabilities(kind, corpus):
    model = kind(target="chunk", features=FEATURES, epochs=2).fit(corpus)
    for ask in ("predict_marginals", "predict_kbest", "predict_spans", "sample", "entropy", "log_probability"):
        with pytest.raises(SettingError, match=f"a {kind.__name__} has scores but no probabilities"):
            getattr(model, ask)(corpus)
    ban = tr.Constraints(penalties={"B-VP": -np.inf})
    assert not any("B-VP" in row for row in model.predict(corpus, constraints=ban))


class TestScoredHMM:
    def test_no_score_sees_a_neighbouring_word(self, corpus):
        model = tr.ScoredHMM(target="chunk", features="word[-2:2] + pos[0] + (pos[-1] & pos[0])").fit(corpus)
        assert [template.text for template in model.model_.features.templates] == [
            "U:word[0]=%x[0,word]",
            "U:pos[0]=%x[0,pos]",
        ]

    def test_it_has_transitions(self, corpus):
        assert len(tr.ScoredHMM(target="chunk", features="word[0]").fit(corpus).model_.layout.source)

    def test_it_beats_counting_where_words_mislead(self, corpus, heldout):
        scored = tr.ScoredHMM(target="chunk", features="word[0]", l2=0.1).fit(corpus)
        counted = tr.HMM(target="chunk").fit(corpus)
        assert scored.score(heldout) >= counted.score(heldout) - 0.02

    def test_features_of_neighbours_alone_are_too_few(self, corpus):
        with pytest.raises(tr.TrellisError, match="the features find nothing in the training data"):
            tr.ScoredHMM(target="chunk", features="word[1]").fit(corpus)

    def test_it_is_loaded_as_what_it_is(self, corpus, heldout, tmp_path):
        model = tr.ScoredHMM(target="chunk", features=FEATURES).fit(corpus)
        model.save(tmp_path / "m")
        again = tr.load(tmp_path / "m")
        assert type(again) is tr.ScoredHMM
        assert again.predict(heldout) == model.predict(heldout)
        assert again.fit(corpus).model_.weights.tolist() == model.model_.weights.tolist()


def test_any_chain_begins_with_the_weights_of_another(corpus):
    local = tr.LocalClassifier(target="chunk", features=FEATURES).fit(corpus)
    warm = tr.CRF(target="chunk", features=FEATURES).fit(corpus, start=local)
    cold = tr.CRF(target="chunk", features=FEATURES).fit(corpus)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-4)
