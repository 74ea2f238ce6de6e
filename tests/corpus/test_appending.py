"""A column is added to the lines of a piece, compiled as in Python."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.corpus import Column, Piece, appending, parse_conll
from trellis.corpus.appending import append_column
from trellis.corpus.columns import append_columns

# one token each, a comment, or nothing
line = st.sampled_from(["a", "\u00e9", " a ", "\ta", "\t", "", "", "# no", "a\x0b\x0c", "d \r", "f\x1c"])


@given(
    lines=st.lists(line, max_size=20),
    end=st.sampled_from(["", "\n", "\n\n"]),
    first_line=st.sampled_from([1, 10]),
    threads=st.sampled_from([1, 2]),
    part=st.sampled_from([1, 10, 1000]),
)
@example(lines=["a", "a"], end="", first_line=1, threads=2, part=1)
@example(lines=[], end="", first_line=1, threads=1, part=1)
def test_the_piece_goes_on_with_the_values(lines, end, first_line, threads, part, computing):
    data = ("\n".join(lines) + end).encode()
    corpus = parse_conll(data, ["w"], first_line=first_line, comments=True)
    piece = Piece(data, first_line, corpus)
    column = Column(np.arange(corpus.tokens, dtype=np.int32) % 3, ["B-é", "I", "long-value"])
    with computing("compiled"), mock.patch.object(appending, "_PART", part):
        found = append_column(piece, column, threads)
    assert found == append_columns(piece, [column.values()])
    with computing("plain"):
        assert append_column(piece, column, threads) == found
