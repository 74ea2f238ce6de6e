"""The corpus that ships with Trellis: English written and annotated for it.

638 sentences, 8,765 tokens of news, mail, reviews, instructions, addresses and science, with Penn-style parts of
speech, base phrases (IOB2, as in CoNLL-2000) and entities (IOB2: PER, ORG, LOC, MISC). Every fifth sentence of each
kind of text is in the test part.
"""

from __future__ import annotations

from pathlib import Path

from trellis.corpus.columns import read_conll
from trellis.corpus.corpus import Corpus
from trellis.errors import SettingError

COLUMNS: tuple[str, ...] = ("word", "pos", "chunk", "entity")
PARTS = ("train", "test")


def sample_path(part: str) -> Path:
    """The file of a part, `train` or `test`."""
    if part not in PARTS:
        raise SettingError(f"the sample corpus has no part '{part}'; it has: {', '.join(PARTS)}")
    return Path(__file__).parent / "shipped" / f"{part}.txt"


def sample_corpus(part: str = "train") -> Corpus:
    """The sample corpus, `train` or `test`, with the columns word, pos, chunk, entity."""
    return read_conll(sample_path(part), columns=COLUMNS)
