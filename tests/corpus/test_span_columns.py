"""Spans of a corpus: one column with gaps, or several columns as layers."""

from __future__ import annotations

import pytest

from trellis.corpus import Corpus, parse_conll, write_conll
from trellis.corpus.spans import gappy_spans, layered_spans, with_gappy, with_layers
from trellis.errors import SettingError
from trellis.labels import SpanSet

WORDS = Corpus.from_lists({"word": [["take", "him", "off", "guard"], ["the", "president", "of", "France"]]})
NESTED = SpanSet.from_lists([("PER", [(4, 8)]), ("LOC", [(7, 8)])])


def test_gaps_go_into_a_column_and_come_back_from_a_file():
    spans = SpanSet.from_lists([("V", [(0, 1), (2, 4)]), ("P", [(1, 2)])])
    corpus = with_gappy(WORDS, "mwe", spans)
    assert corpus.sentences("mwe") == [["B-V", "b-P", "I-V", "I-V"], ["O", "O", "O", "O"]]
    assert gappy_spans(parse_conll(write_conll(corpus), ["word", "mwe"]), "mwe") == spans


def test_nested_spans_go_into_as_many_columns_as_they_need():
    corpus = with_layers(WORDS, "entity", NESTED, "bioes")
    assert list(corpus.columns) == ["word", "entity1", "entity2"]
    assert corpus.sentences("entity1")[1] == ["B-PER", "I-PER", "I-PER", "E-PER"]
    again = parse_conll(write_conll(corpus), ["word", "a", "b"])
    assert layered_spans(again, ["a", "b"]) == layered_spans(again, ["b", "a"], "strict") == NESTED


def test_or_into_the_columns_that_are_named():
    corpus = with_layers(WORDS, ["a", "b", "c"], NESTED)
    assert list(corpus.columns) == ["word", "a", "b", "c"]
    assert set(corpus["c"].strings) == {"O"}


def test_columns_are_a_list_of_different_names():
    for columns in ("entity", [], ["a", "a"]):
        with pytest.raises(SettingError, match="expected a list of the names"):
            layered_spans(WORDS, columns)
