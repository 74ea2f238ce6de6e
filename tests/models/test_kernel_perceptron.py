"""The kernel perceptron as users meet it: learns, answers, is saved and read, goes on after an interruption."""

from __future__ import annotations

import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

import trellis
from trellis import CRF, KernelPerceptron
from trellis.corpus import Corpus
from trellis.errors import CheckpointError, DamagedModelError, DataError, NotFittedError, SettingError
from trellis.store import from_bytes, to_bytes

FEATURES = "word[-1:1] + pos[-1:1]"
# a label that depends on two attributes together and on neither alone
TOGETHER = [[["a", "b"]], [["a", "c"]], [["d", "c"]], [["d", "b"]]]
EXCLUSIVE = [["X"], ["Y"], ["X"], ["Y"]]


def saved(model, folder, name="m"):
    model.save(folder / name)
    return (folder / name).read_bytes()


class Interrupting:
    def __init__(self, at):
        self.at = at

    def __call__(self, now):
        if now.iteration == self.at:
            raise KeyboardInterrupt


class TestLearning:
    def test_conjunctions_that_nobody_made(self):
        quadratic = KernelPerceptron(degree=2, epochs=50, averaged=False).fit(TOGETHER, EXCLUSIVE)
        assert quadratic.converged_
        assert quadratic.predict(TOGETHER) == EXCLUSIVE
        assert not KernelPerceptron(degree=1, epochs=50).fit(TOGETHER, EXCLUSIVE).converged_

    @pytest.mark.parametrize("settings", [{}, {"degree": 3}, {"cosine": True}, {"averaged": False}, {"hash_size": 500}])
    def test_from_a_corpus(self, corpus, heldout, settings):
        model = KernelPerceptron("chunk", FEATURES, **settings).fit(corpus)
        assert model.score(heldout) > 0.9
        assert set(model.classes_) == {"B-NP", "I-NP", "B-VP", "O"}
        assert model.columns_ == ["word", "pos", "chunk"]
        assert 1 <= model.iterations_ <= 10

    def test_from_values(self):
        X = [[{"x": 0.5 * k, "w": str(k % 2)} for k in range(n)] for n in (3, 5, 4, 0)]
        y = [["P" if token["x"] > 1 else "N" for token in sentence] for sentence in X]
        model = KernelPerceptron(epochs=100).fit(X, y)
        assert model.converged_
        assert model.predict(X) == y

    def test_it_ends_with_the_first_epoch_that_has_no_mistake(self, corpus):
        seen = []
        model = KernelPerceptron("chunk", FEATURES, epochs=100).fit(corpus, progress=seen.append)
        assert model.converged_
        assert model.objective_ == 0.0
        assert [now.gradient_norm == 0 for now in seen] == [False] * (len(seen) - 1) + [True]
        assert model.iterations_ == len(seen) < 100

    def test_as_many_epochs_as_asked_for_are_no_failure(self, corpus):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = KernelPerceptron("chunk", FEATURES, epochs=1).fit(corpus)
        assert (model.iterations_, model.converged_) == (1, False)

    def test_development_data_choose_the_epoch(self, corpus, heldout):
        seen = []
        settings = {"features": "word[0]", "averaged": False, "epochs": 30, "patience": 3}
        model = KernelPerceptron("chunk", **settings).fit(corpus, dev=heldout, progress=seen.append)
        best = max(now.dev_score for now in seen)
        assert model.dev_score_ == model.score(heldout) == best
        assert model.stopped_early_ == (seen[-1].iteration < 30 and not model.converged_)

    def test_the_input_is_untouched(self):
        X = [[{"a": 1.0, "b": 2.0}, {"a": -1.0}]]
        before = json.dumps(X)
        KernelPerceptron().fit(X, [["P", "Q"]]).predict(X)
        assert json.dumps(X) == before

    def test_threads_and_seeds(self, corpus, heldout, tmp_path):
        one, two = (KernelPerceptron("chunk", FEATURES, threads=n).fit(corpus, dev=heldout) for n in (1, 3))
        assert saved(one, tmp_path, "a") == saved(two, tmp_path, "b")
        other = KernelPerceptron("chunk", FEATURES, seed=5).fit(corpus, dev=heldout)
        assert saved(other, tmp_path, "c") != saved(one, tmp_path, "a")


@pytest.fixture(scope="module")
def model(corpus):
    return KernelPerceptron("chunk", FEATURES).fit(corpus)


