"""Normalising: one canonical text whatever the published form, and the registry's digests are of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trellis.corpus.fetch_text import normalise
from trellis.corpus.sources import SOURCES, Source
from trellis.errors import DownloadError

WNP = ("word", "ner", "pos")
UD = ("word", "upos", "xpos", "feats", "upos|feats")

CONLLU = """\
# newdoc id = d
# sent_id = 1
# text = I don't # know
1	I	I	PRON	PRP	Case=Nom|Person=1	4	nsubj	_	_
2-3	don't	_	_	_	_	_	_	_	_
2	do	do	AUX	VBP	_	4	aux	_	_
3	n't	not	PART	RB	Polarity=Neg	4	advmod	_	SpaceAfter=No
3.1	really	really	ADV	RB	_	_	_	4:advmod	_
4	#	#	SYM	NN	_	0	root	_	_

# sent_id = 2
1	_	_	PUNCT	NFP	_	0	root	_	_

"""

CANONICAL = b"""\
I PRON PRP Case=Nom|Person=1 PRON|Case=Nom|Person=1
do AUX VBP _ AUX
n't PART RB Polarity=Neg PART|Polarity=Neg
# SYM NN _ SYM

_ PUNCT NFP _ PUNCT

"""


def test_conllu_keeps_syntactic_words_and_drops_ranges_empty_nodes_and_comments() -> None:
    text = normalise(CONLLU.encode(), UD, "conllu")
    assert text.data == CANONICAL
    assert (text.sentences, text.tokens) == (2, 5)


def test_the_canonical_form_of_a_conllu_set_is_left_as_it_is() -> None:
    assert normalise(CANONICAL, UD, "conllu").data == CANONICAL


@pytest.mark.parametrize(
    "raw",
    [
        b"a b c\nd e f\n\ng h i\n\n",
        b"a b c\nd e f\n\ng h i",
        b"\xef\xbb\xbfa b c\r\nd e f\r\n\r\ng h i\r\n",
        b"\n \na\tb\tc\n d  e f \n\n\n\t\ng h i\n\n\n\n",
    ],
)
def test_line_ends_blanks_and_separators_do_not_matter(raw: bytes) -> None:
    assert normalise(raw, WNP).data == b"a b c\nd e f\n\ng h i\n\n"


def test_nothing_gives_nothing() -> None:
    text = normalise(b"\n\n \n", WNP)
    assert (text.data, text.sentences, text.tokens) == (b"", 0, 0)


def test_only_ascii_blanks_and_line_feeds_separate() -> None:
    odd = "a\u00a0b c\u2028d e\u0085f\n\n".encode()
    assert normalise(odd, WNP).data == odd


def test_encodings_are_tried_in_turn() -> None:
    for raw in ("Niño NC O\n\n".encode(), "Niño NC O\n\n".encode("latin-1")):
        assert normalise(raw, WNP, encodings=("utf-8", "latin-1")).data == "Niño NC O\n\n".encode()


@pytest.mark.parametrize(
    ("raw", "columns", "form", "reason"),
    [
        (b"a b c\na b\n", WNP, "columns", "line 2 has 2 columns, 3 were expected"),
        (b"1\ta\tb\n", UD, "conllu", "line 1 has 3 columns, CoNLL-U has 10"),
        (b"1\ta b\t_\tX\t_\t_\t0\troot\t_\t_\n", UD, "conllu", "line 1 has a column that is empty or has"),
    ],
)
def test_lines_that_do_not_fit_are_named(raw: bytes, columns: tuple[str, ...], form: str, reason: str) -> None:
    with pytest.raises(DownloadError, match=reason):
        normalise(raw, columns, form)  # type: ignore[arg-type]


cell = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\ufeff"), min_size=1, max_size=4)
sentence = st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(sentence, max_size=4))
def test_normalising_changes_nothing_the_second_time(corpus: list[list[tuple[str, str, str]]]) -> None:
    raw = "\n\n\n".join("\r\n".join("  ".join(row) for row in rows) for rows in corpus).encode()
    text = normalise(raw, WNP)
    assert normalise(text.data, WNP) == text
    assert (text.sentences, text.tokens) == (len(corpus), sum(map(len, corpus)))


def shared_data() -> Path:
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("TRELLIS_DATA") or default)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_shared_corpora_have_the_digests_and_sizes_of_the_registry(source: Source) -> None:
    folder = shared_data() / source.name
    if not folder.is_dir():
        pytest.skip(f"no {folder}; set TRELLIS_DATA to the folder of the corpora")
    for split in source.splits:
        raw = (folder / split.file).read_bytes()
        text = normalise(raw, source.columns, source.form)
        assert (text.sentences, text.tokens, text.sha256) == (split.sentences, split.tokens, split.sha256)
        assert text.data == raw


def test_the_registry_is_well_formed() -> None:
    for name, source in SOURCES.items():
        assert source.name == name
        assert source.licence
        assert len({split.name for split in source.splits}) == len(source.splits)
        for split in source.splits:
            assert split.name.isalnum()
            assert len(bytes.fromhex(split.sha256)) == 32
            assert all(place.url.startswith("https://") for place in split.places)
