"""Presets: what they read, how many templates they have, and that a model can be trained with each."""

from __future__ import annotations

from collections import Counter

import pytest

from trellis.errors import SettingError
from trellis.features import PRESETS, TemplateFeatures, preset, templates_for
from trellis.models import CRF
from trellis.studies.ner_strings import ner_strings

SIZES = {
    "altun-s1": 1, "altun-s2": 8, "altun-s3": 24, "azuma-pos": 26, "azuma-chunk": 28, "chunking": 19,
    "ner": 49, "pos": 30, "lexicon": 9, "texts": 5, "morph": 30,
}  # fmt: skip


def test_every_preset_has_its_number_of_templates_and_a_source():
    assert {name: len(templates_for(name, ["word", "pos", "text", "y"], "y")) for name in PRESETS} == SIZES
    assert all(preset.source for preset in PRESETS.values())


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "texts"])
def test_a_model_can_be_trained_with_it(name, corpus, heldout):
    target = "pos" if name == "azuma-pos" else "chunk"
    crf = CRF(target=target, features=name, l2=1.0).fit(corpus)
    assert crf.converged_
    assert crf.score(heldout) > 0.3


def test_names_need_words_only_and_use_parts_of_speech_where_there_are_any():
    assert len(templates_for("ner", ["word", "y"], "y")) == 41
    assert len(templates_for("ner", ["word", "pos"], "pos")) == 41


def test_a_preset_to_build_on():
    more = preset("ner", ["word", "pos"]) + preset("altun-s1")
    assert len(more.templates()) == 49  # word[0] is there already
    assert len(templates_for(preset("ner"), ["word", "y"], "y")) == 41
    assert len(templates_for(preset("ner"), ["word", "pos", "y"], "y")) == 49
    assert len(templates_for(preset("ner"), ["word", "pos"], "pos")) == 41
    for wrong in (lambda: preset(None), lambda: preset("ner", "word"), lambda: preset("ner")[0]):
        with pytest.raises(SettingError):
            wrong()
    with pytest.raises(SettingError, match=r"no preset 'nre'; did you mean 'ner'\?"):
        preset("nre")
    with pytest.raises(SettingError, match="no preset 'qqq'; the presets are: altun-s1"):
        preset("qqq")


def test_the_names_of_ner_are_what_a_function_in_plain_python_makes(corpus):
    features, packed = TemplateFeatures.learn(corpus, templates_for("ner", list(corpus.columns), "chunk"), "chunk")
    names = features.names()
    strings = [
        token
        for words, tags in zip(corpus.sentences("word"), corpus.sentences("pos"), strict=True)
        for token in ner_strings(words, tags)
    ]
    for t, expected in enumerate(strings):
        assert Counter(names[a] for a in packed.ids[packed.indptr[t] : packed.indptr[t + 1]]) == Counter(expected)
