"""What a CRF does with its features: selection, dictionaries, functions, and files that come back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import trellis
from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features import apply, columns, templates_for
from trellis.models import CRF

word, pos = columns("word", "pos")


def first_letter(string):
    return string[:1]


def test_rare_attributes_are_left_out(corpus, heldout):
    sizes = [CRF("chunk", "word[-1:1]", min_count=n).fit(corpus).model_.features.attributes for n in (1, 15, 25)]
    assert sizes[0] > sizes[1] > sizes[2] > 0
    counts = np.unique(corpus["word"].ids, return_counts=True)[1]
    kept = CRF("chunk", "word[0]", min_count=5).fit(corpus)
    assert kept.model_.features.attributes == np.count_nonzero(counts >= 5)
    assert len(kept.predict(heldout)) == len(heldout)


def test_features_that_find_nothing_are_an_error(corpus):
    with pytest.raises(DataError, match="find nothing in the training data 99999 times or more"):
        CRF("chunk", "word[0]", min_count=99999).fit(corpus)
    with pytest.raises(DataError, match="find nothing in the training data; choose others"):
        CRF("chunk", 'regex(word, "^neverever$")[0]').fit(corpus)


def test_hashing_has_the_size_it_was_given_and_counts_nothing(corpus, heldout, tmp_path):
    crf = CRF("chunk", "word[-1:1] + suffix(word, 1, 2)[0] + transitions(pos[0])", hash_size=300, l2=1.0).fit(corpus)
    assert crf.model_.features.attributes == crf.model_.features.arc_attributes == 300
    crf.save(tmp_path / "m")
    assert trellis.load(tmp_path / "m").predict(heldout) == crf.predict(heldout)
    assert b"Reykjavik" not in (tmp_path / "m").read_bytes()
    with pytest.raises(SettingError, match="min_count has no meaning with hash_size"):
        CRF("chunk", "word[0]", hash_size=300, min_count=2).fit(corpus)


def test_the_same_model_for_any_number_of_threads(corpus, tmp_path):
    files = []
    for threads in (1, 2, 8):
        for size in (None, 1000):
            crf = CRF("chunk", "ner", hash_size=size, tol=0.9, threads=threads).fit(corpus)
            crf.save(tmp_path / "m")
            files.append((tmp_path / "m").read_bytes())
    assert files[0] == files[2] == files[4]
    assert files[1] == files[3] == files[5]


def test_the_tag_dictionary_is_about_words(corpus, tmp_path):
    crf = CRF("chunk", "pos[0]", tag_dictionary=3).fit(corpus)
    assert crf.model_.features.dictionary.column == "word"
    assert crf.model_.features.columns == ["pos", "word"]
    text = {"form": [["a", "b"]], "x": [["1", "2"]], "y": [["A", "B"]]}
    with pytest.raises(SettingError, match=r"needs a column of words; name it 'word'.*form, x"):
        CRF("y", "form[0]", tag_dictionary=1).fit(Corpus.from_lists(text))
    del text["x"]
    CRF("y", "form[0]", tag_dictionary=1).fit(Corpus.from_lists(text))
    (tmp_path / "bias").write_text("U00\n")
    with pytest.raises(SettingError, match="beside the target: none"):
        CRF("y", tmp_path / "bias", tag_dictionary=1).fit(Corpus.from_lists({"y": [["A", "B"]]}))


def test_a_loaded_model_with_functions_pickles_and_can_be_trained_again(corpus, heldout, tmp_path):
    crf = CRF("chunk", word[0] + apply(word, first_letter)[-1:1], l2=1.0).fit(corpus)
    crf.save(tmp_path / "m")
    loaded = trellis.load(tmp_path / "m", functions={"first_letter": first_letter})
    assert pickle.loads(pickle.dumps(loaded)).predict(heldout) == crf.predict(heldout)
    again = CRF(**loaded.get_params()).fit(corpus)
    np.testing.assert_array_equal(again.model_.weights, crf.model_.weights)


def test_a_conjunction_that_never_finds_all_its_parts_comes_back(tmp_path):
    """Its numbers would be too large, and there is none to rank."""
    words = [f"word{n:06d}" for n in range(4000)]
    text = {"word": [words[n : n + 2] for n in range(0, 4000, 2)], "y": [["A", "B"]] * 2000}
    wide = " & ".join(f"prefix(word, 10)[{d}]" for d in (-2, -1, 0, 1, 2, -2, 2))
    crf = CRF("y", f"prefix(word, 1)[0] + ({wide})", l2=1.0).fit(Corpus.from_lists(text))
    crf.save(tmp_path / "m")
    assert trellis.load(tmp_path / "m").model_.features.attributes == crf.model_.features.attributes


def test_time_for_a_sentence_does_not_grow_with_the_vocabulary(corpus, monkeypatch):
    """The look-up tables are made once."""
    crf = CRF("chunk", "word[0]").fit(corpus)
    (group,) = crf.model_.features.labels.groups
    crf.predict(corpus.slice(0, 1))
    table = group.by_value
    crf.predict(corpus.slice(1, 2))
    assert group.by_value is table


def test_printed_features_make_the_same_model(corpus, tmp_path):
    features = word[-1:1] + (pos[-1] & pos[0])
    (tmp_path / "printed.tmpl").write_text(str(features))
    one, two = (CRF("chunk", f, l2=1.0).fit(corpus) for f in (features, str(tmp_path / "printed.tmpl")))
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    assert templates_for(features, ["word", "pos"], "") == templates_for(str(features), ["word", "pos"], "")


def test_a_file_may_name_a_preset(tmp_path):
    (tmp_path / "mine").write_text("chunking\n")
    named = templates_for(tmp_path / "mine", ["word", "pos", "y"], "y")
    assert named == templates_for("chunking\n", ["word", "pos", "y"], "y")


def test_a_loaded_model_does_not_make_up_where_its_features_were_written(tmp_path):
    text = {"word": [["a", "b"]], "n": [["1", "-2"]], "y": [["A", "B"]]}
    CRF("y", "number(n)[-1:1] + word[0]").fit(Corpus.from_lists(text)).save(tmp_path / "m")
    text["n"] = [["1", "x"]]
    with pytest.raises(DataError, match=r"'x' is not a number.*\('%number\[0,n\]'\)"):
        trellis.load(tmp_path / "m").predict(Corpus.from_lists(text))
