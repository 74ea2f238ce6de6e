"""The corpus that ships is well-formed and consistent."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import sample_corpus
from trellis.corpus.sample import COLUMNS, sample_path
from trellis.errors import SettingError
from trellis.labels import detect, illegal

PENN = set(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN "
    "VBP VBZ WDT WP WP$ WRB , . : $ # `` '' ( )".split()
)
CHUNKS = set("NP VP PP ADJP ADVP SBAR PRT CONJP INTJ LST UCP".split())
ENTITIES = {"PER", "ORG", "LOC", "MISC"}
PUNCTUATION = {",", ".", ":", "``", "''", "(", ")"}


@pytest.fixture(params=["train", "test"])
def part(request):
    return sample_corpus(request.param)


def rows(corpus):
    return [
        list(zip(*columns, strict=True)) for columns in zip(*(corpus.sentences(name) for name in COLUMNS), strict=True)
    ]


def test_it_is_large_enough():
    train, test = sample_corpus("train"), sample_corpus("test")
    assert len(train) + len(test) >= 400
    assert train.tokens + test.tokens >= 5000
    assert len(test) * 3 < len(train)


def test_no_sentence_is_there_twice():
    sentences = [tuple(words) for part in ("train", "test") for words in sample_corpus(part).sentences("word")]
    assert len(set(sentences)) == len(sentences)


def test_parts_of_speech_are_penn_tags(part):
    assert set(part["pos"].strings) <= PENN


@pytest.mark.parametrize(("column", "types"), [("chunk", CHUNKS), ("entity", ENTITIES)])
def test_segments_are_well_formed_iob2(part, column, types):
    labels = part[column]
    assert {label[2:] for label in labels.strings} - {""} <= types
    assert detect(labels.strings, labels.ids, part.offsets) == "iob2"
    assert len(illegal(labels.strings, labels.ids, part.offsets, "iob2")) == 0


def test_every_entity_type_and_the_common_phrases_occur_in_both_parts(part):
    assert {f"B-{kind}" for kind in ENTITIES} <= set(part["entity"].strings)
    assert {f"B-{kind}" for kind in ("NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT")} <= set(part["chunk"].strings)


def test_annotation_follows_its_guide(part):
    for sentence in rows(part):
        for word, pos, chunk, entity in sentence:
            context = f"{word} in: {' '.join(token[0] for token in sentence)}"
            if pos in PUNCTUATION:
                assert chunk == "O", context
            if pos == "POS":  # a possessive 's begins a phrase
                assert chunk == "B-NP", context
            if pos in ("PRP", "EX"):
                assert chunk.endswith("NP"), context
            if pos in ("NNP", "NNPS"):
                assert chunk.endswith("NP"), context
            if pos in ("VBD", "VBZ", "VBP", "MD"):
                assert chunk in ("B-VP", "I-VP", "O"), context
            if word == "to":
                assert pos == "TO", context
            if entity.startswith("B-") and word.isalpha():  # de Vries, al-Rashid and the like aside
                assert not word.islower() or pos == "NNP", context


def test_sentences_have_a_sensible_length(part):
    lengths = np.diff(part.offsets)
    assert lengths.min() >= 2
    assert lengths.max() <= 40
    assert 10 <= lengths.mean() <= 18


def test_the_file_is_in_canonical_form():
    for name in ("train", "test"):
        data = sample_path(name).read_bytes()
        assert b"\r" not in data
        assert b"\t" not in data
        assert b"  " not in data
        assert data.endswith(b"\n\n")


def test_an_unknown_part_is_an_error():
    with pytest.raises(SettingError, match="train, test"):
        sample_corpus("dev")
