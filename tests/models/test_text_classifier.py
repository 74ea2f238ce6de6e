"""Whole texts: what a `TextClassifier` reads, answers, keeps and refuses."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score

import trellis as tr
from trellis.errors import DataError, NotFittedError, SettingError
from trellis.report import inspect
from trellis.weak import Items

TEXTS = [
    "Check out my channel",
    "best song ever",
    "subscribe to my page",
    "I love her voice",
    "",
    "FREE phones at www.x.com",
] * 3
LABELS = ["SPAM", "HAM", "SPAM", "HAM", "HAM", "SPAM"] * 3
RECORDS = [
    {"text": text, "label": label, "source": "web" if i % 2 else None, "likes": i, "votes": {"f": label}}
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
]


@pytest.fixture(scope="module")
def model():
    return tr.TextClassifier().fit(TEXTS, LABELS)


def same(one, other):
    return one.model_.weights.tolist() == other.model_.weights.tolist()


class TestAnswers:
    def test_one_label_for_each_text(self, model):
        assert model.predict(TEXTS) == LABELS
        assert model.predict([]) == []
        assert [model.classes_[k] for k in model.predict_ids(TEXTS)] == LABELS

    def test_probabilities_in_the_order_of_the_classes(self, model):
        found = model.predict_proba(TEXTS)
        assert found.shape == (18, 2)
        assert found.sum(axis=1) == pytest.approx(1.0)
        assert [model.classes_[k] for k in found.argmax(axis=1)] == LABELS
        assert np.array_equal(found, model.predict_marginals(TEXTS))
        assert model.predict_proba([]).shape == (0, 2)

    def test_entropy_is_that_of_the_probabilities(self, model):
        p = model.predict_proba(TEXTS)
        assert model.entropy(TEXTS) == pytest.approx(-(p * np.log(p)).sum(axis=1))

    def test_scores_are_accuracy_and_of_each_label(self, model):
        wrong = ["HAM", *LABELS[1:]]
        report = model.evaluate(TEXTS, wrong)
        assert model.score(TEXTS, wrong) == report.accuracy == report.headline == pytest.approx(17 / 18)
        assert (report.precision, report.f1) == (None, None)
        assert (report.by_type["SPAM"].gold, report.by_type["SPAM"].predicted, report.by_type["SPAM"].correct) == (
            8,
            9,
            8,
        )
        assert report.macro["recall"] == pytest.approx((1 + 9 / 10) / 2)
        assert report.as_text().splitlines()[:2] == ["processed 18 items.", "accuracy:  94.44%"]

    def test_labels_are_no_segments_whatever_they_look_like(self):
        labels = ["B-A" if label == "SPAM" else "O" for label in LABELS]
        report = tr.TextClassifier().fit(TEXTS, labels).evaluate(TEXTS, labels)
        assert (report.accuracy, report.f1, set(report.by_type)) == (1.0, None, {"B-A", "O"})

    def test_texts_without_a_label_are_not_scored(self, model):
        assert model.evaluate(TEXTS, [None, *LABELS[1:]]).tokens == 17

    def test_an_empty_text_has_an_answer(self, model):
        assert model.predict(["", "\n"]) == ["HAM", "HAM"]


class TestWhatIsRead:
    def test_arrays_of_texts_and_records(self, model):
        assert model.predict(np.array(TEXTS)) == model.predict(tuple(TEXTS)) == LABELS
        assert model.predict(np.array(TEXTS, object)) == LABELS
        assert model.predict([{"text": text} for text in TEXTS]) == LABELS

    def test_records_bring_their_labels(self, model):
        assert same(tr.TextClassifier().fit(RECORDS), model)
        assert same(tr.TextClassifier().fit(Items(RECORDS, None, None, ())), model)
        assert same(tr.TextClassifier("kind").fit([{"text": r["text"], "kind": r["label"]} for r in RECORDS]), model)

    def test_the_label_is_never_read(self, model):
        assert model.predict([{**record, "label": "SPAM"} for record in RECORDS]) == LABELS

    def test_features_of_several_fields(self):
        features = "word_ngrams(text, 1)[0] + source[0] + number(likes)[0]"
        both = tr.TextClassifier(features=features).fit(RECORDS)
        assert {"U:source[0]=web", "U:source[0]=", "U:number(likes)[0]="} <= set(both.model_.features.names())
        assert len(both.predict([{"text": "x", "likes": 2.5}, {"text": "x", "likes": 7, "source": "web"}])) == 2

    def test_items_without_any_field_that_is_read(self):
        both = tr.TextClassifier(features="source[0] + likes[0]").fit(RECORDS)
        with pytest.warns(UserWarning, match="no item has any of the fields that the model reads: source, likes; all"):
            both.predict([{"text": "a"}, {}])
        both.predict([{"text": "a"}, {"likes": None}])  # no warning: it is optional
        assert both.predict([]) == []

    def test_a_field_that_those_held_out_lack(self):
        both = tr.TextClassifier(features='preset("texts") + source[0]').fit(
            RECORDS, dev=[{"text": record["text"], "label": record["label"]} for record in RECORDS]
        )
        assert both.dev_score_ is not None

    def test_what_can_be_read_once_alone(self, model):
        with pytest.raises(DataError, match="items can be read only once"):
            model.predict(text for text in TEXTS)

    def test_an_unknown_label_is_learnt_without(self):
        more = [*RECORDS, {"text": "zzz", "label": None}, {"text": "zzz"}, {"text": "zzz", "label": "_"}]
        assert tr.TextClassifier().fit(more).classes_.tolist() == ["HAM", "SPAM"]
        assert tr.TextClassifier().fit([*TEXTS, "zzz"], [*LABELS, None]).classes_.tolist() == ["HAM", "SPAM"]

    def test_truth_values_of_every_kind_are_fields(self):
        records = [{"flag": np.bool_(one == "SPAM"), "label": one} for one in LABELS]
        model = tr.TextClassifier(features="flag[0]").fit(records)
        assert model.predict([{"flag": True}, {"flag": False}]) == ["SPAM", "HAM"]

    @pytest.mark.parametrize("kind", [int, bool, float, np.int64])
    def test_a_label_is_text(self, kind):
        with pytest.raises(DataError, match=r"item 1: the label \S+ in y is no text; expected text, as str\(label\)"):
            tr.TextClassifier().fit(TEXTS, [kind(one == "SPAM") for one in LABELS])
        records = [{**record, "label": kind(1)} for record in RECORDS]
        with pytest.raises(DataError, match=r"item 1: the label .* in the field 'label' is no text"):
            tr.TextClassifier().fit(records)

    def test_rows_without_anything_have_the_more_frequent_label(self):
        rows = np.random.default_rng(0).normal(size=(100, 3))
        model = tr.TextClassifier(l2=0.1).fit(rows, ["b"] * 10 + ["a"] * 90)
        assert model.predict_proba(np.zeros((1, 3)))[0, 0] > 0.8
        assert model.predict_proba(rows).mean(axis=0) == pytest.approx([0.9, 0.1], abs=0.02)

    def test_equally_probable_labels_are_answered_in_the_order_of_classes(self):
        for labels in (["SPAM", "HAM"], ["HAM", "SPAM"]):
            model = tr.TextClassifier(features="word_ngrams(text, 1)[0]").fit(["buy", "song"], labels)
            assert model.predict(["unknown"]) == [model.classes_[0]] == ["HAM"]
            assert model.predict_ids(["unknown"]).tolist() == [0]

    @pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.coo_matrix])
    def test_matrices_are_ready_made_features(self, kind):
        rows = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
        labels = ["a", "b", "a", "b"]
        model = tr.TextClassifier(l2=0.1).fit(kind(rows), labels)
        lists = [[{str(j): x for j, x in enumerate([*row, 1.0]) if x}] for row in rows.tolist()]
        local = tr.LocalClassifier(l2=0.1).fit(lists, [[label] for label in labels])
        assert model.objective_ == pytest.approx(local.objective_)
        assert model.predict_proba(kind(rows)) == pytest.approx(np.concatenate(local.predict_marginals(lists)))
        assert model.predict(kind(rows[:0])) == []
        assert model.evaluate(kind(rows), ["a", None, "a", "b"]).tokens == 3


class TestTraining:
    def test_it_is_the_classifier_of_tokens(self, model):
        corpus = tr.Corpus.from_lists({"text": [[text] for text in TEXTS], "label": [[label] for label in LABELS]})
        local = tr.LocalClassifier("label", "texts").fit(corpus)
        assert same(local, model)

    def test_a_weight_of_two_is_given_twice(self):
        one = tr.TextClassifier(tol=1e-9).fit(TEXTS, LABELS, sample_weight=[2.0] * 6 + [1.0] * 12)
        two = tr.TextClassifier(tol=1e-9).fit([*TEXTS, *TEXTS[:6]], [*LABELS, *LABELS[:6]])
        assert one.objective_ == pytest.approx(two.objective_, rel=1e-7)
        assert one.predict_proba(TEXTS) == pytest.approx(two.predict_proba(TEXTS), abs=1e-4)

    def test_the_order_of_texts_changes_nothing(self, model):
        other = tr.TextClassifier().fit(TEXTS[::-1], LABELS[::-1])
        assert other.classes_.tolist() == model.classes_.tolist() == sorted(set(LABELS))
        assert other.predict_proba(TEXTS) == pytest.approx(model.predict_proba(TEXTS), abs=1e-3)

    def test_probabilities_in_place_of_labels(self):
        sure = np.array([[1.0, 0.0] if label == "SPAM" else [0.0, 1.0] for label in LABELS])
        soft = tr.TextClassifier(tol=1e-9).fit(TEXTS, soft=sure, labels=["SPAM", "HAM"])
        hard = tr.TextClassifier(tol=1e-9).fit(TEXTS, LABELS)
        assert soft.predict_proba(TEXTS) == pytest.approx(hard.predict_proba(TEXTS), abs=1e-6)
        unsure = tr.TextClassifier(l2=1e-3).fit(TEXTS, soft=0.6 * sure + 0.2, labels=["SPAM", "HAM"])
        assert unsure.predict_proba(TEXTS).max() < 0.85

    def test_development_texts_without_a_label_do_not_count(self):
        model = tr.TextClassifier().fit(TEXTS, LABELS, dev=TEXTS[:3], dev_y=["SPAM", None, "SPAM"])
        assert model.dev_score_ == 1.0

    def test_it_goes_on_from_a_checkpoint_and_from_a_model(self, model, tmp_path):
        def stop(now):
            if now.iteration == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tr.TextClassifier().fit(TEXTS, LABELS, checkpoint=tmp_path, progress=stop)
        assert same(tr.TextClassifier().fit(TEXTS, LABELS, checkpoint=tmp_path, resume=True), model)
        warm = tr.TextClassifier().fit(TEXTS, LABELS, start=model)
        assert warm.iterations_ < model.iterations_

    def test_the_same_bytes_for_any_number_of_threads_and_any_hash_seed(self, tmp_path):
        files = {self.saved(tr.TextClassifier(threads=n).fit(TEXTS, LABELS), tmp_path / "m") for n in (1, 2, None)}
        script = "import sys, trellis\nlines = [one.split('\\t') for one in sys.argv[2:]]\n"
        script += "texts, labels = zip(*lines)\ntrellis.TextClassifier().fit(texts, labels).save(sys.argv[1])"
        given = [f"{text}\t{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
        for seed in ("1", "2"):
            command = [sys.executable, "-c", script, tmp_path / "s", *given]
            subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
            files.add((tmp_path / "s").read_bytes())
        assert len(files) == 1

    def saved(self, model, path):
        model.save(path)
        return path.read_bytes()


class TestKeeping:
    def test_a_model_file(self, model, tmp_path):
        model.save(tmp_path / "m")
        again = tr.load(tmp_path / "m")
        assert type(again) is tr.TextClassifier
        assert np.array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
        assert again.get_params() == {**model.get_params(), "threads": None}

    def test_pickles_and_clones(self, model):
        assert pickle.loads(pickle.dumps(model)).predict(TEXTS) == LABELS
        copy = clone(model)
        assert (copy.get_params(), hasattr(copy, "classes_")) == (model.get_params(), False)
        with pytest.raises(NotFittedError):
            copy.predict(TEXTS)

    def test_cross_validation_by_scikit_learn(self):
        ordered = sorted(
            zip(LABELS, TEXTS, strict=True), key=lambda one: one[0]
        )  # so that folds have both only by stratifying
        labels, texts = map(list, zip(*ordered, strict=True))
        assert is_classifier(tr.TextClassifier())
        assert cross_val_score(tr.TextClassifier(), texts, labels, cv=3).tolist() == [1.0, 1.0, 1.0]
        assert min(cross_val_score(tr.TextClassifier(), texts, labels, cv=3, scoring="roc_auc")) == 1.0
        told = cross_val_score(tr.TextClassifier(), texts, labels, cv=3, scoring="neg_log_loss")
        assert min(told) > -np.log(2.0)

    def test_its_weights_can_be_looked_at(self, model):
        found = inspect(model)
        assert found.labels == ["SPAM", "HAM"]
        assert found.strongest
        assert not found.transitions

    def test_a_few_texts_are_answered_without_a_compiler(self, model, tmp_path):
        model.save(tmp_path / "m")
        script = (
            "import sys, trellis\nmodel = trellis.load(sys.argv[1])\nmodel.predict_proba(['a song'])\n"
            "print(sorted({'numba', 'scipy', 'trellis.weak'} & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "m"], capture_output=True, text=True, check=True
        )
        assert done.stdout == "[]\n"


class TestRefused:
    @pytest.mark.parametrize(
        ("items", "message"),
        [
            ("one text", "items are a str; expected a list of texts, of records, or a matrix"),
            (["a", 3], "item 2 is 3; expected a text, as the first is"),
            (["a", None], "item 2 is None; expected a text"),
            (["a", {"text": "b"}], "item 2 is of the type dict; expected a text, as the first is"),
            ([{"text": "b"}, "a"], "item 2 is of the type str; expected a record"),
            ([["a"]], "item 1 is of the type list; expected a record .*, or a text"),
            ([{"text": "a"}, {"txt": "b"}], "item 2: there is no field 'text'; expected the text of the item"),
            ([{"text": None}], "item 1: 'text' is None"),
            (np.zeros((2, 3)), "this model reads the columns of a corpus"),
            (np.zeros(3), r"a matrix of the shape \(3,\); expected a row for each item"),
            (tr.Corpus.from_lists({"text": [["a", "b"]]}), "sentence 1 of the corpus is not one token"),
        ],
    )
    def test_what_is_no_list_of_texts(self, model, items, message):
        with pytest.raises(DataError, match=message):
            model.predict(items)

    def test_an_item_of_a_file_is_named_by_its_line(self, model):
        items = Items([{"text": "a"}, {"id": 1}], None, None, (), None, "my.jsonl", np.array([1, 4]))
        with pytest.raises(DataError, match=r"^my\.jsonl:4: item 2: there is no field 'text'"):
            model.predict(items)

    def test_labels_that_do_not_match(self, model):
        for ask in (tr.TextClassifier().fit, model.evaluate, model.score):
            with pytest.raises(DataError, match="X and y do not match: 18 items and 17 labels"):
                ask(TEXTS, LABELS[1:])
        with pytest.raises(SettingError, match="labels are needed: y, or records"):
            tr.TextClassifier().fit(TEXTS)
        with pytest.raises(SettingError, match="no record has a label in the field 'kind'"):
            tr.TextClassifier("kind").fit(RECORDS)
        with pytest.raises(DataError, match="no item has a label to compare with"):
            model.evaluate(TEXTS, [None] * 18)
        with pytest.raises(DataError, match="there is no item to learn from"):
            tr.TextClassifier().fit([], [])

    def test_fields_that_the_features_read_and_texts_have_not(self):
        both = tr.TextClassifier(features="word_ngrams(text, 1)[0] + source[0]").fit(RECORDS)
        with pytest.raises(DataError, match="'source' is missing, which the model's features read"):
            both.predict(["only a text"])

    def test_other_models_to_begin_with(self):
        with pytest.raises(SettingError, match="start is a CRF; expected a trained TextClassifier"):
            tr.TextClassifier().fit(TEXTS, LABELS, start=tr.CRF())


def test_marks_of_byte_order_are_no_signs():
    marked = tr.TextClassifier(l2=0.1).fit(["\ufeff" + text + "\ufeff" for text in TEXTS], LABELS)
    assert marked.objective_ == tr.TextClassifier(l2=0.1).fit(TEXTS, LABELS).objective_
    records = [{"text": text + "\ufeff"} for text in TEXTS]
    np.testing.assert_array_equal(marked.predict_proba(records), marked.predict_proba(TEXTS))
