"""Phrases of a list in the text."""

from __future__ import annotations

import numpy as np
import pytest
from function_cases import per_token
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.errors import DataError
from trellis.features.functions import FUNCTIONS
from trellis.features.functions.gazetteer import Gazetteer

GAZETTEER = FUNCTIONS["gazetteer"]


@pytest.fixture
def values(tmp_path):
    """`values(text, sentences, *more)`: each token's values by a file `place.txt` with this text, joined by spaces."""

    def look_up(text, sentences, *more):
        file = tmp_path / "place.txt"
        file.write_text(text, encoding="utf-8")
        arguments = (str(file), *more)
        rows = per_token("gazetteer", [s.split() for s in sentences], GAZETTEER.load(arguments), arguments)
        assert all(number == 1.0 for row in rows for _, number in row)
        return [" ".join(value for value, _ in row) for row in rows]

    return look_up


def test_phrases_have_the_type_of_their_line_or_the_name_of_the_file(values):
    text = "# cities\nNew York\nthing\tApple\n"
    assert values(text, ["in New York Apple"]) == ["", "B-place", "I-place", "B-thing"]


def test_the_longest_phrase_from_the_left_is_taken(values):
    text = "New York\nNew York City\nYork City Hall\nHall\n"
    assert values(text, ["New York City Hall"]) == ["B-place", "I-place", "I-place", "B-place"]
    assert values(text, ["New York Hall"]) == ["B-place", "I-place", "B-place"]
    assert values("a b\nb\nb c d e\n", ["a b c d e"]) == ["B-place", "I-place", "", "", ""]


def test_types_do_not_get_in_each_others_way(values):
    text = "city\tNew York\norg\tBank of New York\nname\tYork\ncity\tYork\n"
    expected = ["B-org", "I-org", "B-city I-org", "I-city I-org B-name"]
    assert values(text, ["Bank of New York"]) == expected


def test_phrases_end_with_their_sentence(values):
    assert values("New York\n", ["New", "York", "", "New York"]) == ["", "", "B-place", "I-place"]


def test_case_counts_unless_it_is_to_be_ignored(values):
    assert values("New York\n", ["new york NEW YORK"]) == ["", "", "", ""]
    assert values("New York\nNEW york\n", ["new york NEW York"], "lower") == ["B-place", "I-place"] * 2


def test_spaces_marks_and_line_ends_do_not_matter(values):
    assert values("\ufeffNew   York \r\n\r\n city\t Oslo\r\n", ["New York Oslo"]) == ["B-place", "I-place", "B-city"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n\tb\n", ":2: expected a phrase"),
        ("a\tb\tc\n", ":1: expected"),
        ("a\t\n", ":1: expected"),
        ("#a\n", ": no phrase"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(values, text, message):
    with pytest.raises(DataError, match=r"place\.txt" + message):
        values(text, [])


def test_a_phrase_with_an_empty_token_cannot_come_from_a_model_file():
    one = np.zeros(1, np.int64)
    for phrase in ("", "a  b", " a"):
        with pytest.raises(ValueError, match="empty token"):
            GAZETTEER.restore({"phrases": [phrase], "types": ["t"], "phrase": one, "type": one})


def test_no_phrases_at_all_are_found_nowhere():
    none = np.zeros(0, np.int64)
    resource = GAZETTEER.restore({"phrases": [], "types": [], "phrase": none, "type": none})
    assert per_token("gazetteer", [["a", "b"]], resource, ("f",)) == [(), ()]


tokens = st.sampled_from("abc")
phrases = st.lists(tokens, min_size=1, max_size=4).map(" ".join)
entries = st.lists(st.tuples(phrases, st.sampled_from("XYZ")), min_size=1, max_size=12, unique=True)


@given(entries=entries, sentences=st.lists(st.lists(st.sampled_from("abcd"), max_size=10), max_size=4))
@example(entries=[("a a", "X"), ("a", "Y")], sentences=[["a"] * 5])
def test_the_same_is_found_as_by_trying_every_phrase_everywhere(entries, sentences):
    types = sorted({kind for _, kind in entries})
    names = sorted({phrase for phrase, _ in entries})
    resource = Gazetteer(
        names,
        types,
        np.array([names.index(phrase) for phrase, _ in entries]),
        np.array([types.index(kind) for _, kind in entries]),
    )
    expected = [row for sentence in sentences for row in by_trial(entries, types, sentence)]
    assert per_token("gazetteer", sentences, resource, ("f",)) == expected


def by_trial(entries, types, sentence):
    rows = [() for _ in sentence]
    for kind in types:
        known = {tuple(phrase.split()) for phrase, other in entries if other == kind}
        at = 0
        while at < len(sentence):
            ends = [end for end in range(len(sentence), at, -1) if tuple(sentence[at:end]) in known]
            for t in range(at, ends[0] if ends else at):
                rows[t] += ((f"{'B' if t == at else 'I'}-{kind}", 1.0),)
            at = ends[0] if ends else at + 1
    return rows
