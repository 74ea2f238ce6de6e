"""Large files are read in pieces, by kernels and on threads: the same corpus, the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.corpus import parse_conll, pieces, read_conll
from trellis.errors import DataError

field = st.text("abé#\u00a0\u0085\x0b", min_size=1, max_size=3) | st.text("xyz", min_size=7, max_size=19)
separator = st.sampled_from([" ", "\t", " \t "])
comment = st.sampled_from(["# a comment", "#", "#\tlonger than that"])


@st.composite
def lines(draw):
    """A token of two columns, mostly; a comment or a blank line."""
    kind = draw(st.sampled_from(["token", "token", "token", "blank", "comment"]))
    if kind == "token":
        return draw(st.sampled_from(["", " "])) + draw(separator).join([draw(field), draw(field)])
    return draw(comment) if kind == "comment" else draw(st.sampled_from(["", "", " ", "\t"]))


@st.composite
def files(draw):
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    text = end.join(draw(st.lists(lines(), max_size=25))) + draw(st.sampled_from(["", end, end + end]))
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


def answer(data, **more):
    """The corpus as lists, or the error."""
    try:
        corpus = parse_conll(data, path="f", **more)
    except DataError as error:
        return str(error)
    columns = {name: (column.ids.tolist(), list(column.strings)) for name, column in corpus.columns.items()}
    return columns, corpus.offsets.tolist(), corpus.lines.tolist(), corpus.file_columns


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "_LEAST", 16)
    monkeypatch.setattr(pieces, "_MOST", 16)
    monkeypatch.setattr(pieces, "_FIRST", 1)


@pytest.mark.usefixtures("small_pieces")
class TestAFileInPieces:
    @given(data=files(), comments=st.booleans(), threads=st.sampled_from([1, 3]))
    @example(data=b"", comments=False, threads=3)
    @example(data=b"\n \n\n# a\n", comments=True, threads=1)
    @example(data=b"a b\n" * 9 + b"\n" + b"a b\n" * 9, comments=False, threads=3)
    @example(data=b"a b\n\na b\nc\n\n\na b c\n", comments=False, threads=3)
    def test_is_what_it_is_at_once(self, data, comments, threads, computing):
        with computing("plain"):
            plain = answer(data, comments=comments)
        with computing("compiled"):
            assert answer(data, comments=comments, threads=threads) == plain

    @given(data=files(), bad=st.sampled_from([b"\0", b"\xff", b"a b c", b"a", b"\xc3 b"]), place=st.integers(0, 25))
    def test_has_the_same_error(self, data, bad, place, computing):
        broken = data.split(b"\n")
        broken.insert(place, bad)
        with computing("plain"):
            plain = answer(b"\n".join(broken))
        with computing("compiled"):
            assert answer(b"\n".join(broken), threads=2) == plain

    @given(
        data=files(),
        columns=st.sampled_from([["w", "_"], ["_", "t"], ["w", "t"], ["w", "t", "u"], ["w"]]),
        optional=st.sampled_from([(), ("t",), ("u", "t")]),
        width=st.sampled_from([None, 2]),
    )
    def test_has_the_same_columns(self, data, columns, optional, width, computing):
        asked = {"columns": columns, "optional": optional, "width": width, "first_line": 7, "comments": True}
        with computing("plain"):
            plain = answer(data, **asked)
        with computing("compiled"):
            assert answer(data, **asked) == plain

    def test_with_a_line_that_is_too_long_is_refused(self, monkeypatch, computing):
        monkeypatch.setattr("trellis.corpus.fields.MAX_LINE", 20)
        monkeypatch.setattr(pieces, "MAX_LINE", 20)
        with computing("compiled"):
            assert answer(b"a b\n\nc " + b"d" * 18 + b"\n")[1] == [0, 1, 2]
            assert answer(b"a b\n\nc " + b"d" * 19 + b"\n").startswith("f:3: a line of 21 bytes")


def test_files_are_read_on_threads(tmp_path):
    path = tmp_path / "file.txt"
    rng = np.random.default_rng(0)
    path.write_text("".join(f"w{n} t{n % 7}\n" + "\n" * (n % 11 == 0) for n in rng.integers(0, 9000, 60_000).tolist()))
    one, many = (read_conll(path, columns=["word", "tag"], threads=n) for n in (1, 4))
    for name in one.columns:
        np.testing.assert_array_equal(one[name].ids, many[name].ids)
        assert one[name].strings == many[name].strings
    np.testing.assert_array_equal(one.offsets, many.offsets)
    np.testing.assert_array_equal(one.lines, many.lines)
