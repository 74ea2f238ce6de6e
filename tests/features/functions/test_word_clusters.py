"""Word clusters from Brown's files and from two columns."""

from __future__ import annotations

import pytest
from function_cases import per_token

from trellis.errors import DataError
from trellis.features.functions import FUNCTIONS

CLUSTER = FUNCTIONS["cluster"]


@pytest.fixture
def clusters(tmp_path):
    """`clusters(text, words, *more)`: the clusters of words by a file with this text."""

    def look_up(text, words, *more):
        file = tmp_path / "clusters.txt"
        file.write_text(text, encoding="utf-8")
        arguments = (str(file), *more)
        CLUSTER.check(arguments)
        rows = per_token("cluster", [words], CLUSTER.load(arguments), arguments)
        return [row[0][0] if row else None for row in rows]

    return look_up


BROWN = "0010\tthe\t300\n0011\tNew\t20\n01\tin the\t9\n110\té\t1\n"


def test_paths_of_browns_files_come_first(clusters):
    assert clusters(BROWN, ["the", "New", "é", "in the", "x"]) == ["0010", "0011", "110", "01", None]
    assert clusters("01 a\n10 b\n", ["a", "b"]) == ["01", "10"]


def test_in_other_files_the_word_comes_first(clusters):
    assert clusters("the 7\nNew C12\r\n", ["the", "New", "C12"]) == ["7", "C12", None]
    assert clusters("\ufeffa b\tx\n1\ty\n", ["a b", "1"]) == ["x", "y"]
    assert clusters("01 11\n0 zero\n2 two\n", ["01", "0", "2"]) == ["11", "zero", "two"]


def test_prefixes_of_paths(clusters):
    assert clusters(BROWN, ["the", "New", "é", "x"], 3) == ["001", "001", "110", None]
    assert clusters(BROWN, ["the", "é"], 4) == ["0010", "110"]


def test_a_word_that_is_not_there_has_the_cluster_of_its_lower_case_form(clusters):
    assert clusters("the 1\nMay 2\nmay 3\n", ["The", "THE", "May", "MAY", "Them"]) == ["1", "1", "2", "3", None]


def test_features_of_several_lengths_share_what_was_read():
    assert CLUSTER.depends(("paths", 4)) == CLUSTER.depends(("paths",)) == ("paths",)
    assert CLUSTER.many


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\nb\n", r":2: 1 columns; expected"),
        ("a 1\nb 2 3 4\n", r":2: 4 columns; expected"),
        ("0\ta\t1\n01x\tb\t2\n", r":2: '01x' is no path; expected"),
        ("0\t\t1\n", r":1: 3 columns; expected"),
        ("a 1\nb 2\na 1\na 2\n", r":4: 'a' has a second cluster, 2; every word needs just one"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(clusters, text, message):
    with pytest.raises(DataError, match="clusters.txt" + message):
        clusters(text, [])
