"""A CRF with an encoder beside its sparse features: training, predictions, files, and what it refuses."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import trellis
from trellis import CRF, Constraints, Corpus, NeuralCRF
from trellis.errors import CheckpointError, DataError, SettingError
from trellis.store import from_bytes

FEATURES = "word[-1:1] + pos[0]"
SMALL = {"embedding": 8, "letters": 4, "filters": 4, "hidden": 6, "epochs": 3}


def small(features=FEATURES, target="chunk", **more):
    return NeuralCRF(target, features, **{**SMALL, **more})


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def model(corpus):
    return small().fit(corpus)


class TestTraining:
    def test_it_learns(self, corpus, heldout):
        model = small(epochs=10).fit(corpus)
        assert model.score(heldout) > 0.95
        assert model.classes_ == ["B-NP", "B-VP", "I-NP", "O"]
        assert (model.iterations_, model.converged_, model.stopped_early_) == (10, True, False)
        assert np.isfinite(model.objective_)

    def test_the_objective_is_that_of_what_is_kept(self, corpus):
        """log Z - S(y) of all sentences, and the prior: nothing is left out."""
        model = small(l2=0.3).fit(corpus)
        loss = -model.log_probability(corpus).sum()
        sparse = model.model_.linear.weights
        assert model.objective_ == pytest.approx(loss + 0.15 * sparse @ sparse, rel=1e-5)

    def test_the_encoder_learns_alone(self, corpus, heldout):
        model = small("", "pos", epochs=20).fit(corpus)
        assert model.model_.layout.attributes == 0
        assert model.score(heldout) > 0.9

    def test_the_encoder_knows_words_by_their_letters(self):
        """Labels are told by the last letter alone, and no word is ever seen again."""
        rng = np.random.default_rng(1)

        def make(count):
            stems = ["".join(rng.choice(list("bcdfgh"), 4)) for _ in range(count)]
            ends = rng.integers(0, 3, count)
            words = [stem + "aeo"[end] for stem, end in zip(stems, ends, strict=True)]
            return [[w] for w in words], [["XYZ"[e]] for e in ends]

        train, test = make(300), make(60)
        model = NeuralCRF(
            features="", embedding=8, letters=8, filters=16, hidden=8, epochs=40, dropout=0.1, step_size=0.01
        )
        assert model.fit(*train).score(*test) > 0.9

    def test_it_begins_with_the_sparse_weights_of_a_crf(self, corpus, heldout, caplog):
        with caplog.at_level("INFO"):
            model = small(epochs=1, step_size=1e-9, sparse_step=1e-9, average=0.0).fit(corpus)
        assert "training begins with the sparse weights alone, about " in caplog.text
        crf = CRF("chunk", FEATURES, tol=1e-4).fit(corpus)
        np.testing.assert_allclose(model.model_.linear.weights, crf.model_.weights, atol=1e-5)
        for mine, other in zip(model.predict_marginals(heldout), crf.predict_marginals(heldout), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-5)

    def test_or_with_nothing(self, corpus):
        model = small(epochs=1, step_size=1e-9, sparse_step=1e-9, average=0.0, sparse_first=False).fit(corpus)
        assert np.abs(model.model_.linear.weights).max() < 1e-5

    def test_development_data_stop_it_and_the_best_epoch_is_kept(self, corpus, heldout):
        scores = []
        model = small(epochs=50, patience=2, sparse_first=False).fit(
            corpus, dev=heldout, progress=lambda p: scores.append(p.dev_score)
        )
        assert model.stopped_early_
        assert model.iterations_ < 50
        assert model.dev_score_ == max(scores) == model.score(heldout)

    def test_it_says_so_if_the_encoder_adds_nothing(self, corpus, heldout):
        with pytest.warns(UserWarning, match="no epoch was better on the development data than where training began"):
            model = small(epochs=2).fit(corpus, dev=heldout)
        assert model.predict(heldout) == CRF("chunk", FEATURES).fit(corpus).predict(heldout)

    def test_seeds_matter_and_threads_do_not(self, corpus, tmp_path):
        own = {"batch_size": 64}  # several parts of sixteen sentences
        files = {saved(small(threads=n, **own).fit(corpus), tmp_path / "m") for n in (1, 2, 3)}
        other = saved(small(seed=1, **own).fit(corpus), tmp_path / "m")
        assert len(files) == 1
        assert other not in files

    def test_hash_seeds_change_nothing(self, corpus, tmp_path):
        (tmp_path / "text").write_bytes(trellis.write_conll(corpus))
        script = (
            "import sys, trellis\n"
            "data = trellis.read_conll(sys.argv[1], columns=['word', 'pos', 'chunk'])\n"
            f"trellis.NeuralCRF('chunk', {FEATURES!r}, **{SMALL!r}).fit(data).save(sys.argv[2])"
        )
        for seed in ("1", "2"):
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            subprocess.run(
                [sys.executable, "-c", script, tmp_path / "text", tmp_path / seed], check=True, env=environment
            )
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()

    def test_weights_of_sentences_count(self, corpus):
        """Labels of what counts nothing do not matter; if it counts, they do."""
        weights = np.ones(len(corpus))
        weights[20:] = 0.0
        first, labels = int(corpus.offsets[20]), corpus["chunk"]
        ids = np.concatenate([labels.ids[:first], labels.ids[first:][::-1]])
        other = corpus.with_column("chunk", type(labels)(ids, labels.strings))
        every = {"all_pairs": True, "all_transitions": True}  # weights do not depend on which labels are seen
        for counting, is_same in ((weights, True), (weights + 0.5, False)):
            both = [small(**every).fit(data, sample_weight=counting).model_.weights for data in (corpus, other)]
            assert np.array_equal(*both) is is_same

    @pytest.mark.parametrize(
        "settings",
        [
            {"order": 0},
            {"order": 2},
            {"encoding": "auto"},
            {"only_seen": True},
            {"tag_dictionary": 2},
            {"loss": "softmax-margin", "costs": 2.0},
            {"loss": "hinge"},
            {"loss": "pointwise-log"},
            {"hash_size": 50},
            {"min_count": 3},
            {"all_pairs": True, "all_transitions": True},
            {"inputs": ""},
            {"inputs": "pos"},
            {"layers": 2},
            {"dropout": 0.0},
            {"average": 0.0},
            {"features": FEATURES + " + transitions(pos[0])"},
        ],
        ids=str,
    )
    def test_settings_go_together(self, settings, corpus, heldout, tmp_path):
        model = small(**{**settings, "epochs": 2}).fit(corpus)
        assert model.score(heldout) > 0.3
        again = trellis.load(_file(model, tmp_path))
        assert again.predict(heldout) == model.predict(heldout)

    def test_labels_known_in_part_and_soft_ones(self, corpus):
        gold = corpus.sentences("chunk")
        partly = [[label if k % 3 else None for k, label in enumerate(row)] for row in gold]
        assert small(target=None, epochs=8).fit(corpus, partly).score(corpus, gold) > 0.8
        names = sorted({label for row in gold for label in row})
        soft = [np.eye(len(names))[[names.index(label) for label in row]] * 0.9 + 0.1 / len(names) for row in gold]
        model = small(target=None, epochs=8).fit(corpus, soft=soft, labels=names)
        assert model.score(corpus, gold) > 0.8

    def test_constraints_hold_in_training_and_after(self, corpus, heldout):
        never = Constraints(penalties={"B-VP -> B-NP": -np.inf})
        with pytest.raises(DataError, match="the constraints rule out 'B-NP' after 'B-VP'"):
            small().fit(corpus, constraints=never)
        model = small().fit(corpus)
        labels = model.predict(heldout, never)
        assert not any(("B-VP", "B-NP") in pairwise(row) for row in labels)


def _file(model, folder):
    model.save(folder / "m")
    return folder / "m"


class TestInput:
    def test_lists_of_words_are_read(self):
        X, y = [["a", "b"], ["b"]] * 10, [["X", "Y"], ["Y"]] * 10
        model = NeuralCRF(features="word[0]", **{**SMALL, "epochs": 10}).fit(X, y)
        assert model.predict([["b", "a"]]) == [["Y", "X"]]
        assert model.score(X, y) == 1.0
        assert model.predict([]) == []
        assert model.predict([[]]) == [[]]

    def test_what_dicts_have_beside_the_word_are_columns(self):
        """Of which the word says nothing here."""
        tags = ["N", "V"] * 10
        X = [[{"word": "x", "pos": tag, "upper": False}] for tag in tags]
        model = NeuralCRF(features="pos[0]", **{**SMALL, "epochs": 10}).fit(X, [[f"is-{tag}"] for tag in tags])
        assert model.model_.features.inputs.columns == ("word", "pos")
        assert model.predict([[{"word": "y", "pos": "V"}]]) == [["is-V"]]
        assert model.predict([]) == []
        assert model.predict([[]]) == [[]]
        with pytest.raises(DataError, match="pos"):
            model.predict([["y"]])

    def test_the_encoder_sees_what_the_features_read(self, corpus):
        assert small().fit(corpus).model_.features.inputs.columns == ("word", "pos")
        assert small("word[0]").fit(corpus).model_.features.inputs.columns == ("word",)
        assert small("word[0]", inputs="pos").fit(corpus).model_.features.inputs.columns == ("word", "pos")

    def test_vectors_are_begun_with_and_known_for_words_that_training_lacks(self, corpus, tmp_path):
        (tmp_path / "v.txt").write_text("DOG 1 2 3 4 5 6 7 8\nzebra 8 7 6 5 4 3 2 1\n")
        model = small(vectors=tmp_path / "v.txt", epochs=1, step_size=1e-9, average=0.0).fit(corpus)
        tables = model.model_.features.inputs
        place = tables.tables[0].index("dog") + 1
        np.testing.assert_allclose(model.model_.encoder.arrays["words"][place], [1, 2, 3, 4, 5, 6, 7, 8], atol=1e-6)
        assert tables.tables[0][-1] == "zebra"
        assert model.model_.encoder.fixed.tolist() == [[8, 7, 6, 5, 4, 3, 2, 1]]
        again = trellis.load(_file(model, tmp_path))
        text = Corpus.from_lists({"word": [["the", "zebra"]], "pos": [["DT", "NN"]]})
        np.testing.assert_array_equal(again.predict_marginals(text)[0], model.predict_marginals(text)[0])

    def test_vectors_of_other_words_are_warned_of(self, corpus, tmp_path, caplog):
        caplog.set_level("INFO", "trellis.models.fitting")
        (tmp_path / "v.txt").write_text("dog 1 2 3 4 5 6 7 8\nzebra 8 7 6 5 4 3 2 1\n")
        small(vectors=tmp_path / "v.txt", epochs=1).fit(corpus)
        assert "vectors for 1 of " in caplog.text
        assert "the encoder sees the columns word, pos" in caplog.text
        (tmp_path / "v.txt").write_text("zebra 8 7 6 5 4 3 2 1\n")
        with pytest.warns(UserWarning, match="has a vector for none of the"):
            small(vectors=tmp_path / "v.txt", epochs=1).fit(corpus)

    def test_one_label_is_warned_of(self):
        with pytest.warns(UserWarning, match="'X' is the only label"):
            small("word[0]", None).fit([["a"], ["b"]], [["X"], ["X"]])


def test_threads_mix_no_ways_to_compute(model, make_corpus, tmp_path):
    """Of a process that has no compiler yet, and of more text than goes in one batch."""
    text = make_corpus(1700, seed=5)
    (tmp_path / "text").write_bytes(trellis.write_conll(text))
    script = (
        "import sys, hashlib, numpy, trellis\n"
        "model = trellis.load(sys.argv[1]).set_params(threads=int(sys.argv[3]))\n"
        "data = trellis.read_conll(sys.argv[2], columns=['word', 'pos', 'chunk'])\n"
        "print(hashlib.sha256(numpy.concatenate(model.predict_marginals(data)).tobytes()).hexdigest())"
    )
    found = set()
    for threads in ("1", "4"):
        command = [sys.executable, "-c", script, _file(model, tmp_path), tmp_path / "text", threads]
        found.add(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert text.tokens > 8192
    assert len(found) == 1


class TestErrors:
    @pytest.mark.parametrize(
        ("settings", "what"),
        [
            ({"hidden": 0}, "hidden is 0; expected a whole number from 1"),
            ({"embedding": 3}, "embedding is 3; expected a whole number from 4"),
            ({"layers": 99}, "layers is 99; expected a whole number from 1 to 10"),
            ({"dropout": 1.0}, "dropout is 1.0; expected a number from 0 to less than 1"),
            ({"step_size": 0}, "step_size is 0; expected a number > 0"),
            ({"epochs": 0}, "epochs is 0; expected a whole number >= 1"),
            ({"batch_size": 0}, "batch_size is 0; expected a whole number >= 1, or None"),
            ({"vectors": 7}, "vectors is 7; expected a file, or None"),
            ({"inputs": 7}, "inputs is 7; expected names of columns"),
            ({"sparse_first": 1}, "sparse_first is 1; expected True or False"),
            (
                {"inputs": "nonsense"},
                "inputs names the column 'nonsense'; beside what is predicted there are: word, pos",
            ),
            ({"inputs": "chunk"}, "inputs names the column 'chunk'"),
            ({"words": "nonsense"}, "words is 'nonsense'; the columns are: word, pos, chunk"),
            ({"target": "nonsense"}, "unknown target 'nonsense'"),
            ({"only_seen": True, "order": 0}, "only_seen has no meaning with order 0"),
            ({"loss": "nonsense"}, "nonsense"),
        ],
    )
    def test_settings(self, settings, what, corpus):
        with pytest.raises(SettingError, match=what):
            small(**settings).fit(corpus)

    def test_vectors_of_another_size(self, corpus, tmp_path):
        (tmp_path / "v.txt").write_text("dog 1 2 3\n")
        with pytest.raises(DataError, match=r"v\.txt: vectors of 3 numbers, and embedding is 8; make it the same"):
            small(vectors=tmp_path / "v.txt").fit(corpus)

    def test_vectors_that_are_too_large(self, corpus, tmp_path):
        (tmp_path / "v.txt").write_text("dog 1 2 3 4 5 6 7 8\nyak 1 2 3 4 5 6 7 1e300\n")
        with pytest.raises(DataError, match=r"v\.txt: the vector of 'yak' has a number that is too large"):
            small(vectors=tmp_path / "v.txt").fit(corpus)

    def test_weights_that_single_precision_cannot_hold_are_not_saved(self, corpus):
        with pytest.raises(DataError, match="no numbers; try a smaller step"), np.errstate(all="ignore"):
            small(step_size=1e39, epochs=1, batch_size=100).fit(corpus)

    def test_steps_that_lead_too_far_are_an_error(self, corpus):
        with pytest.raises(DataError, match="no numbers; try a smaller step"), np.errstate(all="ignore"):
            small(step_size=1e38, epochs=20).fit(corpus)

    def test_data_without_a_column(self, model):
        with pytest.raises(DataError, match="column 'pos' is missing"):
            model.predict([["a", "b"]])

    def test_it_says_what_to_install(self, corpus, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(SettingError, match=r"this needs PyTorch: pip install 'trellis\[neural\]'"):
            small().fit(corpus)

    def test_other_scores_than_numbers(self, model, heldout):
        weights = model.model_.weights
        weights[-1] = 1e39  # more than single precision holds
        with np.errstate(over="ignore"):
            broken = model.model_.with_weights(weights)
        with pytest.raises(DataError, match="the encoder's scores are no numbers"):
            broken.best(heldout)


class TestFiles:
    def test_what_was_trained_tags_without_pytorch_and_a_compiler(self, model, heldout, tmp_path):
        (tmp_path / "text").write_bytes(trellis.write_conll(heldout))
        script = (
            "import sys; sys.modules['torch'] = None\n"
            "import json, trellis\n"
            "model = trellis.load(sys.argv[1])\n"
            "data = trellis.read_conll(sys.argv[2], columns=['word', 'pos', 'chunk'])\n"
            "print(json.dumps([model.predict(data), 'numba' in sys.modules]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, _file(model, tmp_path), tmp_path / "text"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(done.stdout) == [model.predict(heldout), False]

    def test_what_is_loaded_is_saved_as_it_was(self, model, heldout, tmp_path):
        raw = saved(model, tmp_path / "m")
        again = trellis.load(tmp_path / "m")
        assert saved(again, tmp_path / "again") == raw
        assert again.get_params() | {"threads": None} == model.get_params() | {"threads": None}
        assert from_bytes(raw)[1]["encoder.words"].dtype == np.float32

    def test_pickles(self, model, heldout):
        assert pickle.loads(pickle.dumps(model)).predict(heldout) == model.predict(heldout)


class TestResume:
    def test_a_killed_training_goes_on_to_the_same_bits(self, corpus, heldout, tmp_path):
        whole = saved(small(epochs=6, sparse_first=False).fit(corpus, dev=heldout), tmp_path / "whole")

        class Stopped(Exception):
            pass

        def stop(progress):
            if progress.iteration == 3:
                raise Stopped

        with pytest.raises(Stopped):
            small(epochs=6, sparse_first=False).fit(
                corpus, dev=heldout, checkpoint=tmp_path / "run", checkpoint_every=1, progress=stop
            )
        again = small(epochs=6, sparse_first=False).fit(corpus, dev=heldout, checkpoint=tmp_path / "run", resume=True)
        assert saved(again, tmp_path / "again") == whole

    def test_more_epochs_may_be_added(self, corpus, tmp_path):
        small(epochs=2).fit(corpus, checkpoint=tmp_path / "run")
        again = small(epochs=4).fit(corpus, checkpoint=tmp_path / "run", resume=True)
        np.testing.assert_array_equal(again.model_.weights, small(epochs=4).fit(corpus).model_.weights)

    @pytest.mark.parametrize(
        ("settings", "what"),
        [
            ({"dropout": 0.2}, "was made with dropout=0.5, this is dropout=0.2"),
            ({"seed": 3}, "was made with seed=0, this is seed=3"),
            ({"step_size": 0.1}, "step_size=0.002"),
            ({"inputs": ""}, "was made with inputs=None, this is inputs=''"),
        ],
    )
    def test_other_settings_are_refused(self, settings, what, corpus, tmp_path):
        small(epochs=1).fit(corpus, checkpoint=tmp_path / "run")
        with pytest.raises(CheckpointError, match=what):
            small(epochs=1, **settings).fit(corpus, checkpoint=tmp_path / "run", resume=True)

    def test_other_words_are_refused(self, make_corpus, tmp_path):
        one = make_corpus(20, seed=1)
        other = one.with_column("word", type(one["word"])(one["word"].ids, [f"{w}x" for w in one["word"].strings]))
        small("", epochs=1).fit(one, checkpoint=tmp_path / "run")
        with pytest.raises(CheckpointError, match="was made from other words or columns"):
            small("", epochs=1).fit(other, checkpoint=tmp_path / "run", resume=True)

    def test_other_vectors_are_refused(self, corpus, tmp_path):
        """Also of words that the training data do not have."""
        (tmp_path / "v.txt").write_text("dog 1 2 3 4 5 6 7 8\nzebra 8 7 6 5 4 3 2 1\n")
        small(epochs=1, vectors=tmp_path / "v.txt").fit(corpus, checkpoint=tmp_path / "run")
        (tmp_path / "v.txt").write_text("dog 1 2 3 4 5 6 7 8\nzebra 8 7 6 5 4 3 2 9\n")
        with pytest.raises(CheckpointError, match="was made from other words or columns"):
            small(epochs=1, vectors=tmp_path / "v.txt").fit(corpus, checkpoint=tmp_path / "run", resume=True)

    def test_the_log_has_a_line_for_each_epoch(self, corpus, heldout, tmp_path):
        small(epochs=2, sparse_first=False).fit(corpus, dev=heldout, log=tmp_path / "log")
        lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert [line["event"] for line in lines] == ["start", "iteration", "iteration", "end"]
        assert lines[0]["expected_seconds"] > 0.0
        assert lines[0]["expected_bytes"] > 10**8
        assert lines[-1]["iterations"] == 2
