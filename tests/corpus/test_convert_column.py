"""One column of a corpus, or of a file, in another encoding; nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Column, Corpus, parse_conll, sample_corpus, write_conll
from trellis.corpus.convert import convert_column, convert_text
from trellis.corpus.splice import spliced
from trellis.errors import DataError, SettingError

TEXT = b"\xef\xbb\xbfThe  DT\tB-NP \r\ndog NN I-NP\r\n \r\n# ein Kommentar\r\n\xc3\xa9t\xc3\xa9 NN I-NP x"


def test_a_column_is_converted_and_the_others_stay():
    corpus = sample_corpus("test")
    there = convert_column(corpus, "chunk", "bioes")
    assert set(there["chunk"].strings) > {"O", "S-NP", "E-NP"}
    assert there["chunk"] == there["chunk"].compact()
    assert all(there[name] is corpus[name] for name in ("word", "pos", "entity"))
    back = convert_column(there, "chunk", "iob2", "strict")
    assert write_conll(back) == write_conll(corpus)


def test_an_error_says_where_the_label_is():
    corpus = parse_conll(b"a B-X\nb O\n\nc I-X\n", ["word", "tag"], "some.txt")
    with pytest.raises(DataError, match=r"some\.txt:4: the label 'I-X' may not stand there in iob2") as caught:
        convert_column(corpus, "tag", "bioes", "strict", "iob2")
    assert (caught.value.path, caught.value.line) == ("some.txt", 4)
    lists = Corpus.from_lists({"tag": [["B-X", "O"], ["I-X"]]})
    with pytest.raises(DataError, match="sentence 2, token 1: the label 'I-X'"):
        convert_column(lists, "tag", "bioes", "strict", "iob2")
    with pytest.raises(
        SettingError, match=r"the labels of 'word' in some.txt \('a', 'b', 'c', ...\) are of no segment"
    ):
        convert_column(corpus, "word", "bioes")
    with pytest.raises(SettingError, match="there is no column 'tags'"):
        convert_column(corpus, "tags", "bioes")


def test_all_other_bytes_of_a_file_stay():
    text = TEXT.replace(b" x", b"")
    out, corpus, found = convert_text(text, "bioes", comments=True)
    assert out == text.replace(b"I-NP", b"E-NP").replace(b"\xa9 NN E-NP", b"\xa9 NN S-NP")
    assert (len(corpus), corpus.tokens) == (2, 3)
    assert (found.encoding, found.segments, found.repaired) == ("iob2", 2, 1)


def test_a_column_in_the_middle_of_a_file():
    out, _, _ = convert_text(b"a B-X 1\nb I-X 2\n\n", "io", "tag", columns=["_", "tag", "_"])
    assert out == b"a I-X 1\nb I-X 2\n\n"


def test_a_file_without_tokens_is_refused():
    with pytest.raises(DataError, match=r"some\.txt: there is no token in the file"):
        convert_text(b"\n\n", "io", path="some.txt")


@given(
    st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3), st.text("aé", max_size=3))), st.binary(max_size=3)
)
def test_what_is_spliced_stands_where_the_old_stood(parts, rest):
    """Each part: bytes that stay, bytes that go, text that comes."""
    data = b"".join(before + old for before, old, _ in parts) + rest
    ends = np.cumsum([len(before + old) for before, old, _ in parts]).astype(np.int64)
    starts = ends - np.array([len(old) for _, old, _ in parts], np.int64)
    expected = b"".join(before + new.encode() for before, _, new in parts) + rest
    assert spliced(data, starts, ends, Column.of(new for _, _, new in parts)) == expected
