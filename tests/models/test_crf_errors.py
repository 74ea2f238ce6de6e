"""What a user can get wrong with a CRF is said clearly, in terms of what was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from trellis import CRF, Corpus, TrellisError
from trellis.corpus import parse_conll
from trellis.errors import DataError, NotFittedError, SettingError, TemplateError
from trellis.features import column

X = [[["a"], ["b"]], [["a"]]]
Y = [["X", "Y"], ["X"]]


@pytest.fixture(scope="module")
def listed():
    return CRF().fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"l2": -1}, "l2 is -1; expected a number >= 0"),
        ({"l2": float("nan")}, "l2 is nan"),
        ({"l2": float("inf")}, "l2 is inf"),
        ({"l2": "1"}, "l2 is '1'"),
        ({"l2": None}, "l2 is None"),
        ({"l2": 10**400}, "l2 is a whole number of over 300 digits; expected a number >= 0"),
        ({"l1": -(10**5000)}, "l1 is a whole number of over 300 digits; expected a number >= 0"),
        ({"max_iter": 10**400}, "max_iter is a whole number of over 300 digits; expected a whole number >= 1"),
        ({"options": {"memory": 10**400}}, "memory is a whole number of over 300 digits"),
        ({"options": {"name": 3}}, "optimizer 'auto' has no option 'name'; it has: "),
        ({"loss": "hinge", "costs": {"X": 10**400}}, "expected a number >= 0, a dict of these by label"),
        ({"tol": 0}, "tol is 0; expected a number between 0 and 1"),
        ({"tol": 1.0}, "tol is 1.0"),
        ({"tol": "x"}, "tol is 'x'"),
        ({"max_iter": 0}, "max_iter is 0; expected a whole number >= 1"),
        ({"max_iter": 1.5}, "max_iter is 1.5"),
        ({"patience": 0}, "patience is 0"),
        ({"threads": 0}, "threads is 0; expected a whole number >= 1, or None"),
        ({"threads": "2"}, "threads is '2'"),
        ({"all_pairs": "no"}, "all_pairs is 'no'"),
        ({"all_transitions": 1}, "all_transitions is 1"),
        ({"target": 7}, "target is 7"),
        ({"loss": "squared"}, "loss 'squared' is not known; the losses are: log"),
        ({"optimizer": "adam"}, "optimizer 'adam' is not known; there are: auto, lbfgs"),
    ],
)
def test_bad_settings(settings, what):
    with pytest.raises(SettingError, match=what.replace(".", r"\.")):
        CRF(**settings).fit(X, Y)


@pytest.mark.parametrize("features", [Path("nowhere.txt"), None, 7])
def test_features_that_are_no_text(corpus, features):
    with pytest.raises(SettingError, match="features"):
        CRF(target="chunk", features=features).fit(corpus)


def test_features_without_a_place(corpus):
    for features in (column("word"), "word"):
        with pytest.raises(TrellisError, match=r"word'?:? has no place yet; write word\[0\]"):
            CRF(target="chunk", features=features).fit(corpus)


def test_no_target(corpus):
    with pytest.raises(SettingError, match="no target; the columns are: word, pos, chunk"):
        CRF().fit(corpus)


def test_an_unknown_target(corpus):
    with pytest.raises(SettingError, match="unknown target 'ner'; the columns are: word, pos, chunk"):
        CRF(target="ner").fit(corpus)


def test_templates_that_read_the_target(corpus):
    with pytest.raises(TemplateError, match="reads the target column 'pos'"):
        CRF(target="pos", features="U1:%x[0,pos]").fit(corpus)
    with pytest.raises(SettingError, match="read the columns word, pos, and there are: word, chunk;"):
        CRF(target="pos", features="chunking").fit(corpus)


def test_templates_for_columns_that_are_not_there():
    corpus = Corpus.from_lists({"word": [["a"]], "tag": [["X"]]})
    with pytest.raises(SettingError, match="read the columns word, pos, and there are: word; name the columns"):
        CRF(target="tag").fit(corpus)


def test_a_template_by_position_of_a_column_left_out():
    corpus = parse_conll(b"1 the DT\n", ["_", "word", "tag"])
    with pytest.raises(TemplateError, match="no column 0"):
        CRF(target="tag", features="U:%x[0,0]").fit(corpus)


def test_an_unknown_preset(corpus):
    with pytest.raises(SettingError, match="'chnk': neither a preset"):
        CRF(target="chunk", features="chnk").fit(corpus)


class TestNothingToLearnFrom:
    def test_in_a_file(self):
        with pytest.raises(DataError, match=r"^f\.txt: there is no token"):
            CRF(target="chunk").fit(parse_conll(b"\n", ["word", "pos", "chunk"], "f.txt"))

    @pytest.mark.parametrize("data", [[], [[]], [[], []]])
    def test_in_lists(self, data):
        with pytest.raises(DataError, match="no token"):
            CRF().fit(data, data)


class TestLabels:
    def test_are_needed_for_lists(self):
        with pytest.raises(SettingError, match="labels `y` are needed"):
            CRF().fit(X)

    def test_one_list_too_few(self):
        with pytest.raises(DataError, match="2 sentences and 1 lists of labels"):
            CRF().fit(X, Y[:1])

    def test_one_label_too_many(self):
        with pytest.raises(DataError, match="sentence 2 has 1 tokens and 2 labels"):
            CRF().fit(X, [["X", "Y"], ["X", "Y"]])

    def test_of_a_development_set(self):
        with pytest.raises(DataError, match="sentence 2 has 1 tokens and 0 labels"):
            CRF().fit(X, Y, dev=X, dev_y=[["X", "Y"], []])
        with pytest.raises(SettingError, match="labels `y` are needed"):
            CRF().fit(X, Y, dev=X)

    def test_that_do_not_match_a_corpus(self, corpus):
        model = CRF(target="chunk").fit(corpus)
        with pytest.raises(DataError):
            model.score(corpus, [["O"]])
        with pytest.raises(DataError):
            CRF(target="chunk").fit(corpus, [["O"]])

    def test_that_only_match_in_number(self, listed):
        with pytest.raises(DataError, match="sentence 1"):
            listed.score(X, [["X"], ["X", "Y"]])


class TestBeforeTraining:
    @pytest.mark.parametrize("method", ["predict", "predict_ids", "predict_column", "predict_marginals"])
    def test_nothing_can_be_predicted(self, method):
        with pytest.raises(NotFittedError, match="has not been trained; call fit or load first"):
            getattr(CRF(), method)(X)

    def test_nothing_can_be_scored(self):
        with pytest.raises(NotFittedError):
            CRF().score(X, Y)

    def test_nothing_can_be_saved(self, tmp_path):
        with pytest.raises(NotFittedError):
            CRF().save(tmp_path / "m")
        assert list(tmp_path.iterdir()) == []


def test_text_that_is_no_text_is_not_saved(tmp_path):
    model = CRF(l2=1.0).fit([[["\ud800"], ["a"]]], [["X", "Y"]])
    with pytest.raises(DataError, match="surrogate"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [3, "train.txt", iter([["a"]]), None])
def test_what_is_neither_corpus_nor_list_is_refused(data):
    with pytest.raises(DataError, match="expected a corpus"):
        CRF(target="x").fit(data, [["X"]])


def test_labels_that_are_no_text_are_refused():
    with pytest.raises(DataError, match=r"sentence 1, token 2: the label 2\.5"):
        CRF().fit(X[:1], [["X", 2.5]])


def test_a_model_is_not_saved_under_settings_that_could_not_be_loaded(tmp_path):
    model = CRF(l2=1.0).fit(X, Y).set_params(l2="much")
    with pytest.raises(SettingError, match="l2 is 'much'"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


class TestInput:
    def test_a_column_that_is_missing(self, corpus):
        model = CRF(target="chunk").fit(corpus)
        with pytest.raises(DataError, match=r"^in\.txt: column 'pos' is missing.*the input has: word"):
            model.predict(parse_conll(b"a\n", ["word"], "in.txt"))

    def test_a_token_that_is_no_list(self, listed):
        with pytest.raises(DataError, match="sentence 2, token 1: "):
            listed.predict([[["a"]], ["b"]])

    def test_lists_for_a_model_of_templates(self, corpus):
        model = CRF(target="chunk").fit(corpus)
        with pytest.raises(TrellisError, match="corpus"):
            model.predict(X)

    def test_a_corpus_for_a_model_of_lists(self, listed, corpus):
        with pytest.raises(TrellisError, match="list"):
            listed.predict(corpus)

    def test_a_development_set_of_the_other_kind(self, corpus):
        with pytest.raises(TrellisError, match="corpus"):
            CRF(target="chunk").fit(corpus, dev=X, dev_y=Y)


def test_a_failed_training_leaves_the_model_before_it(corpus):
    model = CRF(target="chunk").fit(corpus)
    before = model.predict(corpus)
    with pytest.raises(SettingError):
        model.set_params(l2=-1).fit(corpus)
    assert model.predict(corpus) == before
