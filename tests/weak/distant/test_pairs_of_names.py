"""Names in sentences, pairs of them, and their fields."""

from __future__ import annotations

from unittest import mock

import pytest

from trellis.corpus import Corpus
from trellis.errors import SettingError
from trellis.weak import KnowledgeBase, relate
from trellis.weak.distant.candidates import Limits
from trellis.weak.distant.mentions import mentions_in

KB = KnowledgeBase(
    [("Ann Lee", "founder", "Oak Bank"), ("Oak", "in", "Oslo")],
    aliases={"Ann Lee": ["Lee"]},
    types={"Ann Lee": "PER", "Oak Bank": "ORG", "Oslo": "LOC", "Oak": "LOC"},
)
PLAIN = KnowledgeBase([("Ann Lee", "founder", "Oak Bank")])


def text_of(*sentences, **columns):
    lists = {"word": [one.split() for one in sentences]}
    return Corpus.from_lists(lists | {name: [one.split() for one in values] for name, values in columns.items()})


def found(corpus, kb=KB, **how):
    mentions = mentions_in(kb, corpus, **how)
    spans = zip(mentions.start.tolist(), mentions.end.tolist(), mentions.entity, mentions.type, strict=True)
    return list(spans)


def pairs(corpus, kb=PLAIN, **how):
    limits = Limits(**{name: how.pop(name) for name in ("between", "mentions", "window", "pattern") if name in how})
    return relate(kb, corpus, negatives=1.0, limits=limits, **how)


@pytest.fixture(params=["plain", "compiled"])
def way(request):
    with mock.patch("trellis.weak.functions.lists.worthwhile", return_value=request.param == "compiled"):
        yield


@pytest.mark.usefixtures("way")
def test_the_longest_name_is_found_and_aliases_are_their_entity():
    text = text_of("Lee left Oak Bank in Oslo", "Ann", "Lee")
    assert found(text) == [
        (0, 1, "Ann Lee", "PER"), (2, 4, "Oak Bank", "ORG"), (5, 6, "Oslo", "LOC"), (7, 8, "Ann Lee", "PER"),
    ]  # fmt: skip


def test_no_name_is_in_the_words_around_a_pair():
    text = text_of("Oak Bank of Oslo said Ann Lee met Oak in Oslo and Lee")
    for one in pairs(text, kb=KB, mentions=4, window=4).records:
        told = " ".join(one[name] for name in ("before", "between", "after", "pattern"))
        assert not {"ann", "lee", "oak", "bank", "oslo"} & set(told.split())
    cut = pairs(text_of("Zed Q R S met Ann Lee at Oak Bank", entity=["B-PER I-PER I-PER I-PER O B-PER I-PER O O O"]),
                window=3, entities="entity").records  # fmt: skip
    assert {one["before"] for one in cut if {one["subject"], one["object"]} == {"Ann Lee", "Oak Bank"}} == {"met"}


def test_a_relation_of_which_no_types_are_known_may_have_any():
    kb = KnowledgeBase(
        [("Ann", "works_for", "Oak"), ("Bo", "born_in", "Oslo")], arguments={"works_for": ("PER", "ORG")}
    )
    text = text_of("Bo left Oslo", "Ann left Oslo", entity=["B-PER O B-LOC", "B-PER O B-LOC"])
    made = relate(kb, text, entities="entity", negatives=1.0)
    assert made.counts.examples["born_in"] == 1
    assert made.counts.types_unfit == 0


def test_a_fact_counts_whatever_types_the_text_has():
    text = text_of("Ann Lee left Oak Bank", entity=["B-LOC I-LOC O B-LOC I-LOC"])
    made = relate(KB, text, entities="entity", negatives=1.0)
    assert (made.counts.examples["founder"], made.counts.types_unfit) == (1, 1)  # the other direction


@pytest.mark.usefixtures("way")
def test_a_longer_name_that_touches_a_marked_one_hides_no_shorter_one():
    kb = KnowledgeBase([("Oak Bank", "in", "Oslo"), ("Oak Bank Chief", "of", "Oak Bank")])
    text = text_of("Oak Bank Chief Lee left", "Oak Bank", entity=["O O B-PER I-PER O", "O O"])
    named = [("Oak Bank", 0, 2), ("Chief Lee", 2, 4), ("Oak Bank", 5, 7)]
    assert [(entity, a, b) for a, b, entity, _ in found(text, kb, entities="entity")] == named


def test_limits_are_limits():
    with pytest.raises(SettingError, match=r"limits is \{'between': 3\}; expected Limits"):
        relate(KB, text_of("a"), limits={"between": 3})


def test_a_column_marks_names_that_the_base_does_not_know():
    text = text_of("Bo Ek met Lee at Oak Bank Hall", entity=["B-PER I-PER O O O B-LOC I-LOC I-LOC"])
    assert found(text, entities="entity") == [
        (0, 2, "Bo Ek", "PER"), (3, 4, "Ann Lee", "PER"), (5, 8, "Oak Bank Hall", "LOC"),
    ]  # fmt: skip


