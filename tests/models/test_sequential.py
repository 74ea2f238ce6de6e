"""Sequential classifiers from end to end: greedy, beam, exact; gold histories and their own; files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import trellis as tr
from trellis import LocalClassifier, SequentialClassifier
from trellis.errors import SettingError

FEATURES = "word[0] + word[-1]"


@pytest.fixture(scope="module", params=[1, 2, 3])
def fitted(request, corpus):
    return SequentialClassifier(target="chunk", features=FEATURES, order=request.param, l2=0.1).fit(corpus)


def saved(model, folder, name="m"):
    model.save(folder / name)
    return (folder / name).read_bytes()


class TestLearning:
    def test_what_can_be_learnt_is_learnt(self, fitted, corpus, heldout):
        assert fitted.score(corpus) > 0.99
        assert fitted.score(heldout) > 0.95
        assert fitted.converged_

    def test_labels_before_tell_more_than_words_do(self):
        """The word says nothing; labels take turns."""
        X, y = [[["x"]] * 6] * 8, [list("ABABAB")] * 8
        assert SequentialClassifier(l2=0.01).fit(X, y).score(X, y) == 1.0
        assert LocalClassifier(l2=0.01).fit(X, y).score(X, y) < 0.6

    def test_longer_histories_tell_more_still(self):
        X, y = [[["x"]] * 8] * 8, [list("AABBAABB")] * 8
        assert SequentialClassifier(l2=0.01, order=1).fit(X, y).score(X, y) < 0.8
        assert SequentialClassifier(l2=0.01, order=2).fit(X, y).score(X, y) == 1.0

    def test_the_objective_is_the_regularised_log_loss(self, fitted, corpus):
        penalty = 0.5 * 0.1 * float(fitted.model_.weights @ fitted.model_.weights)
        model, packed = fitted.model_, fitted.model_.features.transform(corpus)
        gold = corpus["chunk"].translated({label: j for j, label in enumerate(fitted.classes_)})
        (chain,) = model.histories(packed, corpus.offsets)
        assert fitted.objective_ == pytest.approx(penalty - chain.log_probabilities(gold).sum(), rel=1e-9)

    def test_the_weights_are_at_the_minimum(self, corpus):
        model = SequentialClassifier(target="chunk", features="word[0]", order=2, l2=1.0, tol=1e-9).fit(corpus)
        chain, packed = model.model_, model.model_.features.transform(corpus)
        gold = corpus["chunk"].translated({label: j for j, label in enumerate(model.classes_)})

        def objective(theta):
            (one,) = chain.with_weights(theta).histories(packed, corpus.offsets)
            return 0.5 * theta @ theta - one.log_probabilities(gold).sum()

        gradient = approx_fprime(chain.weights, objective, 1e-5)
        assert np.abs(gradient).max() < 0.02

    def test_weights_are_for_what_was_seen(self, corpus):
        crf = tr.CRF(target="chunk", features=FEATURES, order=2, max_iter=1)
        with pytest.warns(tr.ConvergenceWarning):
            crf.fit(corpus)
        own = SequentialClassifier(target="chunk", features=FEATURES, order=2).fit(corpus)
        assert own.model_.layout.size == crf.model_.layout.size

    def test_attributes_of_transitions_go_with_the_label_before(self, corpus, heldout):
        features = "word[0] + transitions(pos[0])"
        model = SequentialClassifier(target="chunk", features=features, l2=0.1).fit(corpus)
        assert model.model_.linear.layout.arc_attributes > 0
        assert model.score(heldout) > 0.95
        for beam in (1, 2, None):
            assert model.set_params(beam=beam).score(heldout) > 0.95
        assert all(np.allclose(row.sum(axis=1), 1.0) for row in model.predict_marginals(heldout))
        with pytest.raises(SettingError, match="attributes on transitions go together with order 1"):
            SequentialClassifier(target="chunk", features=features, order=2).fit(corpus)

    def test_threads_change_nothing(self, corpus, tmp_path):
        one, two = (
            SequentialClassifier(target="chunk", features=FEATURES, explore=1, threads=n).fit(corpus) for n in (1, 2)
        )
        assert saved(one, tmp_path, "a") == saved(two, tmp_path, "b")


class TestExploring:
    def test_what_to_do_after_a_mistake_is_learnt(self):
        """The first label is a guess; in training, the second always follows from it. With the wrong one, gold
        histories say one thing and the word another."""
        rng = np.random.default_rng(0)
        X, y = [], []
        for _ in range(200):
            label = "AB"[rng.integers(2)]
            X.append([["?"], [label.lower()], ["."]])
            y.append([label, label, "O"])
        gold = SequentialClassifier(l2=0.1, beam=1).fit(X, y)
        own = SequentialClassifier(l2=0.1, beam=1, explore=2).fit(X, y)
        second = [(p[1] == q[1]) for p, q in zip(own.predict(X), y, strict=True)]
        assert all(second)
        p_gold = np.mean([row[1].max() for row in gold.predict_marginals(X)])
        assert p_gold < 1.0
        assert own.score(X, y) >= gold.score(X, y)

    def test_each_training_has_its_own_checkpoint_and_log(self, corpus, tmp_path):
        settings = {"target": "chunk", "features": FEATURES, "explore": 2}
        SequentialClassifier(**settings).fit(corpus, checkpoint=tmp_path / "run", log=tmp_path / "log.jsonl")
        assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["explore-1", "explore-2", "gold"]
        assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == [
            "log.explore-1.jsonl",
            "log.explore-2.jsonl",
            "log.gold.jsonl",
        ]

    def test_a_killed_run_goes_on_to_the_same_bytes(self, corpus, tmp_path):
        settings = {"target": "chunk", "features": FEATURES, "explore": 1, "l2": 0.01}
        whole, calls = SequentialClassifier(**settings).fit(corpus), []

        def stop(now):
            calls.append(now.iteration)
            if calls.count(2) == 2:  # of the second training
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            SequentialClassifier(**settings).fit(corpus, checkpoint=tmp_path / "run", progress=stop)
        again = SequentialClassifier(**settings).fit(corpus, checkpoint=tmp_path / "run", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")


@pytest.fixture(scope="module")
def unsure():
    """Few and contradictory data, so that histories matter."""
    rng = np.random.default_rng(1)
    X = [[[f"w{rng.integers(4)}"] for _ in range(7)] for _ in range(60)]
    y = [[f"L{rng.integers(5)}" for _ in row] for row in X]
    return SequentialClassifier(order=2, l2=0.05).fit(X, y), X


class TestSearching:
    def test_wider_beams_find_likelier_labels_and_the_widest_all(self, unsure):
        model, X = unsure
        found = [model.set_params(beam=beam).predict(X) for beam in (1, 5, 24, 25, None)]
        means = [model.log_probability(X, labels).mean() for labels in found]
        assert means == sorted(means)
        assert means[0] < means[-1]
        assert found[-1] == found[-2]

    def test_greedy_goes_from_left_to_right(self, unsure):
        model, X = unsure
        greedy, number = model.set_params(beam=1).predict(X), {name: j for j, name in enumerate(model.classes_)}
        for sentence, labels in zip(X[:5], greedy, strict=False):
            for t in range(len(sentence)):
                ahead = [[*labels[:t], name, *labels[t + 1 :]] for name in number]
                prefix = [model.log_probability([sentence[: t + 1]], [one[: t + 1]])[0] for one in ahead]
                assert labels[t] == model.classes_[int(np.argmax(prefix))]

    def test_marginals_sum_to_one_for_every_order(self, fitted, heldout):
        assert all(np.allclose(row.sum(axis=1), 1.0) for row in fitted.predict_marginals(heldout))


class TestRules:
    def test_only_well_formed_labels_with_an_encoding(self, make_corpus):
        rng = np.random.default_rng(0)
        corpus = make_corpus(30, 5)
        noise = [[f"n{rng.integers(30)}" for _ in row] for row in corpus.sentences("word")]
        noisy = tr.Corpus.from_lists({"word": noise, "chunk": corpus.sentences("chunk")})
        for beam in (1, 3, None):
            model = SequentialClassifier(target="chunk", features="word[0]", encoding="iob2", beam=beam).fit(noisy)
            for row in model.predict(noisy):
                assert all(b != "I-NP" or a in ("B-NP", "I-NP") for a, b in zip(["O", *row], row, strict=False))

    def test_exploring_and_an_encoding_go_together(self, corpus):
        SequentialClassifier(target="chunk", features=FEATURES, encoding="auto", explore=1).fit(corpus)

    def test_all_answers_are_of_one_distribution_where_there_are_dead_ends(self):
        """A word that may only begin a segment, before one that cannot end it: choices have a way on."""
        rng = np.random.default_rng(4)
        words = [[f"w{rng.integers(4)}" for _ in range(4)] for _ in range(30)]
        kinds = [["S-X", "O"], ["B-X", "E-X"], ["B-X", "I-X", "E-X"], ["O"]]
        tags = [[label for k in rng.integers(0, 4, 4) for label in kinds[k]][:4] for _ in words]
        tags = [row if row[-1] in ("O", "S-X", "E-X") else ["O"] * 4 for row in tags]
        corpus = tr.Corpus.from_lists({"word": words, "tag": tags})
        model = SequentialClassifier("tag", "word[0]", encoding="bioes", tag_dictionary=1, l2=0.1).fit(corpus)
        asked = tr.Corpus.from_lists({"word": [["w0", "w1", "w2"], ["w3", "w3"]]})
        marginals = model.predict_marginals(asked)
        for s, paths in enumerate(model.predict_kbest(asked, k=1000)):
            assert paths[0].labels == model.predict(asked)[s]
            expected = np.zeros_like(marginals[s])
            for path in paths:
                for t, label in enumerate(path.labels):
                    expected[t, model.classes_.index(label)] += np.exp(path.log_probability)
            np.testing.assert_allclose(expected, marginals[s], atol=1e-9)

    def test_a_tag_dictionary(self, corpus, heldout):
        model = SequentialClassifier(target="chunk", features=FEATURES, tag_dictionary=2).fit(corpus)
        assert model.score(heldout) > 0.9


class TestLabelBias:
    """The example of Lafferty, McCallum and Pereira (2001, sections 2 and 5.1): `rib` is 1 2 3 and `rob` is 4 5 3."""

    @staticmethod
    def draw(sentences, seed):
        rng = np.random.default_rng(seed)
        means = {"1": "r", "2": "i", "4": "r", "5": "o", "3": "b"}
        X, y = [], []
        for _ in range(sentences):
            states = ["123", "453"][rng.integers(2)]
            seen = [
                means[s] if rng.random() < 29 / 32 else rng.choice([c for c in "riob" if c != means[s]]) for s in states
            ]
            X.append([[str(c)] for c in seen])
            y.append(list(states))
        return X, y

    def test_what_comes_later_cannot_change_a_choice_that_leaves_no_other(self):
        data, test = self.draw(500, seed=1), self.draw(200, seed=2)
        memm = SequentialClassifier(only_seen=True, l2=0.01).fit(*data)
        crf = tr.CRF(only_seen=True, l2=0.01).fit(*data)
        p = memm.predict_marginals([[["r"], ["o"], ["b"]]])[0]
        at = memm.classes_.index
        assert p[1, at("5")] == pytest.approx(p[0, at("4")])  # the o says nothing
        assert crf.predict([[["r"], ["o"], ["b"]]]) == [["4", "5", "3"]]
        assert crf.predict([[["r"], ["i"], ["b"]]]) == [["1", "2", "3"]]
        assert memm.score(*test) < 0.75
        assert crf.score(*test) > 0.9


class TestFiles:
    def test_a_model_file_gives_it_all_back(self, fitted, heldout, tmp_path):
        fitted.save(tmp_path / "m")
        again = tr.load(tmp_path / "m")
        assert again.get_params() == {**fitted.get_params(), "threads": None}
        assert saved(again, tmp_path, "n") == (tmp_path / "m").read_bytes()
        assert again.predict(heldout) == fitted.predict(heldout)

    def test_the_beam_is_kept(self, corpus, tmp_path):
        SequentialClassifier(target="chunk", features=FEATURES, beam=3).fit(corpus).save(tmp_path / "m")
        assert tr.load(tmp_path / "m").beam == 3

    def test_pickles(self, fitted, heldout):
        assert pickle.loads(pickle.dumps(fitted)).predict(heldout) == fitted.predict(heldout)


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"order": 0}, "that is a LocalClassifier"),
            ({"order": 5}, "order is 5; expected a whole number from 0 to 4"),
            ({"beam": 0}, "beam is 0; expected a whole number from 1 to 10000, or None"),
            ({"explore": -1}, "explore is -1; expected a whole number >= 0"),
            ({"optimizer": "perceptron"}, "goes sentence by sentence"),
        ],
    )
    def test_settings_out_of_range(self, settings, message, corpus):
        with pytest.raises(SettingError, match=message):
            SequentialClassifier(target="chunk", features=FEATURES, **settings).fit(corpus)

    def test_k_best_labellings_of_higher_orders(self, corpus):
        model = SequentialClassifier(target="chunk", features=FEATURES, order=2).fit(corpus)
        with pytest.raises(SettingError, match="order 1 alone"):
            model.predict_kbest(corpus)
