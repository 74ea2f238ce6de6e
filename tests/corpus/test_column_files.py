"""Column files: what is read, and what is refused with its file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trellis.corpus import Corpus, fields, parse_conll, read_conll, write_conll
from trellis.errors import DataError, FileAccessError, SettingError

NAMES = ["word", "tag"]
TWO_SENTENCES = {"word": [["The", "dog"], ["Stop"]], "tag": [["D", "N"], ["V"]]}


def as_lists(corpus):
    return {name: corpus.sentences(name) for name in corpus.columns}


@pytest.mark.parametrize(
    "text",
    [
        "The D\ndog N\n\nStop V\n\n",
        "The\tD\ndog\tN\n\nStop\tV\n",
        "The  \t D\n dog N \n\nStop V",
        "The D\ndog N\n\n\n \t\n\nStop V\n\n\n\n",
        "\n\nThe D\ndog N\n\nStop V\n",
        "The D\r\ndog N\r\n\r\nStop V\r\n\r\n",
        "The D\r\ndog N\r\n \r\nStop V",
        "\ufeffThe D\ndog N\n\nStop V\n",
        "\ufeff\nThe D\ndog N\n\nStop V\n",
    ],
    ids=[
        "spaces",
        "tabs, no last blank line",
        "mixed and no final newline",
        "several blank lines",
        "blank lines first",
        "CRLF",
        "CRLF with a space",
        "BOM",
        "BOM on a line of its own",
    ],
)
def test_all_of_these_are_the_same_two_sentences(text):
    corpus = parse_conll(text.encode(), NAMES)
    assert as_lists(corpus) == TWO_SENTENCES
    assert corpus.offsets.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    "space", ["\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\u200b", "\x0b", "\x0c", "\ufeff"]
)
def test_only_space_tab_and_line_ends_separate(space):
    corpus = parse_conll(f"a{space}b X\n{space} Y\n".encode(), NAMES)
    assert as_lists(corpus) == {"word": [[f"a{space}b", space]], "tag": [["X", "Y"]]}


def test_strings_are_numbered_in_order_of_first_appearance():
    corpus = parse_conll(b"b x\na x\nb y\n")
    assert corpus["c0"].strings == ["b", "a"]
    assert corpus["c0"].ids.tolist() == [0, 1, 0]
    assert corpus["c0"].ids.dtype == np.int32


def test_columns_without_names_are_called_by_position():
    assert list(parse_conll(b"a b c\n").columns) == ["c0", "c1", "c2"]


def test_a_column_called_underscore_is_left_out_but_remembered_by_position():
    corpus = parse_conll(b"1 the _ D\n2 dog _ N\n", ["_", "word", "_", "tag"])
    assert as_lists(corpus) == {"word": [["the", "dog"]], "tag": [["D", "N"]]}
    assert corpus.file_columns == ("_", "word", "_", "tag")


def test_line_numbers_are_kept_for_later_messages():
    corpus = parse_conll(b"\na\nb\n\n\nc\n", path="here.txt")
    assert corpus.lines.tolist() == [2, 3, 6]
    assert corpus.place(2) == "here.txt:6"


@pytest.mark.parametrize("text", ["", "\n", "\n\n \t\r\n", "\ufeff"])
@pytest.mark.parametrize("names", [None, NAMES])
def test_a_file_without_tokens_is_an_empty_corpus(text, names):
    corpus = parse_conll(text.encode(), names)
    assert len(corpus) == corpus.tokens == 0
    assert list(corpus.columns) == list(names or [])


class TestComments:
    def test_lines_that_begin_with_a_hash_are_left_out(self):
        corpus = parse_conll(b"# one\na A\n# two words here\nb B\n\n#\nc C\n", NAMES, comments=True)
        assert as_lists(corpus) == {"word": [["a", "b"], ["c"]], "tag": [["A", "B"], ["C"]]}
        assert corpus.lines.tolist() == [2, 4, 7]

    def test_a_blank_line_next_to_a_comment_still_ends_a_sentence(self):
        corpus = parse_conll(b"a A\n# x\n\n# y\nb B\n", NAMES, comments=True)
        assert corpus.sentences("word") == [["a"], ["b"]]

    def test_a_hash_elsewhere_is_text(self):
        corpus = parse_conll(b"a #\nb#c B\n # C\n", NAMES, comments=True)
        assert corpus.sentences("word") == [["a", "b#c", "#"]]

    def test_are_text_unless_asked_for(self):
        assert parse_conll(b"# A\na B\n", NAMES).sentences("word") == [["#", "a"]]

    def test_a_comment_on_the_first_line_after_a_BOM(self):
        corpus = parse_conll("\ufeff# a file from Windows\na A\n".encode(), NAMES, comments=True)
        assert corpus.sentences("word") == [["a"]]

    def test_only_comments(self):
        assert len(parse_conll(b"# a\n#b", NAMES, comments=True)) == 0


class TestBadBytes:
    @pytest.mark.parametrize(
        ("data", "line", "what"),
        [
            (b"a A\nb\0 B\n", 2, "NUL byte"),
            (b"\0", 1, "NUL byte"),
            ("a A\n".encode("utf-16"), 1, "NUL byte"),
            (b"a A\n\nb B\ncaf\xe9 C\n", 4, "0xe9 is not valid UTF-8"),
            (b"a A\n\xc3\n", 2, "0xc3 is not valid UTF-8"),
            (b"a A\n\xed\xa0\x80 B\n", 2, "0xed is not valid UTF-8"),
            (b"a A\nb B C\n", 2, "3 columns"),
            (b"\na A\n\nb\n", 4, "1 columns"),
            (b"a\nb B\nc C\n", 1, "1 columns"),
            (b"a\nb\n", 1, "1 columns.* 2 "),
            (b"\n\na b c\n", 3, "3 columns.* 2 "),
        ],
    )
    def test_is_refused_with_file_and_line(self, data, line, what):
        with pytest.raises(DataError, match=f"^in/put.txt:{line}: .*{what}") as caught:
            parse_conll(data, NAMES, "in/put.txt")
        assert (caught.value.path, caught.value.line) == ("in/put.txt", line)

    def test_the_first_line_may_have_another_number(self):
        with pytest.raises(DataError, match=r"^f:102: 1 columns, but 2 on line 101"):
            parse_conll(b"a A\nb\n", None, "f", first_line=101)

    def test_a_line_over_the_cap(self):
        data = b"a A\n" + b"x" * (fields.MAX_LINE + 1) + b"\n"
        with pytest.raises(DataError, match=r"^f:2: a line of 1,048,577 bytes; at most 1,048,576"):
            parse_conll(data, None, "f")
        assert parse_conll(data[4:-2], None).tokens == 1

    def test_standard_input_is_called_so(self):
        with pytest.raises(DataError, match=r"^<stdin>:1: "):
            parse_conll(b"\0", NAMES, "-")


class TestNames:
    @pytest.mark.parametrize("names", [["a", "a"], ["_", "_"], []])
    def test_have_to_be_different_and_at_least_one(self, names):
        with pytest.raises(SettingError, match="names"):
            parse_conll(b"x y\n", names)

    @pytest.mark.parametrize("name", ["", "my word", "a,b", "a]", "%x"])
    def test_have_no_spaces_or_signs(self, name):
        with pytest.raises(SettingError, match="cannot name a column"):
            parse_conll(b"x y\n", ["ok", name])

    def test_are_checked_for_an_empty_file_too(self):
        with pytest.raises(SettingError):
            parse_conll(b"", ["a", "a"])

    @pytest.mark.parametrize(
        ("data", "found"),
        [(b"a T\n", ["word", "tag"]), (b"a\n", ["word"]), (b"a T x y\n", ["word", "tag", "c2", "c3"])],
    )
    def test_an_optional_column_may_be_missing_and_others_may_follow(self, data, found):
        assert list(parse_conll(data, NAMES, optional=["tag"]).columns) == found

    def test_an_optional_column_may_be_missing_in_the_middle(self):
        corpus = parse_conll(b"a x\n", ["word", "tag", "more"], optional=["tag"])
        assert as_lists(corpus) == {"word": [["a"]], "more": [["x"]]}

    def test_with_still_fewer_columns_the_last_ones_are_taken_to_be_missing(self):
        assert list(parse_conll(b"a\n", ["word", "pos", "tag"], optional=["pos"]).columns) == ["word"]

    def test_further_columns_never_take_the_place_of_a_named_one(self):
        corpus = parse_conll(b"a b x\n", ["c2", "word"], optional=["tag"])
        assert corpus.sentences("c2") == [["a"]]

    def test_without_an_optional_one_every_column_is_needed(self):
        with pytest.raises(DataError, match=r"1 columns.* 3 "):
            parse_conll(b"a\n", ["word", "pos", "tag"])


class TestFiles:
    def test_several_are_read_as_one(self, tmp_path):
        (tmp_path / "a").write_bytes(b"x X\n\ny Y\n")
        (tmp_path / "b").write_bytes(b"y Y\n")
        corpus = read_conll(tmp_path / "a", str(tmp_path / "b"), columns=NAMES)
        assert as_lists(corpus) == {"word": [["x"], ["y"], ["y"]], "tag": [["X"], ["Y"], ["Y"]]}

    @pytest.mark.parametrize("order", [("empty", "full"), ("full", "empty"), ("empty", "empty")])
    @pytest.mark.parametrize("names", [None, NAMES])
    def test_an_empty_one_among_them_changes_nothing(self, tmp_path, order, names):
        (tmp_path / "empty").write_bytes(b"\n")
        (tmp_path / "full").write_bytes(b"x X\n")
        corpus = read_conll(*(tmp_path / name for name in order), columns=names)
        words = [["x"]] if "full" in order else []
        assert len(corpus) == len(words)
        if words or names:
            assert corpus.sentences("word" if names else "c0") == words

    def test_of_other_widths_are_refused_with_the_file(self, tmp_path):
        (tmp_path / "a").write_bytes(b"x X\n")
        (tmp_path / "b").write_bytes(b"y Y Z\n")
        with pytest.raises(DataError, match=r"b: .*c2"):
            read_conll(tmp_path / "a", tmp_path / "b")

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(FileAccessError, match=r"gone.txt: no such file"):
            read_conll(tmp_path / "gone.txt")

    def test_a_directory(self, tmp_path):
        with pytest.raises(FileAccessError, match="is a directory"):
            read_conll(tmp_path)

    def test_none_at_all(self):
        with pytest.raises(SettingError, match="no file"):
            read_conll()

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens but cannot be read")
    def test_one_that_opens_but_cannot_be_read(self):
        with pytest.raises(FileAccessError, match="cannot be read"):
            read_conll("/proc/self/mem")

    def test_a_name_that_no_file_can_have(self):
        with pytest.raises(FileAccessError):
            read_conll("a\0b")


class TestWriting:
    def test_puts_spaces_between_columns_and_a_blank_line_after_each_sentence(self):
        corpus = Corpus.from_lists(TWO_SENTENCES)
        assert write_conll(corpus) == b"The D\ndog N\n\nStop V\n\n"

    # any characters but those that separate, and no byte order mark, which at the start of a file is none of its text
    token = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r \ufeff"), min_size=1, max_size=4
    )

    @given(
        data=st.data(), names=st.lists(st.text("ab.+-", min_size=1, max_size=3), min_size=1, max_size=3, unique=True)
    )
    def test_and_reading_again_gives_the_same_corpus(self, data, names):
        lengths = data.draw(st.lists(st.integers(1, 4), max_size=4))
        sentence = {n: st.lists(self.token, min_size=n, max_size=n) for n in lengths}
        corpus = Corpus.from_lists({name: [data.draw(sentence[n]) for n in lengths] for name in names})
        again = parse_conll(write_conll(corpus), names)
        assert as_lists(again) == as_lists(corpus)
        np.testing.assert_array_equal(again.offsets, corpus.offsets)
        for name in names:
            np.testing.assert_array_equal(again[name].ids, corpus[name].ids)
            assert list(again[name].strings) == list(corpus[name].strings)

    @pytest.mark.parametrize("value", ["two words", "", "a\nb"])
    def test_refuses_what_could_not_be_read_again(self, value):
        corpus = Corpus.from_lists({"word": [["fine", value]], "tag": [["X", "Y"]]})
        with pytest.raises(DataError, match="sentence 1, token 2"):
            write_conll(corpus)

    def test_does_not_mind_what_is_only_in_the_table_that_a_part_shares(self):
        whole = Corpus.from_lists({"word": [["fine"], ["two words"]]})
        assert write_conll(whole.slice(0, 1)) == b"fine\n\n"
