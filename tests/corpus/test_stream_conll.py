"""A stream gives the same sentences however its bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trellis.corpus import columns, concatenate, parse_conll, stream_conll
from trellis.errors import DataError

NAMES = ["word", "tag"]


class Pieces:
    """A pipe: each read gives the next piece."""

    def __init__(self, *pieces):
        self.pieces = [piece for piece in pieces if piece]

    def read(self, most):
        assert all(len(piece) <= most for piece in self.pieces[:1])
        return self.pieces.pop(0) if self.pieces else b""


@st.composite
def cuts(draw, data):
    """The bytes in random pieces, often of one byte."""
    if draw(st.booleans()):
        return [data[k : k + 1] for k in range(len(data))]
    places = sorted(draw(st.sets(st.integers(0, len(data)), max_size=12)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


token = st.text("ab#é\u00a0", min_size=1, max_size=3)  # U+FEFF: only as a mark, see the example below
row = st.tuples(token, token).map(" ".join)
sentence = st.lists(row, min_size=1, max_size=3)
blank = st.sampled_from(["", "", "", " ", "\t "])


@st.composite
def documents(draw):
    """Column files in all their variety; and the same in pieces."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(blank, max_size=2))
    for rows in draw(st.lists(sentence, max_size=5)):
        lines += rows + draw(st.lists(blank, min_size=1, max_size=3))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    if text.startswith("\ufeff") or draw(st.booleans()):  # the first one of a file is none of its text
        text = "\ufeff" + text
    data = text.encode()
    return data, draw(cuts(data))


def sentences(corpus):
    return [list(zip(*pair, strict=True)) for pair in zip(*map(corpus.sentences, corpus.columns), strict=True)]


@given(document=documents())
@example(document=(b"a A\n\n\xef\xbb\xbfb B\n", [b"a A\n\n", b"\xef\xbb\xbfb B\n"]))
def test_any_pieces_give_the_sentences_of_the_whole(document):
    data, pieces = document
    whole = parse_conll(data, NAMES)
    parts = list(stream_conll(Pieces(*pieces), NAMES))
    assert b"".join(part.data for part in parts) == data
    assert [s for part in parts for s in sentences(part.corpus)] == sentences(whole)
    if parts:
        assert concatenate([part.corpus for part in parts]).offsets.tolist() == whole.offsets.tolist()
    assert [n for part in parts for n in part.corpus.lines.tolist()] == whole.lines.tolist()


@given(data=st.data(), bad=st.sampled_from([b"a\0 A", b"\xff A", b"a A x", b"a"]))
def test_errors_name_the_bad_line_for_any_pieces(data, bad):
    good, _ = data.draw(documents())
    lines = good.split(b"\n")
    at = data.draw(st.integers(1, len(lines)))
    lines.insert(at, bad)
    broken = b"\n".join(lines)
    with pytest.raises(DataError, match=f"^f:{at + 1}: "):
        parse_conll(broken, NAMES, "f")
    with pytest.raises(DataError, match=f"^f:{at + 1}: "):
        list(stream_conll(Pieces(*data.draw(cuts(broken))), NAMES, "f"))


@given(data=st.data(), bad=st.sampled_from([b"a\0 A", b"\xff A", b"a A x", b"a"]), end=st.sampled_from([b"", b"\xff"]))
def test_the_sentences_before_a_bad_one_are_given_first(data, bad, end):
    good, _ = data.draw(documents())
    good += b"\n\n"
    broken = good + b"b B\n" + bad + b"\n\nc C\n" + end
    stream, at = stream_conll(Pieces(*data.draw(cuts(broken))), NAMES, "f"), good.count(b"\n") + 2
    answered = []
    with pytest.raises(DataError, match=f"^f:{at}: "):
        answered.extend(stream)
    assert [s for part in answered for s in sentences(part.corpus)] == sentences(parse_conll(good, NAMES))
    assert good.startswith(b"".join(part.data for part in answered))


@given(pieces=cuts(b"a A\n\nb B\n\nc\n\nd D\n"))
def test_a_sentence_without_the_optional_column_that_others_have_is_an_error_for_any_pieces(pieces):
    with pytest.raises(DataError, match=r"^f:5: "):
        list(stream_conll(Pieces(*pieces), NAMES, "f", optional=["tag"]))


@given(pieces=cuts(b"a A\n\nb B\n\nc C C\n"))
def test_a_change_of_width_is_an_error_for_any_pieces(pieces):
    with pytest.raises(DataError, match=r"^f:5: "):
        list(stream_conll(Pieces(*pieces), None, "f"))


def test_a_sentence_is_answered_as_soon_as_its_blank_line_arrives():
    arrived = []

    class Slow:
        def read(self, most):
            arrived.append(None)
            return [b"a A\nb", b" B\n", b"\nc C\n", b""][len(arrived) - 1]

    stream = stream_conll(Slow(), NAMES)
    assert sentences(next(stream).corpus) == [[("a", "A"), ("b", "B")]]
    assert len(arrived) == 3
    last = next(stream)
    assert (last.data, last.first_line) == (b"c C\n", 4)
    assert list(stream) == []


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"   \n", b" \t \r\n"])
def test_any_blank_line_ends_a_sentence_also_byte_by_byte(blank):
    data = b"a A\n" + blank + b"b B\n"
    file = Pieces(*(data[k : k + 1] for k in range(len(data))))
    assert sentences(next(stream_conll(file, NAMES)).corpus) == [[("a", "A")]]
    assert b"".join(file.pieces) == b"b B\n"


def test_an_empty_stream_has_no_pieces():
    assert list(stream_conll(Pieces(), NAMES)) == []


def test_a_stream_without_blank_lines_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(columns, "MAX_SENTENCE", 1000)

    class Endless:
        def read(self, most):
            return b"a A\n" * 10

    with pytest.raises(DataError, match=r"^f:1: no blank line"):
        list(stream_conll(Endless(), NAMES, "f"))
