"""The example: what is learnt from matched sentences beats matching, and its data are what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from trellis.corpus import read_conll
from trellis.weak import KnowledgeBase, read_relations, relate

ROOT = Path(__file__).parents[3]
DATA = ROOT / "examples" / "distant"


@pytest.fixture(scope="module")
def scores():
    return runpy.run_path(str(ROOT / "examples" / "distant_supervision.py"))["compare"]()


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase.read(DATA / "kb.tsv", DATA / "aliases.tsv", arguments=DATA / "arguments.tsv")


def sentences(name):
    return [" ".join(one) for one in read_conll(DATA / name, columns=["word", "entity"]).sentences("word")]


def test_the_classifier_beats_matching_alone(scores):
    (matching, _), (learnt, _) = scores["matching alone"], scores["classifier"]
    assert learnt.f1 > matching.f1 + 0.2
    assert learnt.precision > matching.precision
    assert learnt.recall > matching.recall


def test_it_finds_facts_that_the_base_does_not_have_and_matching_none(scores):
    (_, matching), (_, learnt) = scores["matching alone"], scores["classifier"]
    assert sum(one.predicted for one in matching.by_type.values()) == 0
    assert sum(one.correct for one in learnt.by_type.values()) >= 20
    assert learnt.precision > 0.6


def test_no_sentence_is_in_both_texts():
    assert not set(sentences("train.txt")) & set(sentences("test.txt"))


def test_gold_relations_are_between_names_of_their_sentences(kb):
    gold = read_relations(DATA / "test.relations.tsv")
    test = read_conll(DATA / "test.txt", columns=["word", "entity"])
    pairs = relate(kb, test, entities="entity", every=True).records
    assert {one[:2] + one[3:] for one in gold} <= {(p["sentence"], p["subject"], p["object"]) for p in pairs}
    assert {one[2] for one in gold} == set(kb.relations)


def test_half_of_what_matches_is_not_said_and_most_gold_relations_are_not_in_the_base(kb):
    gold = read_relations(DATA / "test.relations.tsv")
    matched = relate(kb, read_conll(DATA / "test.txt", columns=["word", "entity"]), entities="entity", negatives=0.0)
    said = {(one["sentence"], one["subject"], one["relation"], one["object"]) for one in matched.records}
    assert 0.4 < len(said & set(gold)) / len(said) < 0.6
    assert sum((s, r, o) in kb for _, s, r, o in gold) < len(gold) / 2
