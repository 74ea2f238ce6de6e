"""Learnt features in the model file: what is read is what was written."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import trellis
from trellis import CRF
from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.features import TemplateFeatures, templates_for
from trellis.features.expression import call, column
from trellis.models.feature_files import get_features, put_features
from trellis.store import from_bytes, to_bytes

WIDE = "/".join(f"%x[{k % 5 - 2},word]" for k in range(30))
FEATURES = {
    "columns": "U0:%x[0,word]\nU1:%x[-1,word]/%x[0,pos]\nU\nB",
    "functions": 'word[-1:1] + suffix(word, 1, 2)[0] & lower(word)[-1] + regex(word, "^[A-Z]\\"%#,]")[0]',
    "several values": 'word[0] + ngrams(word, 2)[-1] + each(pos, "\\t")[0] + (ngrams(word, 3)[0] & pos[0])',
    "wapiti": '*\n*:%X[ 0,0]\nu:%m[-1,0,"^.?\\""]/%t[6,1,"#\\d"] # c\nb:%x[@-1,1]\nU:%x[@1,0]/%x[-5,1]',
    "printed with patterns": str(column("word")[0] + call("t", column("word"), r"^\u")[-1:0]),
    "lower case of functions": 'lower(suffix(word, 2, 3))[-1:0] + suffix(word, 2)[0] + lower(t(word, "^\\u"))[0]',
    "transitions": "U:%x[0,word]\nB:%x[0,pos]/%x[-1,pos]\nB1:%x[0,word]\nB",
    "names in common": "U:%x[-1,word]\nU:%x[1,word]\nU:%x[0,pos]\nB:%x[0,pos]\nB:%x[-1,word]",
    "bags": "word[0] + bag(word[-2:2] + lower(word)[0]) + transitions(bag(pos[-1:0]))",
    "keys too large for a number": f"U0:%x[0,word]\nU1:{WIDE}\nU2:%x[0,pos]/{WIDE}\nB1:{WIDE}\nB2:%x[0,pos]",
    "labels seen": 'tags(word)[-1:1] + tags(word, "pos")[0] + tags(word, 3)[0] + (tags(word)[0] & pos[0])',
    "nothing found": "suffix(word, 90)[0] + (suffix(word, 90)[0] & word[0]) + word[0]",
}  # fmt: skip
FILES = {
    "clusters": 'cluster(word, "paths")[0] + cluster(word, "paths", 1, 2)[-1] + word[0]',
    "clusters in lower case": 'lower(cluster(word, "paths"))[0] + cluster(word, "paths")[0] + word[0]',
    "vectors": 'vectors(word, "vectors.txt")[0] + (vectors(word, "vectors.txt")[0] & pos[0]) + word[0]',
    "gazetteers": 'gazetteer(word, "place.txt")[0] + gazetteer(word, "place.txt", "lower")[1] + word[0]',
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that functions read, in the present folder."""
    (tmp_path / "paths").write_text("001\tdog\t2\n010\tcat\t1\n11\tthe\t9\n", encoding="utf-8")
    (tmp_path / "vectors.txt").write_text("dog 0.5 -1\ncâlin 1e-3 2\n", encoding="utf-8")
    (tmp_path / "place.txt").write_text("the red house\nthing\tbig dog\nthing\tdog\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def written_and_read(features, functions=None):
    """Through the bytes of a file."""
    tensors = {}
    description = put_features(tensors, features)
    found, again = from_bytes(to_bytes({"features": description}, tensors))
    features = get_features(again, found["features"], found["format"], 4, functions or {})
    assert not again
    return features


def assert_same(one, other, data):
    assert other.templates == one.templates
    assert other.columns == one.columns
    assert other.names() == one.names()
    assert other.arc_names() == one.arc_names()
    for part in ("ids", "indptr", "values"):
        np.testing.assert_array_equal(getattr(other.transform(data), part), getattr(one.transform(data), part))
    arcs, again = one.transform(data).arcs, other.transform(data).arcs
    assert (arcs is None) is (again is None)
    if arcs is not None:
        np.testing.assert_array_equal(arcs.ids, again.ids)
    tensors, more = {}, {}
    assert put_features(tensors, one) == put_features(more, other)
    assert to_bytes({}, tensors) == to_bytes({}, more)


def learnt(corpus, text, **more):
    templates = templates_for(text, list(corpus.columns), "chunk")
    return TemplateFeatures.learn(corpus.compact(), templates, "chunk", **more)[0]


@pytest.mark.parametrize("hash_size", [None, 50], ids=["", "hashed"])
@pytest.mark.parametrize("text", FEATURES.values(), ids=FEATURES.keys())
def test_features_come_back_whole(text, hash_size, corpus, heldout):
    features = learnt(corpus, text, hash_size=hash_size)
    assert_same(features, written_and_read(features), heldout)


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_what_functions_look_up_comes_back_without_its_file(text, corpus, heldout, files, tmp_path):
    features = learnt(corpus, text)
    expected = features.transform(heldout)
    for name in ("paths", "vectors.txt", "place.txt"):
        (tmp_path / name).unlink()
    again = written_and_read(features)
    assert_same(features, again, heldout)
    np.testing.assert_array_equal(again.transform(heldout).ids, expected.ids)


def test_resources_that_are_shared_are_written_once(corpus, files):
    features = learnt(corpus, FILES["clusters"])
    tensors = {}
    put_features(tensors, features)
    assert len([name for name in tensors if name.startswith("resource.")]) == 5
    again = written_and_read(features)
    assert len({id(resource) for resource in again.resources.values()}) == 1
    assert len(again.resources) == 3


def test_rare_attributes_stay_left_out(corpus, heldout):
    features = learnt(corpus, FEATURES["columns"], min_count=3)
    assert features.attributes < learnt(corpus, FEATURES["columns"]).attributes
    assert_same(features, written_and_read(features), heldout)


def test_a_description_is_plain_json(corpus):
    description = put_features({}, learnt(corpus, FEATURES["keys too large for a number"]))
    assert json.loads(json.dumps(description)) == description
    assert description["ranks"]


@pytest.mark.parametrize(
    "name", ["functions", "wapiti", "names in common", "keys too large for a number", "labels seen"]
)
def test_a_model_answers_as_before_it_was_saved(name, corpus, heldout, tmp_path, computing):
    model = CRF(target="chunk", features=FEATURES[name], tol=1e-3).fit(corpus)
    model.save(tmp_path / "m")
    loaded = trellis.load(tmp_path / "m")
    for way in ("plain", "compiled"):
        with computing(way):
            assert loaded.predict(heldout) == model.predict(heldout)
            np.testing.assert_array_equal(
                np.concatenate(loaded.predict_marginals(heldout)), np.concatenate(model.predict_marginals(heldout))
            )
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_loaded_model_can_be_trained_again_on_its_features(corpus, tmp_path):
    features = column("word")[0] + call("t", column("word"), r"^\u")[-1]
    model = CRF(target="chunk", features=features, tol=1e-3).fit(corpus)
    model.save(tmp_path / "m")
    loaded = trellis.load(tmp_path / "m")
    assert loaded.fit(corpus).model_.features.templates == model.model_.features.templates
    assert loaded.objective_ == model.objective_


class TestFunctionsOfYourOwn:
    @pytest.fixture
    def model(self, corpus):
        return CRF(target="chunk", features=column("word")[0] + call("apply", column("word"), first_letter)[-1:1]).fit(
            corpus
        )

    def test_are_given_again(self, model, heldout, tmp_path):
        model.save(tmp_path / "m")
        loaded = CRF.load(tmp_path / "m", functions={"first_letter": first_letter})
        assert loaded.predict(heldout) == model.predict(heldout)

    def test_are_asked_for(self, model, tmp_path):
        model.save(tmp_path / "m")
        with pytest.raises(SettingError, match="m: the features use a function of your own, 'first_letter', and text"):
            CRF.load(tmp_path / "m")

    def test_travel_with_a_pickle(self, model, heldout):
        assert pickle.loads(pickle.dumps(model)).predict(heldout) == model.predict(heldout)

    def test_never_are_in_the_file(self, model, tmp_path):
        model.save(tmp_path / "m")
        raw = (tmp_path / "m").read_bytes()
        assert b"first_letter" in raw
        assert b"upper" not in raw


def first_letter(word):
    return word[:1].upper()


class TestTheFirstFormat:
    """Columns' vocabularies by name, places outside the sentence behind them, templates of columns alone."""

    def test_columns_may_be_called_like_numbers(self):
        data = Corpus.from_lists({"0": [["a", "b"]], "1": [["x", "y"]]})
        templates = templates_for("U0:%x[0,1]\nU1:%x[0,0]/%x[-1,1]", ["0", "1"], "")
        features, packed = TemplateFeatures.learn(data, templates)
        assert features.columns == ["1", "0"]
        tensors = {}
        description = put_features(tensors, features)
        for entry in ("hash_size", "resources", "dictionary"):
            description.pop(entry)
        old = first_format(tensors, features)
        again = get_features(old, description, 1, 2, {})
        assert not old
        assert again.names() == features.names()
        np.testing.assert_array_equal(again.transform(data).ids, packed.ids)


def first_format(tensors, features):
    """The tensors as the first format has them."""
    old = {"keys": tensors["label_keys"], "key_counts": tensors["label_key_counts"]}
    for d, name in enumerate(features.columns):
        kept = [s for s in features.vocabularies[d] if not s.startswith("_B")]
        trellis.store.put_strings(old, f"vocabulary.{name}", kept)
    return old