class TestAnswering:
    def test_compiled_and_plain_agree(self, model, heldout, computing):
        with computing("plain"):
            plain = model.predict(heldout)
        with computing("compiled"):
            assert model.predict(heldout) == plain

    def test_many_threads_on_one_model(self, model, heldout):
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: model.predict_ids(heldout).tolist(), range(8)))
        assert all(one == found[0] for one in found)

    def test_what_was_never_seen(self, model):
        new = Corpus.from_lists({"word": [["zzz", "the"], []], "pos": [["??", "DT"], []]})
        assert [len(labels) for labels in model.predict(new)] == [2, 0]

    def test_there_are_no_probabilities(self, model, heldout):
        with pytest.raises(SettingError, match=r"a KernelPerceptron has scores but no probabilities, .*use a CRF"):
            model.predict_marginals(heldout)

    def test_values_that_are_too_large(self):
        model = KernelPerceptron(degree=3).fit([[{"x": 1.0}, {"x": -1.0}]], [["P", "N"]])
        with pytest.raises(DataError, match="more than a number can hold"):
            model.predict([[{"x": 1e200}]])


class TestFiles:
    @pytest.mark.parametrize("settings", [{}, {"cosine": True, "degree": 3, "offset": 0.5}, {"hash_size": 300}])
    def test_a_model_is_read_as_it_was_saved(self, corpus, heldout, tmp_path, settings):
        model = KernelPerceptron("chunk", FEATURES, **settings).fit(corpus)
        raw = saved(model, tmp_path)
        again = trellis.load(tmp_path / "m")
        assert type(again) is KernelPerceptron
        assert again.get_params() == model.get_params()
        assert again.predict(heldout) == model.predict(heldout)
        assert (again.objective_, again.iterations_) == (model.objective_, model.iterations_)
        assert saved(again, tmp_path, "n") == raw

    def test_pickling(self, corpus, heldout):
        model = KernelPerceptron("chunk", FEATURES, threads=2).fit(corpus)
        again = pickle.loads(pickle.dumps(model))
        assert again.predict(heldout) == model.predict(heldout)
        assert again.threads == 2
        assert pickle.loads(pickle.dumps(KernelPerceptron(degree=4))).degree == 4

    def test_settings_changed_after_training_change_no_answer(self, corpus, heldout, tmp_path):
        model = KernelPerceptron("chunk", FEATURES).fit(corpus)
        before = model.predict(heldout)
        model.set_params(degree=7, offset=0.0).save(tmp_path / "m")
        assert trellis.load(tmp_path / "m").predict(heldout) == before

    def test_of_another_kind(self, corpus, tmp_path):
        KernelPerceptron("chunk", FEATURES, epochs=1).fit(corpus).save(tmp_path / "m")
        with pytest.raises(DamagedModelError, match="of the kind 'KernelPerceptron', not CRF"):
            CRF.load(tmp_path / "m")


class TestResuming:
    @pytest.mark.parametrize("settings", [{}, {"averaged": False, "offset": 0.3, "scale": 0.7}, {"cosine": True}])
    @pytest.mark.parametrize("with_dev", [False, True])
    def test_gives_the_same_bytes(self, corpus, heldout, tmp_path, settings, with_dev):
        settings = {"target": "chunk", "features": "word[0] + pos[1]", **settings}
        dev = heldout if with_dev else None
        whole = KernelPerceptron(**settings).fit(corpus, dev=dev)
        for at in {1, 2, whole.iterations_ - 1}:
            folder = tmp_path / f"{at}"
            with pytest.raises(KeyboardInterrupt):
                KernelPerceptron(**settings).fit(corpus, dev=dev, checkpoint=folder, progress=Interrupting(at))
            again = KernelPerceptron(**settings, threads=1).fit(corpus, dev=dev, checkpoint=folder, resume=True)
            assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_of_values(self, tmp_path):
        rng = np.random.default_rng(0)
        X = [rng.normal(size=(n, 4)) for n in (3, 5, 4)]
        y = [["P" if row[0] * row[1] > 0 else "N" for row in sentence] for sentence in X]
        whole = KernelPerceptron().fit(X, y)
        KernelPerceptron(epochs=2).fit(X, y, checkpoint=tmp_path / "c")
        again = KernelPerceptron().fit(X, y, checkpoint=tmp_path / "c", resume=True)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_more_epochs(self, corpus, tmp_path):
        settings = {"target": "chunk", "features": "word[0]"}
        KernelPerceptron(**settings, epochs=3).fit(corpus, checkpoint=tmp_path / "c")
        again = KernelPerceptron(**settings, epochs=6).fit(corpus, checkpoint=tmp_path / "c", resume=True)
        whole = KernelPerceptron(**settings, epochs=6).fit(corpus)
        assert saved(again, tmp_path, "a") == saved(whole, tmp_path, "b")

    def test_other_settings_or_data_are_refused(self, corpus, heldout, tmp_path):
        KernelPerceptron("chunk", FEATURES, epochs=2).fit(corpus, checkpoint=tmp_path / "c")
        for model, data, message in (
            (KernelPerceptron("chunk", FEATURES, degree=3), corpus, "was made with degree=2, this is degree=3"),
            (KernelPerceptron("chunk", FEATURES), heldout, "from other training data"),
            (KernelPerceptron("chunk", "word[0]"), corpus, "with other features"),
            (KernelPerceptron("chunk", FEATURES, epochs=1), corpus, "is at iteration 2, beyond max_iter=1"),
        ):
            with pytest.raises(CheckpointError, match=message):
                model.fit(data, checkpoint=tmp_path / "c", resume=True)

    def test_a_handmade_checkpoint_is_refused(self, corpus, tmp_path):
        path = tmp_path / "c" / "training.checkpoint"
        model = KernelPerceptron("chunk", FEATURES, epochs=2)
        model.fit(corpus, checkpoint=tmp_path / "c")
        raw = path.read_bytes()
        description, tensors = from_bytes(raw)
        del description["format"]
        for name, values in tensors.items():
            wrong = values.copy()
            wrong.reshape(-1)[:1] = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else np.nan
            path.write_bytes(to_bytes(description, {**tensors, name: wrong}))
            with pytest.raises(DamagedModelError, match="parts do not fit together"):
                model.fit(corpus, checkpoint=tmp_path / "c", resume=True)
        path.write_bytes(raw)
        model.fit(corpus, checkpoint=tmp_path / "c", resume=True)


