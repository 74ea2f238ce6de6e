"""What a tagger learns of votes: soft labels, evidence, filters, votes as features, rounds of self-training."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import trellis as tr
from trellis import weak
from trellis.errors import DataError, NotFittedError, SettingError

CITIES = weak.gazetteer(["Lisbon", "Oslo", "Cape Town"], "LOC", name="cities")
TITLES = weak.pattern(r"Ms\. ([A-Z]\w+)", "PER", group=1, name="titles")
SMALL = weak.words(str.islower, "O", name="small")
SENTENCES = [
    "Ms. Silva flew from Lisbon to Oslo .",
    "The harbour of Cape Town is old .",
    "Ms. Berg lives in Porto now .",
    "Nobody came .",
]


@pytest.fixture(scope="module")
def corpus():
    return tr.Corpus.from_lists({"word": [text.split() for text in SENTENCES]})


@pytest.fixture(scope="module")
def votes(corpus):
    return weak.apply([CITIES, TITLES], corpus)


@pytest.fixture(scope="module")
def model(votes):
    return weak.MajorityVote().learn(votes)


class TestSoftLabels:
    def test_soft_are_probabilities_with_pairs(self, model, votes):
        soft = weak.soft_labels(model, votes, learn="soft")
        assert not soft.evidence
        assert soft.labels == list(model.labels_)
        assert all(np.allclose(rows.sum(axis=1), 1.0) for rows in soft.rows)
        assert soft.pairs[1].sum() == pytest.approx(len(SENTENCES[1].split()) - 1)

    def test_hard_are_the_best_labels(self, model, votes):
        soft = weak.soft_labels(model, votes, learn="hard")
        said = [[soft.labels[j] for j in rows.argmax(axis=1)] for rows in soft.rows]
        assert said == model.predict(votes)
        assert all(set(np.unique(rows)) == {0.0, 1.0} for rows in soft.rows)

    def test_of_what_nobody_votes_on_little_is_known(self, model, votes):
        soft = weak.soft_labels(model, votes, silent=0.6)
        assert soft.evidence
        np.testing.assert_allclose(soft.rows[3], [[0.6, 0.1, 0.1, 0.1, 0.1]] * 3)
        unknown = weak.soft_labels(weak.MajorityVote().learn(votes), votes, silent="model")
        assert unknown.rows[3][0, 0] == 1.0

    def test_a_vote_that_is_not_heard_is_none(self, model, corpus):
        other = weak.apply([weak.words(["came"], "ZZZ", name="cities", votes="spans"), TITLES], corpus)
        with pytest.warns(UserWarning, match="ZZZ"):
            soft = weak.soft_labels(model, other, silent=0.6)
        np.testing.assert_allclose(soft.rows[3][1], [0.6, 0.1, 0.1, 0.1, 0.1])

    def test_nothing_that_speaks_for_o_is_warned_of(self, model, votes, corpus):
        with pytest.warns(UserWarning, match="nothing speaks for O anywhere"):
            weak.soft_labels(model, votes, silent="unknown")
        more = weak.apply([CITIES, TITLES, SMALL], corpus)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            weak.soft_labels(weak.MajorityVote().learn(more), more, silent="unknown")

    def test_the_unsure_is_not_known(self, corpus):
        tied = weak.apply([CITIES, weak.gazetteer(["Oslo"], "PER", name="people")], corpus)
        soft = weak.soft_labels(weak.MajorityVote().learn(tied), tied, min_confidence=0.9)
        assert set(soft.rows[0][6].tolist()) == {1.0}  # Oslo
        assert soft.rows[0][4].argmax() == soft.labels.index("B-LOC")  # Lisbon

    def test_of_what_nobody_votes_on_silent_decides(self, votes):
        """However unsure of it the label model is."""
        model = weak.Generative().learn(votes)
        sure = model.probabilities(votes).max(axis=1)
        limit = float((sure[~votes.fired].max() + sure[votes.fired].max()) / 2)
        assert sure[~votes.fired].max() < limit < sure[votes.fired].max()
        with pytest.warns(UserWarning, match="nothing speaks for B-LOC, B-PER in what"):
            soft = weak.soft_labels(model, votes, min_confidence=limit)
        np.testing.assert_allclose(soft.rows[3], [[0.8, 0.05, 0.05, 0.05, 0.05]] * 3)
        with pytest.warns(UserWarning, match="nothing speaks for"):
            model_says = weak.soft_labels(model, votes, silent="model", min_confidence=limit)
        assert set(model_says.rows[3].ravel().tolist()) == {1.0}

    def test_labels_of_which_nothing_is_left_are_warned_of(self, corpus, votes, model):
        tied = weak.apply([TITLES, weak.gazetteer(["Lisbon"], "LOC"), weak.gazetteer(["Lisbon"], "ORG")], corpus)
        believed = weak.MajorityVote().learn(tied)
        with pytest.warns(UserWarning, match="nothing speaks for B-LOC in what min_confidence and keep leave"):
            weak.soft_labels(believed, tied, min_confidence=0.9)
        items = weak.Votes.of_items([["HAM", "HAM"], ["SPAM", "HAM"], ["SPAM", "HAM"]], ["HAM", "SPAM"])
        surest = weak.MajorityVote().learn(items)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            weak.soft_labels(surest, items, keep=0.4)
            weak.soft_labels(model, votes, keep=0.75, min_confidence=0.5)
        one = weak.Votes.of_items([["HAM", "HAM"], ["SPAM", "HAM"], ["SPAM", None]], ["HAM", "SPAM"])
        with pytest.warns(UserWarning, match="nothing speaks for SPAM in what"):
            weak.soft_labels(weak.MajorityVote().learn(one), one, keep=0.3)

    def test_the_surest_sentences_are_kept(self, corpus):
        tied = weak.apply([CITIES, weak.gazetteer(["Oslo"], "PER", name="people")], corpus)
        soft = weak.soft_labels(weak.MajorityVote().learn(tied), tied, keep=0.75)
        assert soft.weights.tolist() == [0.0, 1.0, 1.0, 1.0]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"learn": "hardly"}, "learn is 'hardly'; expected soft, evidence or hard"),
            ({"silent": 2.0}, "silent is 2.0; expected model, unknown, or a number between 0 and 1"),
            ({"silent": "no"}, "silent is 'no'"),
            ({"keep": 0.0}, "keep is 0, which leaves nothing"),
            ({"keep": True}, "keep is True; expected a number from 0 to 1"),
            ({"min_confidence": 1.5}, "min_confidence is 1.5"),
            ({"learn": "soft", "silent": 0.5}, "silent is for learn='evidence'"),
            ({"learn": "hard", "min_confidence": 0.5}, "min_confidence is for learn='evidence'"),
        ],
    )
    def test_settings_that_do_not_fit(self, model, votes, settings, message):
        with pytest.raises(SettingError, match=message):
            weak.soft_labels(model, votes, **settings)

    def test_o_of_labels_that_have_none(self):
        items = weak.Votes.of_items([["HAM"], ["SPAM"], [None]], ["HAM", "SPAM"])
        model = weak.MajorityVote().learn(items)
        assert weak.soft_labels(model, items).rows[2].tolist() == [[0.5, 0.5]]
        with pytest.raises(SettingError, match="these labels have no O"):
            weak.soft_labels(model, items, learn="evidence", silent=0.8)

    def test_for_estimators_that_know_weights_only(self):
        items = weak.Votes.of_items([["HAM"], ["SPAM"], [None]], ["HAM", "SPAM"])
        soft = weak.soft_labels(weak.MajorityVote().learn(items), items)
        which, labels, weight = soft.repeated()
        assert which.tolist() == [0, 1, 2, 2]
        assert labels == ["HAM", "SPAM", "HAM", "SPAM"]
        assert weight.tolist() == [1.0, 1.0, 0.5, 0.5]

    def test_pairs_where_a_model_says_more_than_of_tokens_alone(self, corpus):
        plain = weak.apply(
            [weak.words(["of", "to", "in"], "IN", name="in"), weak.words(str.istitle, "NN", name="n")], corpus
        )
        assert weak.soft_labels(weak.MajorityVote().learn(plain), plain, learn="soft").pairs is None
        assert weak.soft_labels(weak.HMMAggregator().learn(plain), plain, learn="soft").pairs is not None

    def test_nobody_is_that_sure(self, votes):
        model = weak.DawidSkene().learn(votes)
        with pytest.raises(
            SettingError,
            match=r"min_confidence is 1, but where there are votes the label model is nowhere surer than 0\.\d+;",
        ):
            weak.soft_labels(model, votes, min_confidence=1)

    def test_models_that_are_not_fitted(self, votes):
        with pytest.raises(NotFittedError, match="has learnt nothing yet"):
            weak.soft_labels(weak.MajorityVote(), votes)


class TestVotesAsColumns:
    def test_there_and_back(self, corpus, votes):
        with_votes = weak.with_votes(corpus, votes)
        assert list(with_votes.columns) == ["word", "lf:cities", "lf:titles"]
        again = weak.votes_of(with_votes)
        assert (again.values == votes.values).all()

    def test_links_too(self, corpus):
        linked = weak.apply([CITIES, weak.linked(CITIES, name="together")], corpus)
        again = weak.votes_of(weak.with_votes(corpus, linked))
        assert (again.links == linked.links).all()

    def test_features_read_them(self, corpus, votes):
        features = weak.vote_features(weak.with_votes(corpus, votes), window=0)
        assert len(features.templates(["word", "lf:cities", "lf:titles"])) == 2

    def test_what_does_not_fit(self, corpus, votes):
        with pytest.raises(SettingError, match="no column has votes: the columns are word"):
            weak.vote_features(corpus)
        with pytest.raises(SettingError, match="window is -1"):
            weak.vote_features(["lf:a"], window=-1)
        with pytest.raises(DataError, match="do not fit a corpus of 6"):
            weak.with_votes(tr.Corpus.from_lists({"word": [["a"] * 6]}), votes)
        with pytest.raises(SettingError, match="a column 'lf:cities' already"):
            weak.with_votes(weak.with_votes(corpus, votes), votes)


class TestTeach:
    def test_a_tagger_learns_from_votes(self, corpus, model, votes):
        crf = weak.teach(tr.CRF("label", "word[-1:1]", l2=0.01), corpus, model, votes)
        assert crf.predict(corpus)[0][4] == "B-LOC"

    def test_every_way_and_rounds(self, corpus, model, votes):
        for learn in ("soft", "evidence", "hard"):
            crf = weak.teach(tr.CRF("label", "word[-1:1]", l2=0.1), corpus, model, votes, learn=learn, rounds=1)
            assert crf.predict(corpus)[0][4] == "B-LOC"

    def test_rounds_make_it_surer_of_what_nobody_votes_on(self, corpus, model, votes):
        sure = []
        for rounds in range(3):
            crf = weak.teach(tr.CRF("label", "word[-2:2]", l2=0.5), corpus, model, votes, silent=0.5, rounds=rounds)
            sure.append(np.concatenate(crf.predict_marginals(corpus))[~votes.fired].max(axis=1).mean())
        assert sure[0] + 0.01 < sure[1] < sure[2]

    def test_segments_learn_the_best_labels_of_the_surest_sentences(self, corpus, model, votes):
        crf = weak.teach(tr.SemiCRF("label", "word[-1:1]"), corpus, model, votes, learn="hard", keep=0.5)
        assert "B-LOC" in crf.classes_

    def test_no_sentences(self, model, votes):
        soft = weak.soft_labels(model, votes.picked(np.zeros(0, np.int64)))
        assert (len(soft), soft.columns([])["text"]) == (0, [])

    def test_pairs_that_would_take_too_much_memory_are_left_out(self, model, votes, monkeypatch):
        monkeypatch.setattr("trellis.weak.believing.MOST_PAIRS", 10)
        with pytest.warns(UserWarning, match="pairs of labels are would take .* tokens are taken to be independent"):
            soft = weak.soft_labels(model, votes, learn="soft")
        assert soft.pairs is None

    def test_votes_as_features(self, corpus, model, votes):
        seen = weak.with_votes(corpus, votes)
        crf = weak.teach(tr.CRF("label", weak.vote_features(seen), l2=0.01), seen, model, votes)
        unknown = tr.Corpus.from_lists(
            {"word": [["in", "Quito", "."]], "lf:cities": [["_", "B-LOC", "_"]], "lf:titles": [["_"] * 3]}
        )
        assert crf.predict(unknown) == [["O", "B-LOC", "O"]]

    def test_arguments_in_another_order_and_unknown_names(self, corpus, model, votes):
        with pytest.raises(SettingError, match="the model is a Votes; expected a fitted label model"):
            weak.soft_labels(votes, model)
        for learn in (None, "hard"):
            with pytest.raises(SettingError, match="the model is a Votes; expected a fitted label model"):
                weak.teach(tr.CRF(), corpus, votes, model, learn=learn)
        with pytest.raises(DataError, match="votes are of the type NoneType; expected Votes"):
            weak.teach(tr.CRF(), corpus, model, None)
        with pytest.raises(SettingError, match="least is 'a'; expected a number from 0 to 1"):
            weak.soft_labels(model, votes).repeated(least="a")
        with pytest.raises(SettingError, match="'round' is no setting of teach, which has learn, silent"):
            weak.teach(tr.CRF(), corpus, model, votes, round=1)
        for other in ("x", tr.CRF):
            with pytest.raises(SettingError, match="cannot be taught; expected a tagger"):
                weak.teach(other, corpus, model, votes)
        for other in (LogisticRegression(), tr.Cascade([tr.Stage("label", "word[0]")])):
            with pytest.raises(SettingError, match=r"cannot be taught; expected one tagger .*soft_labels"):
                weak.teach(other, corpus, model, votes, learn="hard")
        with pytest.raises(DataError, match=r"votes on 4 sentences \(items\), and data of 2"):
            weak.teach(tr.CRF("label", "word[0]"), corpus.slice(0, 2), model, votes)
        with pytest.raises(SettingError, match=r"expected a Corpus and the Votes on it .* found Votes and Corpus"):
            weak.with_votes(votes, corpus)
        with pytest.raises(SettingError, match=r"expected a corpus .see with_votes., or the names"):
            weak.vote_features(votes)
        with pytest.raises(SettingError, match="expected a corpus, a list of texts, or one of lists of tokens"):
            weak.soft_labels(model, votes).columns(votes)

    def test_lists_of_tokens_have_columns_too(self, corpus, model, votes):
        soft = weak.soft_labels(model, votes)
        assert soft.columns(corpus.sentences("word")) == soft.columns(corpus)
        with pytest.raises(SettingError, match="silent is "):
            weak.soft_labels(model, votes, silent=np.array([0.5, 0.5]))

    def test_rounds_keep_no_checkpoint(self, corpus, model, votes, tmp_path):
        with pytest.raises(SettingError, match="several rounds keeps no checkpoint"):
            weak.teach(tr.CRF(), corpus, model, votes, rounds=1, checkpoint=tmp_path)

    def test_rounds_that_are_none(self, corpus, model, votes):
        with pytest.raises(SettingError, match="rounds is -1"):
            weak.teach(tr.CRF("label", "word[0]"), corpus, model, votes, rounds=-1)

    def test_who_knows_no_soft_labels_learns_from_the_best(self, corpus, model, votes):
        for tagger in (tr.HMM("label"), tr.StructuredPerceptron("label", "word[-1:1]"), tr.SemiCRF("label", "word[0]")):
            found = weak.teach(tagger, corpus, model, votes, learn="hard")
            assert {"B-LOC", "B-PER", "I-LOC", "O"} <= set(found.classes_)
        with pytest.raises(SettingError, match="a HMM learns from certain labels only; give learn='hard' alone"):
            weak.teach(tr.HMM("label"), corpus, model, votes)
        with pytest.raises(SettingError, match="a StructuredSVM learns from certain labels only; give learn='hard'"):
            weak.teach(tr.StructuredSVM("label"), corpus, model, votes)
        with pytest.raises(SettingError, match="a StructuredPerceptron needs one label for each token; use a CRF"):
            tr.StructuredPerceptron("label").fit(corpus, soft=weak.soft_labels(model, votes))
