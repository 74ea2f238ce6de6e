"""Hidden Markov models from end to end: counts, unknown words, raw text, files."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

import trellis as tr
from trellis import HMM
from trellis.errors import DataError, NoLegalPathError, SettingError

WORDS = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sees", "the", "dog"]]
TAGS = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V", "D", "N"]]


@pytest.fixture(scope="module", params=[1, 2])
def fitted(request, corpus):
    return HMM(target="pos", order=request.param).fit(corpus)


def saved(model, folder, name="m"):
    model.save(folder / name)
    return (folder / name).read_bytes()


class TestCounting:
    def test_probabilities_are_shares_of_counts(self):
        tables = HMM(smoothing=0).fit(WORDS, TAGS).model_.tables
        assert tables.first.tolist() == [1, 0, 0]
        assert tables.stop.tolist() == pytest.approx([0, 1 / 4, 2 / 3])
        assert tables.follow[1].tolist() == pytest.approx([0, 0, 3 / 4])

    def test_the_objective_is_minus_the_log_likelihood(self):
        model = HMM(smoothing=0).fit(WORDS, TAGS)
        nouns, verbs = 3 * np.log(3 / 4) + np.log(1 / 4), 2 * np.log(2 / 3) + np.log(1 / 3)
        emitted = 3 * np.log(3 / 4) + np.log(1 / 4) + 3 * np.log(3 / 4) + np.log(1 / 4) + 3 * np.log(1 / 3)
        assert model.objective_ == pytest.approx(-(nouns + verbs + emitted))
        assert (model.converged_, model.iterations_) == (True, 0)

    def test_a_weight_of_two_is_as_if_given_twice(self):
        twice = HMM().fit([*WORDS, WORDS[0]], [*TAGS, TAGS[0]])
        weighted = HMM().fit(WORDS, TAGS, sample_weight=[2, 1, 1])
        assert weighted.model_.events.vector.tolist() == twice.model_.events.vector.tolist()
        for rare in (1, 2):
            one = HMM(rare=rare).fit([*WORDS, WORDS[0]], [*TAGS, TAGS[0]])
            other = HMM(rare=rare).fit(WORDS, TAGS, sample_weight=[2, 1, 1])
            asked = [["a", "zebra", "runs"]]
            assert other.predict_marginals(asked)[0].tolist() == one.predict_marginals(asked)[0].tolist()

    @pytest.mark.parametrize("order", [1, 2])
    def test_a_weight_of_none_is_as_if_not_given(self, order):
        without = HMM(order=order).fit(WORDS[:2], TAGS[:2])
        weighted = HMM(order=order).fit(WORDS, TAGS, sample_weight=[1, 1, 0])
        asked = [["the", "cat", "sees", "the", "zebra"], ["sees"]]
        assert weighted.predict(asked) == without.predict(asked)
        assert weighted.objective_ == pytest.approx(without.objective_)

    @pytest.mark.parametrize("settings", [{"smoothing": 1e308}, {"smoothing": 1e-300, "order": 2}])
    def test_extreme_smoothing_is_explained(self, settings):
        with pytest.raises(DataError, match="are smoothing or weights extreme"):
            HMM(**settings).fit(WORDS, TAGS)

    def test_what_can_be_learnt_is_learnt(self, fitted, heldout):
        assert fitted.score(heldout) > 0.95
        assert sorted(fitted.classes_) == [".", "DT", "JJ", "NN", "VB"]

    def test_only_the_words_are_looked_at(self, corpus, heldout):
        model = HMM(target="pos").fit(corpus)
        bare = tr.Corpus.from_lists({"word": heldout.sentences("word")})
        assert model.predict(bare) == model.predict(heldout)

    def test_the_column_of_the_words_can_be_named(self, corpus):
        by_pos = HMM(target="chunk", words="pos").fit(corpus)
        assert by_pos.model_.column == "pos"
        with pytest.raises(SettingError, match="words is 'form'; the columns are: word, pos, chunk"):
            HMM(target="chunk", words="form").fit(corpus)
        renamed = tr.Corpus.from_lists({"form": WORDS, "lemma": WORDS, "tag": TAGS})
        with pytest.raises(
            SettingError, match=r"which column has the words\? Beside the target there are: .*`words` \(--options"
        ):
            HMM(target="tag").fit(renamed)

    def test_without_smoothing_what_was_never_seen_has_no_path(self):
        with pytest.raises(NoLegalPathError, match="sentence 1"):
            HMM(smoothing=0).fit(WORDS, TAGS).predict([["dog", "the"]])
        assert HMM().fit(WORDS, TAGS).predict([["dog", "the"]]) == [["N", "D"]]


class TestUnknownWords:
    def test_endings_and_shapes_tell_labels(self):
        X = [[w] for w in "walking talking running London Paris Berlin 12 47 99 tables chairs lamps".split()]
        y = [[label] for label in "VBG VBG VBG NNP NNP NNP CD CD CD NNS NNS NNS".split()]
        model = HMM(smoothing=1).fit(X, y)
        asked = [["singing"], ["Rome"], ["31"], ["sofas"]]
        assert model.predict(asked) == [["VBG"], ["NNP"], ["CD"], ["NNS"]]

    def test_without_classes_labels_are_as_frequent_as_among_rare_words(self, corpus):
        model = HMM(target="pos", suffix=0).fit(corpus)
        assert model.model_.features.attributes == model.model_.vocabulary.words
        assert model.predict([["zzz"]])[0][0] in model.classes_


class TestRawText:
    def test_it_helps_where_labels_are_few(self, make_corpus):
        few, raw, test = make_corpus(2, 1), make_corpus(200, 2), make_corpus(50, 3)
        alone = HMM(target="pos", smoothing=1, suffix=0).fit(few)
        helped = HMM(target="pos", smoothing=1, suffix=0).fit(few, raw=raw)
        assert helped.iterations_ == 3
        assert helped.converged_
        assert helped.score(test) > alone.score(test)

    def test_words_of_the_raw_text_are_known_then(self, corpus):
        raw = [["the", "zebra", "likes", "Ann"], ["a", "zebra", "finds", "the", "zebra", "."]]
        model = HMM(target="pos").fit(corpus, raw=raw)
        assert "zebra" in {name.split(":")[1] for name in model.model_.features.names()}
        assert model.predict([["the", "zebra", "sees", "Ann"]])[0][1] == "NN"

    def test_labels_of_known_words_stay_those_that_were_seen(self, corpus):
        model = HMM(target="pos", steps=5).fit(corpus, raw=[["the", "dog", "dog"]] * 20)
        assert model.predict([["dog", "dog", "the"]]) == [["NN", "NN", "DT"]]

    def test_development_data_choose_the_step(self, make_corpus):
        few, raw, dev = make_corpus(4, 1), make_corpus(100, 2), make_corpus(50, 3)
        seen = []
        model = HMM(target="pos", steps=20).fit(few, raw=raw, dev=dev, progress=lambda now: seen.append(now.dev_score))
        assert model.dev_score_ == pytest.approx(max(*seen, HMM(target="pos").fit(few).score(dev)), abs=0.02)
        assert model.score(dev) == pytest.approx(model.dev_score_)

    def test_states_are_learnt_from_text_alone(self, make_corpus):
        text, values = make_corpus(150, 4), []
        model = HMM(target="state", states=4, seed=1).fit(text, progress=lambda now: values.append(now.objective))
        assert model.classes_ == ["S1", "S2", "S3", "S4"]
        assert all(b <= a + 1e-9 * abs(a) for a, b in pairwise(values))
        assert model.converged_
        labels = model.predict([["the", "dog", "sees", "a", "cat", "."]])[0]
        assert labels[0] == labels[3]  # the, a
        assert labels[1] == labels[4]  # dog, cat

    def test_states_depend_on_the_seed_alone(self, make_corpus, tmp_path):
        text = make_corpus(40, 4)
        one, same, other = (
            HMM(states=3, seed=seed, max_iter=500, threads=threads).fit(text)
            for seed, threads in ((1, 1), (1, 2), (2, 1))
        )
        assert saved(one, tmp_path) == saved(same, tmp_path)
        assert one.objective_ != other.objective_

    def test_a_killed_run_goes_on_to_the_same_bytes(self, make_corpus, tmp_path):
        few, raw = make_corpus(4, 1), make_corpus(60, 2)
        settings = {"target": "pos", "steps": 6}
        whole = HMM(**settings).fit(few, raw=raw)

        def stop(now):
            if now.iteration == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            HMM(**settings).fit(few, raw=raw, checkpoint=tmp_path / "run", progress=stop)
        again = HMM(**settings, threads=1).fit(few, raw=raw, checkpoint=tmp_path / "run", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_other_raw_text_does_not_go_on_from_a_checkpoint(self, make_corpus, tmp_path):
        few = make_corpus(4, 1)
        HMM(target="pos").fit(few, raw=make_corpus(20, 2), checkpoint=tmp_path)
        with pytest.raises(tr.TrellisError, match="was made with other features or from other training data"):
            HMM(target="pos").fit(few, raw=make_corpus(20, 5), checkpoint=tmp_path, resume=True)


class TestManyLabels:
    def test_labels_that_words_have_are_gone_through_and_the_answer_is_the_same(self):
        rng = np.random.default_rng(0)
        X = [[f"w{rng.integers(60)}" for _ in range(8)] for _ in range(80)]
        y = [[f"L{(int(word[1:]) * 7 + rng.integers(3)) % 150}" for word in row] for row in X]
        model = HMM().fit(X, y)
        assert len(model.classes_) > 128
        asked = [*X[:20], ["new", "w3", "newer"]]
        best = [paths[0].log_probability for paths in model.predict_kbest(asked, k=1)]
        assert model.log_probability(asked, model.predict(asked)) == pytest.approx(best)


class TestAnswers:
    def test_marginals_and_kbest_and_samples(self, fitted, heldout):
        nodes = fitted.predict_marginals(heldout)
        assert all(np.allclose(row.sum(axis=1), 1.0) for row in nodes)
        best = fitted.predict_kbest(heldout, k=3)
        assert [paths[0].labels for paths in best] == fitted.predict(heldout)
        assert fitted.log_probability(heldout, fitted.predict(heldout)) == pytest.approx(
            [paths[0].log_probability for paths in best]
        )
        assert len(fitted.sample(heldout, count=2)[0]) == 2
        assert np.all(fitted.entropy(heldout) >= 0)

    def test_chunks_have_spans(self, corpus, heldout):
        spans = HMM(target="chunk").fit(corpus).predict_spans(heldout)
        assert {span.type for row in spans for span in row} == {"NP", "VP"}

    def test_constraints_hold(self, fitted):
        new = [["the", "zzz", "zzz", "."]]
        assert "NN" in fitted.predict(new)[0]
        ban = tr.Constraints(penalties={"NN": -np.inf})
        assert "NN" not in fitted.predict(new, constraints=ban)[0]

    @pytest.mark.parametrize("token", ["dog", ["dog"], {"word": "dog", "more": 1}])
    def test_lists_may_have_tokens_of_several_kinds(self, token):
        assert HMM().fit(WORDS, TAGS).predict([["the", token]]) == [["D", "N"]]

    def test_what_is_no_word_is_refused(self):
        with pytest.raises(DataError, match=r"sentence 1, token 2: \['a', 'b'\] is no word; expected a string, a dict"):
            HMM().fit(WORDS, TAGS).predict([["the", ["a", "b"]]])

    def test_no_sentences_and_empty_ones(self, fitted):
        assert fitted.predict([]) == []
        assert fitted.predict([[], ["the"], []]) == [[], ["DT"], []]


class TestFiles:
    def test_a_model_file_gives_it_all_back(self, fitted, heldout, tmp_path):
        fitted.save(tmp_path / "m")
        again = tr.load(tmp_path / "m")
        assert again.get_params() == {**fitted.get_params(), "threads": None}
        assert saved(again, tmp_path, "n") == (tmp_path / "m").read_bytes()
        assert again.predict(heldout) == fitted.predict(heldout)
        assert np.array_equal(
            np.concatenate(again.predict_marginals(heldout)), np.concatenate(fitted.predict_marginals(heldout))
        )

    def test_pickles(self, fitted, heldout):
        assert pickle.loads(pickle.dumps(fitted)).predict(heldout) == fitted.predict(heldout)

    def test_after_em_too(self, make_corpus, tmp_path):
        model = HMM(target="pos", order=2).fit(make_corpus(4, 1), raw=make_corpus(30, 2))
        model.save(tmp_path / "m")
        test = make_corpus(20, 3)
        assert tr.load(tmp_path / "m").predict(test) == model.predict(test)


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"order": 3}, "order is 3; an HMM has order 1 or 2"),
            ({"smoothing": -1}, "smoothing is -1; expected a number >= 0"),
            ({"suffix": 21}, "suffix is 21; expected a whole number from 0 to 20"),
            ({"rare": 0}, "rare is 0; expected a whole number >= 1"),
            ({"states": 1}, "states is 1; expected a whole number from 2 to 4096, or None"),
            ({"raw_weight": 0}, "raw_weight is 0; expected a number > 0"),
            ({"steps": 0}, "steps is 0; expected a whole number >= 1, or None"),
        ],
    )
    def test_settings_out_of_range(self, settings, message):
        with pytest.raises(SettingError, match=message):
            HMM(**settings).fit(WORDS, TAGS)

    def test_states_and_labels(self):
        with pytest.raises(SettingError, match="with `states` there is text alone"):
            HMM(states=3).fit(WORDS, TAGS)

    def test_labels_that_are_not_known(self):
        with pytest.raises(SettingError, match="needs one label for each token; give what has none as raw text"):
            HMM().fit(WORDS, [["D", None, "V"], *TAGS[1:]])

    def test_order_two_with_too_many_labels(self):
        X, y = [[f"w{k}" for k in range(300)]], [[f"L{k}" for k in range(300)]]
        with pytest.raises(SettingError, match="300 labels are too many for order 2, which has room for 256"):
            HMM(order=2).fit(X, y)

    def test_nothing_to_learn_from(self):
        with pytest.raises(DataError, match="there is no token to learn from"):
            HMM().fit([], [])
        with pytest.raises(DataError, match="there is no token to learn from"):
            HMM(states=2).fit([[]])
