"""How good relations and new facts are."""

from __future__ import annotations

import numpy as np
import pytest

from trellis.errors import DataError, SettingError
from trellis.weak import KnowledgeBase, read_relations, score_new_facts, score_relations

GOLD = [(1, "a", "r", "b"), (2, "a", "r", "b"), (3, "c", "s", "d"), (4, "e", "r", "f")]
RECORDS = [
    {"sentence": 1, "subject": "a", "object": "b"},
    {"sentence": 1, "subject": "b", "object": "a"},
    {"sentence": 2, "subject": "a", "object": "b"},
    {"sentence": 3, "subject": "c", "object": "d"},
]


def test_none_is_no_relation_and_what_is_no_record_is_missed():
    report = score_relations(GOLD, RECORDS, ["r", "none", None, "r"])
    assert (report.precision, report.recall) == (1 / 2, 1 / 4)
    assert (report.by_type["r"].gold, report.by_type["r"].predicted, report.by_type["r"].correct) == (3, 2, 1)
    assert report.by_type["s"].f1 == 0.0
    assert report.sentences == 4


def test_direction_counts():
    assert score_relations(GOLD, RECORDS, [None, "r", None, None]).f1 == 0.0


def test_new_facts_count_once_and_not_at_all_if_the_base_has_them():
    kb = KnowledgeBase([("c", "s", "d")])
    report = score_new_facts(kb, GOLD, RECORDS, ["r", "s", "r", "s"])
    assert (report.precision, report.recall) == (1 / 2, 1 / 2)  # a r b of a r b and b s a; e r f is missed


def test_nothing_predicted_is_nothing_right():
    assert score_relations(GOLD, [], []).f1 == 0.0
    assert score_relations([], [], []).precision == 0.0


def test_there_is_one_relation_for_each_record():
    with pytest.raises(DataError, match="1 relations for 4 records; expected one for each"):
        score_relations(GOLD, RECORDS, ["r"])


def test_gold_relations_are_read_each_once(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("# by hand\n1\ta\tr\tb\n1\ta\tr\tb\n12\tc d\ts\te\n")
    assert read_relations(path) == [(1, "a", "r", "b"), (12, "c d", "s", "e")]


@pytest.mark.parametrize("number", ["0", "x", "-1", "1.5", "²", "9" * 5000])
def test_sentences_are_numbers_from_one_on(number, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text(f"{number}\ta\tr\tb\n")
    with pytest.raises(DataError, match=r"gold\.tsv:1: the sentence is"):
        read_relations(path)


def test_arguments_in_another_order():
    gold, kb = [(1, "a", "r", "b")], KnowledgeBase([("a", "r", "b")])
    with pytest.raises(DataError, match=r"gold relation 1 is .*; expected \(sentence, subject, relation, object\)"):
        score_relations([{"sentence": 1, "subject": "a", "object": "b"}], [], [])
    with pytest.raises(DataError, match=r"gold relation 1 is .*; expected \(sentence"):
        score_relations([(1, ["a"], "r", "b")], [], [])
    with pytest.raises(DataError, match=r"predicted relation 1 is \['r'\]; expected its name"):
        score_relations(gold, [{"sentence": 1, "subject": "a", "object": "b"}], [["r"]])
    with pytest.raises(SettingError, match=r"the knowledge base is .*; expected a KnowledgeBase"):
        score_new_facts(gold, kb, [], [])
    with pytest.raises(DataError, match=r"the records are .*; expected a list"):
        score_relations(gold, kb, [])


def test_arrays_are_lists_too():
    said = ["r", "none", "r", "s"]
    found = score_relations(GOLD, RECORDS[:4], np.array(said, dtype=object))
    assert found.as_json() == score_relations(GOLD, RECORDS[:4], said).as_json()
