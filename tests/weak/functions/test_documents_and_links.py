"""Consistency within documents; spans as links."""

from __future__ import annotations

import pytest
from voting import corpus_of, named, voted

from trellis.errors import SettingError
from trellis.weak.applying import apply
from trellis.weak.functions import column, consistent, gazetteer, items, linked, pattern, shape, spans, words

TITLES = pattern(r"(?:Mr\.|Ms\.) (\S+(?: Lee)?)", "PER", group=1, name="titles")
PLACES = pattern(r"in (\S+)", "LOC", group=1, name="places")


def test_the_label_of_most_votes_is_voted_wherever_the_phrase_stands():
    one = consistent([TITLES, PLACES], least=1)
    assert voted(one, "Mr. Ann Lee", "Ann Lee and Ann", "in Lee Lee") == [
        "_ B-PER I-PER",
        "B-PER I-PER _ _",
        "_ B-LOC B-LOC",
    ]
    most = consistent([TITLES, PLACES], least=1)
    assert voted(most, "Mr. Oslo", "Ms. Oslo", "in Oslo") == ["_ B-PER", "_ B-PER", "_ B-PER"]


def test_a_tie_or_too_few_votes_are_no_majority():
    assert voted(consistent([TITLES, PLACES], least=1), "Mr. Oslo", "in Oslo") == ["_ _", "_ _"]
    assert voted(consistent(TITLES), "Mr. X", "X") == ["_ _", "_"]
    assert voted(consistent(TITLES), "Mr. X", "Ms. X", "X") == ["_ B-PER", "_ B-PER", "B-PER"]
    assert voted(consistent(TITLES), "nobody", "") == ["_", ""]


def test_documents_are_told_apart_by_docstart_or_by_a_column():
    one = consistent(TITLES, least=1)
    assert voted(one, "-DOCSTART-", "Mr. X", "X", "-DOCSTART-", "X") == ["_", "_ B-PER", "B-PER", "_", "_"]
    by_column = consistent(TITLES, documents="doc", least=1)
    assert voted(by_column, "Mr. X", "X", "X", doc=["a a", "b", "a"]) == ["_ B-PER", "_", "B-PER"]


def test_functions_on_tokens_count_where_they_spell_segments():
    assert voted(consistent(column("ner"), least=1), "a b", "b a b", ner=["O B-X", "_ _ _"]) == ["_ B-X", "B-X _ B-X"]
    with pytest.raises(SettingError, match="counts spans of 'words-DT', which votes labels such as 'DT'"):
        apply(consistent(words(["a"], "DT")), corpus_of("a"))


def test_what_is_inside_a_span_belongs_together_whatever_it_is():
    votes = apply(linked(gazetteer(["New York City", "Oslo"], "X")), corpus_of("in New York City Oslo", "York"))
    assert votes.linkers == ("linked-gazetteer-X",)
    assert votes.links[:, 0].tolist() == [-1, -1, 1, 1, -1, -1]
    assert votes.functions == ()


def test_ends_of_spans_may_be_said_to_be_apart():
    votes = apply(linked(shape("Xx", "X", least=2), ends=True), corpus_of("in New York now", "New York", "a"))
    assert votes.links[:, 0].tolist() == [-1, 0, 1, 0, -1, 1, -1]


def test_links_stand_beside_votes():
    votes = apply([TITLES, linked(TITLES)], corpus_of("Mr. Ann Lee"))
    assert named(votes) == ["_ B-PER I-PER"]
    assert votes.links.tolist() == [[-1], [-1], [1]]


def test_only_functions_on_spans_can_be_linked_or_be_consistent():
    text = items(name="f")(str)
    with pytest.raises(SettingError, match="cannot be linked"):
        linked(text)
    with pytest.raises(SettingError, match="'f' votes on items"):
        consistent([text])
    with pytest.raises(SettingError, match="links spans of 'words-DT', which votes labels such as 'DT'"):
        apply(linked(words(["a"], "DT")), corpus_of("a"))
    with pytest.raises(SettingError, match="least is 0"):
        consistent(spans(name="g")(list), least=0)