def test_the_type_of_the_base_comes_before_that_of_the_column():
    text = text_of("Oslo and Bergen", entity=["B-PER O B-LOC"])
    assert found(text, entities="entity") == [(0, 1, "Oslo", "LOC"), (2, 3, "Bergen", "LOC")]


def test_labels_that_mark_no_names_are_refused():
    with pytest.raises(SettingError, match="the column 'pos' has labels such as 'NN'; expected those that mark names"):
        found(text_of("a b", pos=["NN VB"]), entities="pos")
    with pytest.raises(SettingError, match="no column 'x'"):
        found(text_of("a b"), entities="x")


def test_a_record_has_the_words_and_never_the_names():
    text = text_of("Yesterday the banker Ann Lee , Founder of Oak Bank , left for good again")
    first, second = pairs(text).records
    assert first == {
        "sentence": 1, "subject": "Ann Lee", "object": "Oak Bank", "subject_type": "_", "object_type": "_",
        "subject_span": [3, 5], "object_span": [8, 10], "order": "subject first", "distance": "2-3",
        "pattern": "X , founder of Y", "before": "yesterday the banker", "between": ", founder of",
        "after": ", left for", "relation": "founder",
        "text": "Yesterday the banker Ann Lee , Founder of Oak Bank , left for",
    }  # fmt: skip
    turned = {"subject": "Oak Bank", "object": "Ann Lee", "subject_span": [8, 10], "object_span": [3, 5]}
    turned |= {"order": "object first", "pattern": "Y , founder of X", "relation": "none"}
    assert second == first | turned


def test_other_names_between_are_told_by_their_types():
    text = text_of("Ann Lee of Oslo and Bo runs Oak Bank", entity=["B-P I-P O B-L O B-PER O B-O I-O"])
    (first,) = [one for one in pairs(text, KB, entities="entity").records if one["relation"] == "founder"]
    assert first["between"] == "of <LOC> and <PER> runs"
    kb = KnowledgeBase([("a", "r", "c"), ("b", "r", "c")])
    (record,) = [one for one in pairs(text_of("a b c"), kb).records if (one["subject"], one["object"]) == ("a", "c")]
    assert record["pattern"] == "X <name> Y"


def test_long_patterns_keep_their_edges_and_distances_are_classes():
    kb = KnowledgeBase([("a", "r", "b")])
    made = [pairs(text_of("a " + "w " * many + "v b"), kb).records[0] for many in (0, 2, 5, 6, 11, 12)]
    assert [one["distance"] for one in made] == ["1", "2-3", "4-6", "7-12", "7-12", "13+"]
    assert made[3]["pattern"] == "X w w w ... w w v Y"
    assert pairs(text_of("a w v b"), kb, pattern=0).records[0]["pattern"] == "X ... Y"
    assert pairs(text_of("a b"), kb).records[0]["pattern"] == "X Y"


def test_of_several_mentions_the_nearest_are_taken():
    kb = KnowledgeBase([("a", "r", "b")])
    (record,) = [one for one in pairs(text_of("a x b y y a z a"), kb).records if one["subject"] == "a"]
    assert (record["subject_span"], record["object_span"]) == ([0, 1], [2, 3])


def test_pairs_too_far_apart_are_left_out_and_counted():
    kb = KnowledgeBase([("a", "r", "b")])
    made = pairs(text_of("a x x b", "a x x x b"), kb, between=2)
    assert [one["sentence"] for one in made.records] == [1, 1]
    assert made.counts.too_far == 2
    assert "left out: 2 pairs too far apart" in made.counts.as_text()


def test_pairs_of_types_that_no_relation_has_are_left_out_and_counted():
    made = pairs(text_of("Ann Lee of Oak Bank in Oslo"), KB)
    assert [(one["subject"], one["object"]) for one in made.records] == [("Ann Lee", "Oak Bank")]
    assert made.counts.types_unfit == 5


def test_a_sentence_with_very_many_names_is_cut_and_counted():
    names = [f"n{k}" for k in range(200)]
    kb = KnowledgeBase([(a, "r", b) for a, b in zip(names[::2], names[1::2], strict=True)])
    made = pairs(text_of(" ".join(names), "n0 n1"), kb, between=1000, mentions=10)
    assert len(made.records) == 10 * 9 + 2
    assert (made.counts.crowded, made.counts.names_left_out) == (1, 190)
    assert made.counts.as_json()["left_out"]["names_in_crowded_sentences"] == 190


def test_a_name_alone_or_twice_is_no_pair():
    assert not pairs(text_of("Ann Lee", "Lee met Ann Lee", "nobody"), KB).records


def test_an_empty_text_has_no_pairs():
    empty = text_of("a").slice(0, 0)
    assert pairs(empty).records == []


@pytest.mark.parametrize("wrong", [{"between": -1}, {"mentions": 1}, {"window": 1.5}, {"pattern": True}])
def test_limits_are_checked(wrong):
    with pytest.raises(SettingError, match=f"the limit '{next(iter(wrong))}' is"):
        Limits(**wrong)
