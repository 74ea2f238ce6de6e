"""Word vectors from text files."""

from __future__ import annotations

import numpy as np
import pytest
from function_cases import per_token
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trellis.errors import DataError
from trellis.features.functions import FUNCTIONS

VECTORS = FUNCTIONS["vectors"]


@pytest.fixture
def load(tmp_path):
    """`load(text)`: the vectors of a file with this text."""

    def read(text):
        file = tmp_path / "vectors.txt"
        file.write_text(text, encoding="utf-8")
        return VECTORS.load((str(file),))

    return read


def test_a_word_has_the_numbers_of_its_line(load):
    vectors = load("the 0.5 -1\ndog 1e-3 2\n")
    rows = per_token("vectors", [["dog", "cat", "the"]], vectors, ("f",))
    assert rows == [(("0", 0.001), ("1", 2.0)), (), (("0", 0.5), ("1", -1.0))]


def test_a_word_that_is_not_there_has_the_vector_of_its_lower_case_form(load):
    vectors = load("may 1\nMay 2\n")
    rows = per_token("vectors", [["may", "May", "MAY"]], vectors, ("f",))
    assert rows == [(("0", 1.0),), (("0", 2.0),), (("0", 1.0),)]


@pytest.mark.parametrize(
    "text",
    [
        "2 3\nthe 1 2 3 \nof 4 5 6 \n",
        "the 1 2 3\nof 4 5 6\nthe 7 8 9\n",
        "\ufeffthe\t1\t2\t3\r\n\r\nof\t4\t5\t6\r\n",
        "the 1 2 3\nof 4 5 6",
    ],
    ids=["word2vec", "a word twice", "tabs", "no last newline"],
)
def test_the_forms_that_are_in_use(load, text):
    vectors = load(text)
    assert vectors.words == ["the", "of"]
    np.testing.assert_array_equal(vectors.values, [[1, 2, 3], [4, 5, 6]])
    assert vectors.values.dtype == np.float64


def test_words_may_have_spaces_of_any_kind(load):
    assert load("a 1 2\nat name@domain.com 3 4\n. . . 5 6\nx\u00a0y 7 8\n").words == [
        "a",
        "at name@domain.com",
        ". . .",
        "x\u00a0y",
    ]


@given(values=arrays(np.float64, (3, 4), elements=st.floats(allow_nan=False, allow_infinity=False)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_keep_every_bit(load, values):
    text = "".join(f"w{k} {' '.join(map(repr, row))}\n" for k, row in enumerate(values.tolist()))
    np.testing.assert_array_equal(load(text).values, values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", ":2: 1 values, but 2 on the first line"),
        ("a 1 2\nb 1 2 3\n", ":2: 3 values, but 2 on the first line"),
        ("1 3\na 1 2\n", ":2: 2 values, but 3"),
        ("a 1 2\n\nb 1 x\n", ":3: 'x' is not a number; expected"),
        ("a 1 2\nb 1 nan\nc inf 1\n", ":2: a number that is not finite"),
        ("a 1 2\nb 1 1e999\n", ":2: a number that is not finite"),
        ("3 2\na 1 2\nb 1 2\n", ":3: 2 words, but the first line says 3; is the file cut off"),
        ("word\n", ":1: no vector here"),
        ("0 5\n", ":1: no vector here"),
        ("5 0\n", ":1: no vector here"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(load, text, message):
    with pytest.raises(DataError, match="vectors.txt" + message):
        load(text)


def test_many_vectors_need_little_more_memory_than_their_numbers(tmp_path):
    import tracemalloc

    file = tmp_path / "v.txt"
    numbers = " ".join(f"0.{k:04}" for k in range(100))
    file.write_text("".join(f"w{k} {numbers}\n" for k in range(2000)))
    tracemalloc.start()
    try:
        vectors = VECTORS.load((str(file),))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.7 * vectors.values.nbytes
