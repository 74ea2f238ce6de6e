"""Text of any size with as many labels as asked for: what is measured as it grows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trellis.corpus import Column, Corpus, concatenate, read_conll
from trellis.errors import DataError, FileAccessError, SettingError
from trellis.studies.task import default_file

WORD, LABEL = "word", "label"

# words alone, as CRF++'s example has them (U00 to U06): any toolkit can make these, whatever columns a file has
WINDOW = "\n".join(
    [
        *(f"U{n:02d}:%x[{row},0]" for n, row in enumerate(range(-2, 3))),
        "U05:%x[-1,0]/%x[0,0]",
        "U06:%x[0,0]/%x[1,0]",
    ]
)

# the same with the ends of words, which say much about labels where there are many
ENDINGS = "\n".join([WINDOW, *(f"U{n + 6:02d}:%suffix[0,word,{n}]" for n in range(1, 5))])

_LETTERS = 4  # of the ends of words, that labels are told apart by


@dataclass(frozen=True)
class Text:
    """Column files, one after the other; `columns` name theirs from left to right, and one of them is `word`."""

    files: tuple[Path, ...]
    columns: tuple[str, ...]
    target: str

    def __post_init__(self) -> None:
        for file in self.files:
            if not file.is_file():
                raise FileAccessError(f"{file}: no such file; give a column file to measure with")
        for name in (WORD, self.target):
            if name not in self.columns:
                raise SettingError(f"there is no column '{name}'; the columns are: {', '.join(self.columns)}")

    @classmethod
    def default(cls) -> Text:
        """Brown, all of it, where it is on this machine; else CoNLL-2000. Both with parts of speech."""
        home = os.environ.get("TRELLIS_DATA")
        parts = [] if not home else [Path(home) / "brown" / f"{part}.txt" for part in ("train", "dev", "test")]
        if parts and all(part.is_file() for part in parts):
            return cls(tuple(parts), (WORD, "pos"), "pos")
        return cls((default_file("train.txt"),), (WORD, "pos", "chunk"), "pos")

    def read(self) -> Corpus:
        """Words and labels alone, in columns of these names."""
        corpus = concatenate([read_conll(file, columns=self.columns) for file in self.files])
        if not corpus.tokens:
            raise DataError("there is no token to measure with", self.files[0])
        return Corpus({WORD: corpus[WORD], LABEL: corpus[self.target]}, corpus.offsets).compact()


def of_tokens(corpus: Corpus, tokens: int) -> Corpus:
    """The first so many tokens, to the end of a sentence; the text over again where there are not enough."""
    times = -(-tokens // corpus.tokens)
    whole = concatenate([corpus] * times)
    return whole.slice(0, int(np.searchsorted(whole.offsets, tokens))).compact()


def with_labels(corpus: Corpus, classes: int) -> Corpus:
    """With no more than so many labels: the most frequent ones, and one for all others, named by rank. Where the corpus
    has too few, its labels are told apart by the last letter of the word, by the last two, and so on, as those of a
    language with more endings would be."""
    labels, words = corpus[LABEL], corpus[WORD]
    ids, letters = labels.ids, 0
    while (many := int(ids.max()) + 1) < classes and letters < _LETTERS:
        letters += 1
        endings = Column.of(word[-letters:] for word in words.strings).ids
        ids = np.unique(labels.ids * np.int64(len(words.strings)) + endings[words.ids], return_inverse=True)[1]
    rank = np.empty(many, np.int32)
    rank[np.argsort(-np.bincount(ids), kind="stable")] = np.arange(many, dtype=np.int32)
    numbers = np.minimum(rank, classes - 1)[ids]
    return corpus.with_column(LABEL, Column(numbers, [f"L{k}" for k in range(classes)])).compact()
