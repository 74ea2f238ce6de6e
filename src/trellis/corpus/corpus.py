"""A corpus: named columns over one run of tokens, cut into sentences by offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.corpus.column import Column
from trellis.errors import DataError, SettingError
from trellis.labels import runs
from trellis.labels.packed import ranges

_NAME = re.compile(r"[^\s,%\[\]]+")


@dataclass(frozen=True)
class Corpus:
    """Sentence s is tokens `offsets[s]:offsets[s + 1]` (`I64[sentences + 1]`) of every column.

    `lines: I64[tokens]` are 1-based line numbers where the corpus came from a file, so that whatever is
    wrong with a token can be reported as file:line. `file_columns` names all columns of that file by position,
    also those left out (`_`).
    """

    columns: Mapping[str, Column]
    offsets: NDArray[np.int64]
    path: str | Path | None = None
    lines: NDArray[np.int64] | None = None
    file_columns: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        return f"<Corpus of {len(self):,} sentences, {self.tokens:,} tokens; columns: {names}>"

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, name: str) -> Column:
        if not isinstance(name, str):
            raise SettingError(
                f"corpus[{name!r}]: expected the name of a column; sentences a to b are corpus.slice(a, b), "
                "lists of a column's strings corpus.sentences(name)"
            )
        try:
            return self.columns[name]
        except KeyError:
            known = ", ".join(self.columns)
            raise SettingError(f"there is no column '{name}'; the columns are: {known}") from None

    def place(self, token: int) -> str:
        """`file:line` of a token, or its sentence and position where there is no file."""
        if self.path is not None and self.lines is not None:
            return f"{self.path}:{self.lines[token]}"
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sentence {sentence + 1}, token {token - int(self.offsets[sentence]) + 1}"

    def sentences(self, name: str) -> list[list[str]]:
        """One column as lists of strings, a list per sentence."""
        return self[name].sentences(self.offsets)

    def slice(self, start: int, stop: int) -> Corpus:
        """Sentences start..stop as a corpus of their own; the string tables are shared."""
        cuts = self.offsets[start : stop + 1]
        a, b = int(cuts[0]), int(cuts[-1])
        columns = {name: Column(c.ids[a:b], c.strings) for name, c in self.columns.items()}
        lines = None if self.lines is None else self.lines[a:b]
        return replace(self, columns=columns, offsets=cuts - a, lines=lines)

    def picked(self, sentences: ArrayLike) -> Corpus:
        """The sentences of these numbers, from 0 on, in their order, as a corpus of their own; the string tables are
        shared."""
        numbers = sentence_numbers(sentences, len(self))
        lengths = np.diff(self.offsets)[numbers]
        tokens = ranges(self.offsets[numbers], lengths)
        columns = {name: Column(column.ids[tokens], column.strings) for name, column in self.columns.items()}
        lines = None if self.lines is None else self.lines[tokens]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return replace(self, columns=columns, offsets=offsets, lines=lines)

    def rows(self, which: NDArray[np.bool_], offsets: NDArray[np.int64]) -> Corpus:
        """The tokens marked in BOOL[tokens], cut into sentences by new offsets."""
        columns = {name: Column(column.ids[which], column.strings) for name, column in self.columns.items()}
        lines = None if self.lines is None else self.lines[which]
        return replace(self, columns=columns, offsets=offsets, lines=lines).compact()

    def batches(self, tokens: int) -> Iterator[Corpus]:
        """Consecutive slices of about `tokens` tokens, whole sentences each."""
        for first, last in runs(self.offsets, tokens):
            yield self.slice(first, last)

    def compact(self) -> Corpus:
        """The same corpus with string tables that hold only what occurs (a slice shares those of the whole)."""
        return replace(self, columns={name: column.compact() for name, column in self.columns.items()})

    def with_column(self, name: str, column: Column) -> Corpus:
        """The same corpus with one column more (or replaced)."""
        if len(column) != self.tokens:
            raise DataError(f"column '{name}' has {len(column)} values for {self.tokens} tokens")
        return replace(self, columns={**self.columns, name: column})

    @classmethod
    def from_lists(cls, columns: Mapping[str, Sequence[Sequence[str]]]) -> Corpus:
        """From lists of sentences, each a list of strings: `Corpus.from_lists({"word": [["A", "b"]]})`."""
        lengths: list[int] | None = None
        built = {}
        check_names(list(columns))
        for name, sentences in columns.items():
            here = [len(sentence) for sentence in sentences]
            if lengths is not None and here != lengths:
                raise DataError(f"column '{name}' has sentences of other lengths than the columns before it")
            lengths = here
            for sentence in sentences:
                if not all(isinstance(value, str) for value in sentence):
                    raise DataError(f"column '{name}' has a value that is not text: {sentence!r}")
            built[name] = Column.of(value for sentence in sentences for value in sentence)
        assert lengths is not None
        return cls(built, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64))


def sentence_numbers(sentences: ArrayLike, many: int) -> NDArray[np.int64]:
    """The same as an array; DataError where they are no numbers of sentences, of which there are so many."""
    numbers = np.asarray(sentences)
    if not numbers.size:  # an empty list arrives as float64
        return np.zeros(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise DataError(
            f"numbers of sentences have the shape {numbers.shape} and the type {numbers.dtype}; expected one dimension "
            "of whole numbers"
        )
    wrong = numbers[(numbers < 0) | (numbers >= many)]
    if len(wrong):
        raise DataError(f"there is no sentence number {wrong[0]}; expected numbers from 0 to {many - 1}")
    return numbers.astype(np.int64, copy=False)


def check_names(names: Sequence[str]) -> list[str]:
    """Names that templates can use: all different (but for `_`, a column left out), no spaces or brackets."""
    for name in names:
        if not isinstance(name, str):
            raise SettingError(f"{name!r} cannot name a column; names are text")
    kept = [name for name in names if name != "_"]
    if not kept:
        raise SettingError(f"a corpus needs at least one column; given names: {','.join(names) or 'none'}")
    if len(set(kept)) != len(kept):
        raise SettingError(f"columns must have different names; given: {','.join(names)}")
    for name in kept:
        if not _NAME.fullmatch(name):
            raise SettingError(f"'{name}' cannot name a column; spaces, commas, % and brackets are not possible")
    return list(names)


def concatenate(parts: Sequence[Corpus]) -> Corpus:
    """Several corpora with the same columns as one, in order."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    names = list(parts[0].columns)
    columns = {}
    for name in names:
        index: dict[str, int] = {}
        for part in parts:
            if list(part.columns) != names:
                raise DataError(f"columns {list(part.columns)} do not match {names}", part.path)
            for string in part[name].strings:
                index.setdefault(string, len(index))
        columns[name] = Column(np.concatenate([p[name].translated(index) for p in parts]), list(index))
    bases = np.cumsum([0] + [part.tokens for part in parts])
    offsets = np.concatenate([[0], *(p.offsets[1:] + b for p, b in zip(parts, bases, strict=False))])
    return Corpus(columns, offsets.astype(np.int64), file_columns=parts[0].file_columns)
