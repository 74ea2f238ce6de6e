"""A CRF from end to end: it learns, predicts, scores, and is the same model however it is asked."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trellis
from trellis import CRF, ConvergenceWarning, Corpus
from trellis.corpus import concatenate, parse_conll
from trellis.metrics import evaluate

TEMPLATES = "U0:%x[0,word]\nU1:%x[-1,word]/%x[0,pos]\nU2:%x[1,pos]\nB\n"


@pytest.fixture(scope="module")
def fitted(corpus):
    return CRF(target="chunk", l2=0.5).fit(corpus)


@pytest.fixture(scope="module")
def valued_data():
    """Attributes with values of both signs, as dicts."""
    rng = np.random.default_rng(0)
    X = [
        [{"bias": True, "x": float(rng.normal()), "w": str(rng.choice(list("abc")))} for _ in range(6)]
        for _ in range(30)
    ]
    return X, [["P" if token["x"] > 0 else "N" for token in sentence] for sentence in X]


def saved(model, folder, name="m"):
    model.save(folder / name)
    return (folder / name).read_bytes()


class TestLearning:
    def test_what_can_be_learnt_is_learnt(self, fitted, corpus, heldout):
        assert fitted.score(corpus) > 0.99
        assert fitted.score(heldout) > 0.95
        assert fitted.converged_
        assert sorted(fitted.classes_) == ["B-NP", "B-VP", "I-NP", "O"]
        assert fitted.columns_ == ["word", "pos", "chunk"]
        assert fitted.iterations_ > 1
        assert fitted.evaluations_ > fitted.iterations_
        assert fitted.seconds_ > 0

    def test_the_objective_is_the_regularised_loss_of_the_weights(self, fitted, corpus):
        """Summed over sentences: - log P(gold), by way of the marginals of chains with one label allowed a token."""
        model = fitted.model_
        packed = model.features.transform(corpus)
        chain = model._chain(packed, corpus.offsets)
        gold = corpus["chunk"].translated({label: i for i, label in enumerate(fitted.classes_)})
        loss = (chain.marginals().log_z - chain.path_scores(gold)).sum()
        expected = loss + 0.5 / 2 * np.sum(model.weights**2)
        assert fitted.objective_ == pytest.approx(expected, rel=1e-12)

    def test_values_of_attributes_count(self, valued_data):
        X, y = valued_data
        model = CRF(l2=0.1).fit(X, y)
        assert model.score(X, y) > 0.95
        assert model.predict([[{"x": 4.0}], [{"x": -4.0}]]) == [["P"], ["N"]]

    def test_lists_and_templates_of_the_same_attributes_are_the_same_problem(self, corpus, heldout):
        by_templates = CRF(target="chunk", features=TEMPLATES, tol=1e-7).fit(corpus)
        X, y = attribute_lists(corpus), corpus.sentences("chunk")
        by_lists = CRF(tol=1e-7).fit(X, y)
        assert by_lists.objective_ == pytest.approx(by_templates.objective_, rel=1e-8)
        assert by_lists.model_.layout.size == by_templates.model_.layout.size
        assert by_lists.predict(attribute_lists(heldout)) == by_templates.predict(heldout)

    def test_columns_by_position_and_by_name_are_the_same_model(self, corpus, tmp_path):
        by_name = CRF(target="chunk", features=TEMPLATES).fit(corpus)
        by_position = CRF(target="chunk", features=TEMPLATES.replace("word", "0").replace("pos", "1")).fit(corpus)
        by_position.features = by_name.features
        assert saved(by_name, tmp_path, "a") == saved(by_position, tmp_path, "b")

    def test_positions_count_the_columns_of_the_file_also_those_left_out(self):
        data = parse_conll(b"1 the DT\n2 dog NN\n", ["_", "word", "tag"])
        names = CRF(target="tag", features="U:%x[0,1]").fit(data).model_.features.names()
        assert names == ["U:the", "U:dog"]

    def test_all_pairs_and_all_transitions(self, corpus):
        seen = CRF(target="chunk", features=TEMPLATES).fit(corpus).model_.layout
        everything = (
            CRF(target="chunk", features=TEMPLATES, all_pairs=True, all_transitions=True).fit(corpus).model_.layout
        )
        assert everything.size == 4 * seen.attributes + 4 * 4 > seen.size

    def test_a_part_of_a_corpus_is_learnt_like_the_same_text_alone(self, corpus):
        part = corpus.slice(0, 10)
        alone = Corpus.from_lists({name: part.sentences(name) for name in part.columns})
        models = [CRF(target="chunk").fit(data) for data in (part, alone)]
        assert models[0].classes_ == models[1].classes_
        assert models[0].objective_ == models[1].objective_

    def test_a_development_set_stops_early_and_is_remembered(self, corpus, heldout):
        seen = []
        model = CRF(target="chunk", patience=2, tol=1e-12).fit(corpus, dev=heldout, progress=seen.append)
        best = max(p.dev_score for p in seen)
        assert model.stopped_early_
        assert model.dev_score_ == best == model.score(heldout)
        assert model.objective_ == next(p.objective for p in seen if p.dev_score == best)

    def test_a_development_set_as_lists(self, corpus, heldout):
        model = CRF(patience=2).fit(
            attribute_lists(corpus),
            corpus.sentences("chunk"),
            dev=attribute_lists(heldout),
            dev_y=heldout.sentences("chunk"),
        )
        assert model.dev_score_ > 0.9

    def test_stopping_before_the_goal_is_said(self, corpus):
        with pytest.warns(
            ConvergenceWarning, match=r"1 iterations before it converged; raise max_iter \(now 1\) or tol"
        ):
            model = CRF(target="chunk", max_iter=1).fit(corpus)
        assert not model.converged_
        assert model.iterations_ == 1

    def test_the_smallest_problems(self):
        with pytest.warns(match="'X' is the only label"):
            one = CRF().fit([[["a"]]], [["X"]])
        assert one.predict([[["a"], ["b"]], []]) == [["X", "X"], []]
        assert one.objective_ == 0.0
        bare = CRF().fit([[[], []]], [["X", "Y"]])
        assert bare.predict([[[], []]]) == [["X", "Y"]]


def attribute_lists(corpus):
    """The attributes of TEMPLATES, made by hand."""
    out = []
    for words, tags in zip(corpus.sentences("word"), corpus.sentences("pos"), strict=True):
        rows = zip(words, ["_B-1", *words[:-1]], tags, [*tags[1:], "_B+1"], strict=True)
        out.append([[f"U0:{word}", f"U1:{before}/{tag}", f"U2:{after}"] for word, before, tag, after in rows])
    return out


class TestPredicting:
    def test_one_label_a_token(self, fitted, heldout):
        predicted = fitted.predict(heldout)
        assert [len(labels) for labels in predicted] == np.diff(heldout.offsets).tolist()
        assert {label for labels in predicted for label in labels} <= set(fitted.classes_)

    def test_ids_and_columns_are_the_same_labels(self, fitted, heldout):
        flat = [label for labels in fitted.predict(heldout) for label in labels]
        assert [fitted.classes_[i] for i in fitted.predict_ids(heldout)] == flat
        assert fitted.predict_column(heldout).values() == flat

    def test_marginals_are_distributions(self, fitted, heldout):
        marginals = fitted.predict_marginals(heldout)
        assert [len(m) for m in marginals] == np.diff(heldout.offsets).tolist()
        nodes = np.concatenate(marginals)
        assert nodes.min() >= 0
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0, atol=1e-12)

    def test_the_target_column_is_not_read(self, fitted, heldout):
        without = Corpus({name: heldout[name] for name in ("word", "pos")}, heldout.offsets)
        assert fitted.predict(without) == fitted.predict(heldout)

    def test_order_and_company_change_nothing(self, fitted, heldout, computing):
        for way in ("plain", "compiled"):
            with computing(way):
                together, nodes = fitted.predict(heldout), fitted.predict_marginals(heldout)
                backwards = concatenate([heldout.slice(s, s + 1) for s in reversed(range(len(heldout)))])
                assert fitted.predict(backwards) == together[::-1]
                for s in range(len(heldout)):
                    alone = heldout.slice(s, s + 1)
                    assert fitted.predict(alone) == together[s : s + 1]
                    np.testing.assert_array_equal(fitted.predict_marginals(alone)[0], nodes[s])

    def test_batches_change_nothing(self, fitted, heldout, monkeypatch):
        together = fitted.predict(heldout)
        monkeypatch.setattr("trellis.models.batches._BATCH", 10)
        for threads in (1, 3):
            fitted.threads = threads
            assert fitted.predict(heldout) == together
        fitted.threads = None

    def test_batches_of_lists_change_nothing(self, corpus, heldout, monkeypatch):
        X = [*attribute_lists(heldout), [], []]
        model = CRF().fit(attribute_lists(corpus), corpus.sentences("chunk"))
        together = model.predict(X)
        monkeypatch.setattr("trellis.models.batches._BATCH", 10)
        assert model.predict(X) == together

    def test_plain_and_compiled_agree(self, fitted, heldout, computing):
        strange = heldout.with_column("word", Corpus.from_lists({"w": [["??"] * heldout.tokens]})["w"])
        for data in (heldout, strange):
            with computing("plain"):
                plain, plain_nodes = fitted.predict(data), np.concatenate(fitted.predict_marginals(data))
            with computing("compiled"):
                compiled, nodes = fitted.predict(data), np.concatenate(fitted.predict_marginals(data))
            assert plain == compiled
            np.testing.assert_allclose(plain_nodes, nodes, atol=1e-12)

    def test_plain_and_compiled_agree_on_values(self, valued_data, computing):
        X, y = valued_data
        model = CRF().fit(X, y)
        with computing("plain"):
            plain = np.concatenate(model.predict_marginals(X))
        with computing("compiled"):
            np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), plain, atol=1e-12)

    def test_nothing_in_nothing_out(self, fitted, corpus):
        assert fitted.predict(corpus.slice(0, 0)) == []
        assert fitted.predict_marginals(corpus.slice(0, 0)) == []
        listed = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        assert listed.predict([]) == []
        assert listed.predict([[], []]) == [[], []]

    def test_many_threads_at_once_give_what_one_gives(self, fitted, corpus, heldout, tmp_path, computing):
        fitted.save(tmp_path / "m")
        loaded = trellis.load(tmp_path / "m")
        expected = [fitted.predict(data) for data in (corpus, heldout)]
        nodes = np.concatenate(fitted.predict_marginals(heldout))
        with computing("compiled"), ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(loaded.predict, [corpus, heldout] * 20))
            marginals = list(pool.map(loaded.predict_marginals, [heldout] * 20))
        assert answers == expected * 20
        for answer in marginals:
            np.testing.assert_array_equal(np.concatenate(answer), nodes)


class TestScoring:
    def test_segments_are_scored_by_f1(self, fitted, heldout):
        report = fitted.evaluate(heldout)
        index = {label: i for i, label in enumerate(fitted.classes_)}
        expected = evaluate(
            heldout["chunk"].translated(index), fitted.predict_ids(heldout), fitted.classes_, heldout.offsets
        )
        assert (report.f1, report.accuracy, report.tokens) == (expected.f1, expected.accuracy, heldout.tokens)
        assert fitted.score(heldout) == report.f1

    def test_other_labels_by_accuracy(self, corpus, heldout):
        tagger = CRF(target="pos", features="U0:%x[0,word]").fit(corpus)
        report = tagger.evaluate(heldout)
        assert report.f1 is None
        assert tagger.score(heldout) == report.accuracy == 1.0

    def test_labels_never_seen_in_training_count_as_wrong(self):
        model = CRF().fit([[["a"], ["b"]]], [["X", "Y"]])
        assert model.score([[["a"], ["b"]]], [["X", "Q"]]) == 0.5

    def test_labels_may_be_given_beside_a_corpus(self, fitted, heldout):
        predicted = fitted.predict(heldout)
        assert fitted.score(heldout, predicted) == 1.0


class TestKeeping:
    def test_a_loaded_model_is_the_same(self, fitted, heldout, tmp_path):
        fitted.save(tmp_path / "m")
        for loaded in (trellis.load(tmp_path / "m"), CRF.load(str(tmp_path / "m"))):
            assert loaded.get_params() == fitted.get_params()
            assert loaded.predict(heldout) == fitted.predict(heldout)
            np.testing.assert_array_equal(
                np.concatenate(loaded.predict_marginals(heldout)), np.concatenate(fitted.predict_marginals(heldout))
            )
            for name in ("classes_", "columns_", "objective_", "converged_", "iterations_", "evaluations_"):
                assert getattr(loaded, name) == getattr(fitted, name)

    def test_a_model_of_given_attributes_too(self, valued_data, tmp_path):
        X, y = valued_data
        model = CRF().fit(X, y)
        model.save(tmp_path / "m")
        assert trellis.load(tmp_path / "m").predict(X) == model.predict(X)

    def test_a_model_with_keys_too_large_for_a_number_too(self, corpus, heldout, tmp_path):
        wide = "U0:" + "/".join(f"%x[{k % 5 - 2},word]" for k in range(30)) + "\nU1:%x[0,pos]"
        model = CRF(target="chunk", features=wide).fit(corpus)
        assert any(group.keys.ranks for group in model.model_.features.labels.groups)
        model.save(tmp_path / "m")
        loaded = trellis.load(tmp_path / "m")
        assert loaded.predict(heldout) == model.predict(heldout)
        assert loaded.model_.features.names() == model.model_.features.names()

    def test_a_loaded_model_can_be_trained_again(self, fitted, corpus, tmp_path):
        first = saved(fitted, tmp_path)
        assert saved(trellis.load(tmp_path / "m").fit(corpus), tmp_path) == first

    def test_pickles(self, fitted, heldout):
        again = pickle.loads(pickle.dumps(fitted))
        assert again.get_params() == fitted.get_params()
        assert again.predict(heldout) == fitted.predict(heldout)
        assert again.objective_ == fitted.objective_

    def test_pickles_before_training_and_with_threads(self):
        again = pickle.loads(pickle.dumps(CRF(target="x", threads=3)))
        assert again.get_params() == CRF(target="x", threads=3).get_params()
        assert not hasattr(again, "classes_")

    def test_a_pickle_holds_the_model_file_and_is_checked_like_one(self, fitted, tmp_path):
        raw = saved(fitted, tmp_path)
        pickled = pickle.dumps(fitted)
        assert raw in pickled
        at = pickled.index(raw) + len(raw) - 1
        with pytest.raises(trellis.TrellisError):
            pickle.loads(pickled[:at] + bytes([pickled[at] ^ 1]) + pickled[at + 1 :])


class TestDeterminism:
    def test_training_twice_gives_the_same_bytes(self, corpus, tmp_path):
        model = CRF(target="chunk")
        first = saved(model.fit(corpus), tmp_path)
        assert saved(model.fit(corpus), tmp_path) == first
        assert saved(CRF(target="chunk").fit(corpus), tmp_path) == first

    def test_any_number_of_threads_gives_the_same_bytes(self, make_corpus, tmp_path, monkeypatch):
        monkeypatch.setattr("trellis.objective.cutting.SHARD", 100)
        corpus = make_corpus(300, seed=3)
        files = {saved(CRF(target="chunk", threads=n).fit(corpus), tmp_path) for n in (1, 2, 8, None)}
        assert len(files) == 1

    def test_hash_seeds_change_nothing(self, corpus, tmp_path):
        (tmp_path / "data").write_bytes(trellis.write_conll(corpus))
        script = (
            "import sys, trellis; data = trellis.read_conll(sys.argv[1], columns=['word', 'pos', 'chunk'])\n"
            "trellis.CRF(target='chunk').fit(data).save(sys.argv[2])"
        )
        files = set()
        for seed in ("1", "2"):
            out = tmp_path / f"model{seed}"
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            subprocess.run([sys.executable, "-c", script, tmp_path / "data", out], check=True, env=environment)
            files.add(out.read_bytes())
        assert len(files) == 1
        assert files == {saved(CRF(target="chunk").fit(corpus), tmp_path)}


class TestInputs:
    def test_a_corpus_is_left_untouched(self, make_corpus):
        corpus = make_corpus(10, seed=5)
        before = trellis.write_conll(corpus), [c.ids.copy() for c in corpus.columns.values()]
        model = CRF(target="chunk").fit(corpus, dev=corpus)
        model.predict(corpus)
        model.score(corpus)
        assert trellis.write_conll(corpus) == before[0]
        for column, ids in zip(corpus.columns.values(), before[1], strict=True):
            np.testing.assert_array_equal(column.ids, ids)

    def test_lists_are_left_untouched(self, valued_data):
        X, y = valued_data
        before = repr((X, y))
        CRF().fit(X, y).predict(X)
        assert repr((X, y)) == before

    def test_labels_of_lists_may_be_numbers(self):
        assert CRF().fit([[["a"], ["b"]]], [[0, 1]]).classes_ == ["0", "1"]

    def test_tuples_are_as_good_as_lists(self):
        model = CRF().fit(((("a",), ("b",)),), (("X", "Y"),))
        assert model.predict(((("b",),),)) == [["Y"]]

    def test_labels_given_beside_a_corpus_are_what_is_learnt(self, corpus):
        y = [[label.replace("NP", "XX") for label in labels] for labels in corpus.sentences("chunk")]
        assert "B-XX" in CRF(target="chunk").fit(corpus, y).classes_

    @pytest.mark.parametrize("value", [500.0, -500.0, 1e4, 1e6])
    def test_large_values_are_learnt_from(self, value):
        model = CRF().fit(*self.with_a_value_of(value))
        assert model.objective_ < 6 * np.log(3)
        self.check_marginals(model, value)

    @pytest.mark.parametrize("value", [1e100, 1e200, 1e300])
    def test_enormous_values_end_in_a_warning_and_a_model_that_is_finite(self, value):
        with pytest.warns(ConvergenceWarning) as said:
            model = CRF().fit(*self.with_a_value_of(value))
        assert "max_iter" not in str(said[0].message)  # more iterations would not help
        assert not model.converged_
        self.check_marginals(model, value)

    def with_a_value_of(self, value):
        X = [[{"a": value}, {"b": 1.0}, {"c": 1.0}], [{"a": value}, {"c": -1.0}, {"b": 2.0}]]
        return X, [["P", "Q", "R"], ["P", "R", "Q"]]

    def check_marginals(self, model, value):
        nodes = np.concatenate(model.predict_marginals(self.with_a_value_of(value)[0]))
        np.testing.assert_allclose(nodes.sum(axis=1), 1.0)
