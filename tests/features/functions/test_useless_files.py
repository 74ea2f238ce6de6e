"""A file of which the training data has not a word is worth a warning."""

from __future__ import annotations

import pytest

from trellis.corpus import Corpus
from trellis.features import TemplateFeatures, templates_for

FILES = {"cluster": "{}\t0110\n", "vectors": "{} 0.5 1.5\n", "gazetteer": "{}\n"}
CORPUS = Corpus.from_lists({"word": [["the", "dog"], ["a"]]})


def learn(features):
    return TemplateFeatures.learn(CORPUS, templates_for(features, ["word"], ""))


@pytest.mark.parametrize("hash_size", [None, 100])
@pytest.mark.parametrize("name", FILES)
def test_a_file_without_a_word_of_the_training_data_is_warned_of(name, hash_size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text(FILES[name].format("perro"))
    templates = templates_for(f'word[0] + {name}(word, "f")[-1:1]', ["word"], "")
    expected = rf"'%{name}\[0,word,\"f\"\]' finds nothing in the training data; is it the right file"
    with pytest.warns(UserWarning, match=expected) as caught:
        TemplateFeatures.learn(CORPUS, templates, hash_size=hash_size)
    assert len(caught) == 1


@pytest.mark.parametrize("name", FILES)
def test_one_word_is_enough(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text(FILES[name].format("dog"))
    learn(f'{name}(word, "f")[0]')


def test_a_file_is_warned_of_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("perro\t0110\n")
    with pytest.warns(UserWarning, match="finds nothing") as caught:
        learn('cluster(word, "f", 2, 3, 4)[0]')
    assert len(caught) == 1
