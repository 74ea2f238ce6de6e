"""Which pairs are examples of what; the base as a labeling function."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.weak import KnowledgeBase, Relating, apply, known_fact, label_model, relate, relate_stream, text_pattern
from trellis.weak.distant.labelling import is_drawn

KB = KnowledgeBase([("a", "r", "b"), ("a", "s", "b"), ("c", "r", "d"), ("e", "s", "f")])
LINES = ["a meets b", "d and c", "a , c and e", "e", "b or d or f"]


def text_of(lines):
    return Corpus.from_lists({"word": [one.split() for one in lines]})


def told(records):
    return sorted((one["subject"], one["object"], str(one["relation"])) for one in records)


def test_facts_label_pairs_and_all_others_are_unrelated():
    made = relate(KB, text_of(LINES), negatives=1.0)
    counts = made.counts
    assert [one for one in told(made.records) if one[2] != "none"] == [
        ("a", "b", "r"),
        ("a", "b", "s"),
        ("c", "d", "r"),
    ]
    assert dict(counts.examples) == {"r": 2, "s": 1}
    assert (counts.candidates, counts.unrelated, counts.negatives, counts.several) == (16, 14, 14, 1)
    assert (counts.sentences, counts.mentions) == (5, 11)
    said = counts.as_json()
    assert (said["facts"], said["facts_matched"], said["facts_never_seen"]) == (4, 3, 1)
    assert "facts: 3 of 4 matched, 1 never seen" in counts.as_text()
    assert made.relations.count("none") == 14
    assert len(made) == 17


def test_what_is_not_labelled_is_there_where_it_is_asked_for():
    made = relate(KB, text_of(LINES), negatives=0.0, every=True)
    assert made.relations.count(None) == 14
    assert relate(KB, text_of(LINES), negatives=0.0).relations == ["r", "s", "r"]


def test_a_pair_with_several_relations_may_be_left():
    made = relate(KB, text_of(LINES), negatives=0.0, several="leave")
    assert made.relations == ["r"]
    assert made.counts.several == 1
    with pytest.raises(SettingError, match="several is 'first'; expected one of each, leave"):
        relate(KB, text_of(LINES), several="first")


def test_a_marked_name_that_may_be_several_entities_makes_no_example():
    facts = [("Mara Lind", "works_for", "Bank"), ("Ole Lind", "born_in", "Oslo")]
    kb = KnowledgeBase(facts, aliases={"Mara Lind": ["Lind"], "Ole Lind": ["Lind"]})
    words = [["Lind", "works", "at", "Bank"], ["Ole", "Lind", "left", "Bank"]]
    corpus = Corpus.from_lists({"word": words, "name": [["B-P", "O", "O", "B-O"], ["B-P", "I-P", "O", "B-O"]]})
    made = relate(kb, corpus, entities="name", negatives=1.0)
    assert told(made.records) == [("Bank", "Ole Lind", "none"), ("Ole Lind", "Bank", "none")]
    assert (made.counts.unclear, made.counts.unrelated, made.counts.candidates) == (2, 2, 4)
    assert made.counts.as_json()["unclear_names"] == 2
    assert "2 pairs have a name that stands for several entities; they are not labelled" in made.counts.as_text()
    assert len(relate(kb, corpus, entities="name", negatives=1.0, every=True)) == 4
    items = [{"subject": one, "object": "Bank"} for one in ("Lind", "Mara Lind")]
    votes = apply(known_fact(kb, negatives=1.0), items)
    assert votes.values[:, 0].tolist() == [-1, votes.labels.index("works_for")]


def test_the_draw_depends_on_the_pair_and_the_seed_alone():
    names = [f"n{k}" for k in range(60)]
    kb = KnowledgeBase([(names[0], "r", names[1])], types=dict.fromkeys(names, "X"))
    lines = [f"{a} {b}" for a in names for b in names if a < b]
    whole = relate(kb, text_of(lines), negatives=0.1)
    assert 0.07 < whole.counts.negatives / whole.counts.unrelated < 0.13
    relating = Relating(kb, negatives=0.1)
    pieces = [text_of(lines[k : k + 100]) for k in range(0, len(lines), 100)]
    assert list(relate_stream(relating, pieces)) == whole.records
    assert relating.counts == whole.counts
    assert told(relate(kb, text_of(lines[::-1]), negatives=0.1).records) == told(whole.records)
    assert told(relate(kb, text_of(lines), negatives=0.1, seed=1).records) != told(whole.records)
    more = relate(kb, text_of(lines), negatives=0.2)
    assert set(told(whole.records)) <= set(told(more.records))


def test_one_in_a_hundred_is_drawn_by_default():
    drawn = [is_drawn(f"x{k}", "y", 0.01, 0) for k in range(20_000)]
    assert 150 < sum(drawn) < 250
    assert all(is_drawn(f"x{k}", "y", 1.0, 0) for k in range(100))
    assert not any(is_drawn(f"x{k}", "y", 0.0, 0) for k in range(100))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"negatives": 1.5}, "negatives is 1.5; expected a share"),
        ({"negatives": float("nan")}, "negatives is nan"),
        ({"negatives": "all"}, "negatives is 'all'"),
        ({"seed": 0.5}, "seed is 0.5; expected a whole number"),
    ],
)
def test_shares_and_seeds_are_checked(how, said):
    with pytest.raises(SettingError, match=said):
        relate(KB, text_of(LINES), **how)


def test_a_base_and_a_corpus_are_expected():
    with pytest.raises(SettingError, match="expected a KnowledgeBase"):
        relate([("a", "r", "b")], text_of(LINES))
    with pytest.raises(SettingError, match="expected a Corpus"):
        relate(KB, ["a b"])


def test_known_facts_vote_beside_patterns():
    pairs = relate(KB, text_of([*LINES, "a founded e"]), negatives=0.0, every=True, several="leave").records
    votes = apply([known_fact(KB), text_pattern("founded", "r", field="between", name="founded")], pairs)
    assert votes.functions == ("known_fact", "founded")
    said = {(one["subject"], one["object"]): row.tolist() for one, row in zip(pairs, votes.values, strict=True)}
    r = votes.labels.index("r")
    assert said["c", "d"] == [r, -1]
    assert said["a", "b"] == [-1, -1]  # of two relations
    assert said["a", "e"] == [-1, r]
    believed = label_model("majority")().fit(votes).predict(votes)
    assert [label for one, (label,) in zip(pairs, believed, strict=True) if "founded" in one["between"]] == ["r", "r"]


def test_known_facts_may_vote_for_none():
    pairs = [{"subject": "a", "object": "z"}, {"subject": "c", "object": "d"}]
    votes = apply(known_fact(KB, negatives=1.0), pairs)
    assert [votes.labels[k] for k in votes.values[:, 0].tolist()] == ["none", "r"]
    assert np.all(apply(known_fact(KB), pairs[:1], labels=["r"]).values == -1)


def test_items_without_a_pair_are_refused():
    with pytest.raises(DataError, match="item 1: the labeling function 'known_fact' found no pair in"):
        apply(known_fact(KB), [{"text": "x"}])
    with pytest.raises(SettingError, match="expected a KnowledgeBase"):
        known_fact("kb.tsv")