def test_the_log(corpus, heldout, tmp_path):
    model = KernelPerceptron("chunk", FEATURES, epochs=3).fit(corpus, dev=heldout, log=tmp_path / "log")
    first, *epochs, last = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (first["event"], first["tokens"], first["settings"]["degree"]) == ("start", corpus.tokens, 2)
    assert first["expected_seconds"] > 0
    assert first["expected_bytes"] > 1e8
    assert [line["iteration"] for line in epochs] == list(range(1, model.iterations_ + 1))
    assert epochs[0]["gradient_norm"] > epochs[-1]["gradient_norm"]
    assert last["event"] == "end"
    supports = model.model_.supports
    found = np.count_nonzero(supports.coefficients) + np.count_nonzero(model.model_.transitions)
    assert found in [line["active"] for line in epochs]


class TestRefused:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"degree": 0}, "degree is 0; expected a whole number from 1 to 20"),
            ({"degree": 2.0}, "degree is 2.0; expected a whole number from 1 to 20"),
            ({"degree": 21}, "degree is 21; expected a whole number from 1 to 20"),
            ({"offset": -1.0}, "offset is -1.0; expected a number >= 0"),
            ({"scale": 0.0}, "scale is 0.0; expected a number > 0"),
            ({"scale": float("nan")}, "scale is nan; expected a number > 0"),
            ({"cosine": 1}, "cosine is 1; expected True or False"),
            ({"epochs": 0}, "epochs is 0; expected a whole number >= 1"),
            ({"averaged": None}, "averaged is None; expected True or False"),
            ({"hash_size": 8, "min_count": 2}, "min_count has no meaning with hash_size"),
        ],
    )
    def test_settings(self, corpus, settings, message):
        with pytest.raises(SettingError, match=message):
            KernelPerceptron("chunk", **settings).fit(corpus)

    def test_features_on_transitions(self, corpus):
        with pytest.raises(SettingError, match="some on transitions, which a kernel perceptron has no place for"):
            KernelPerceptron("chunk", "word[0] + transitions(pos[0])").fit(corpus)

    def test_labels_known_in_part(self):
        with pytest.raises(SettingError, match="needs one label for each token"):
            KernelPerceptron().fit([[["a"], ["b"]]], [["X", None]])

    def test_answers_before_training(self, corpus):
        with pytest.raises(NotFittedError, match="this KernelPerceptron has not been trained"):
            KernelPerceptron().predict(corpus)

    def test_nothing_to_learn_from(self):
        with pytest.raises(DataError, match="no token to learn from"):
            KernelPerceptron().fit([], [])

    def test_an_only_label_is_remarked_on(self):
        with pytest.warns(UserWarning, match="'X' is the only label"):
            model = KernelPerceptron().fit([[["a"]]], [["X"]])
        assert model.predict([[["b"], ["a"]]]) == [["X", "X"]]
        assert model.model_.supports.size == 0


def test_a_clone_has_the_parameters_and_nothing_learnt(corpus):
    model = KernelPerceptron("chunk", FEATURES, degree=3).fit(corpus)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_")
