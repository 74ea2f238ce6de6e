"""What every method of augmentation sees and gives back.

A method changes the sentences of a corpus one by one: as many come out as went in, and the k-th is made of the k-th.
What it says of its answer is where each token comes from, so that all columns travel with the tokens:

    source   I64[tokens]          the token of the corpus whose columns it has
    offsets  I64[sentences + 1]   where sentences begin

Segments are read as conlleval reads them and written anew in the encoding that the labels are of, so that what comes
out is well-formed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError
from trellis.labels import is_gappy, read_segments, segment_types
from trellis.labels.conversion import encoding_in
from trellis.labels.encode import encoded

I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

Table = Mapping[str, Sequence[str]]  # what may stand in the place of what: see `table`


class FileTable(dict[str, list[str]]):
    """One that was read from a file, whose name messages have."""

    path: str | Path | None = None


def of_file(table: Table) -> str:
    """How a message about a table begins."""
    return f"{table.path}: " if isinstance(table, FileTable) and table.path is not None else ""


def some_of(names: Sequence[str], most: int = 5) -> str:
    """With commas between, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {rest} more"


@dataclass(frozen=True)
class Segments:
    """Tokens start up to but not including end, in order of the text; `kind` is an index into `kinds`. All
    I64[segments]."""

    start: I64
    end: I64
    kind: I64
    kinds: Sequence[str]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def lengths(self) -> I64:
        return self.end - self.start


@dataclass(frozen=True)
class Source:
    """A corpus whose column `target` is to be learnt; `words` is the column that tables speak of. `encoding`: that of
    segments, detected if None."""

    corpus: Corpus
    target: str
    encoding: str | None = None

    @property
    def labels(self) -> Column:
        return self.corpus[self.target]

    @property
    def offsets(self) -> I64:
        return self.corpus.offsets

    @cached_property
    def words(self) -> str:
        others = [name for name in self.corpus.columns if name != self.target]
        if not others:
            raise SettingError(f"'{self.target}' is the only column; there are no words to replace")
        return "word" if "word" in others else others[0]

    @property
    def has_segments(self) -> bool:
        """Whether labels spell segments, so that more words in one of them need labels of their own."""
        if self.encoding is not None:
            return True
        from trellis.labels import detect

        return detect(self.labels.compact().strings) is not None

    @cached_property
    def spelt(self) -> str:
        """The encoding of the labels; SettingError where there is none."""
        labels = self.labels.compact()
        whose = f"the labels of '{self.target}'"
        if self.encoding is None and not is_gappy(labels.strings) and not self.has_segments:
            some = ", ".join(map(repr, labels.strings[:3]))
            raise SettingError(
                f"{whose} ({some}, ...) spell no segments such as B-X, I-X, O, which this method needs; use tokens or "
                "synonyms"
            )
        return encoding_in(labels.ids, labels.strings, self.offsets, self.encoding, whose)

    @cached_property
    def segments(self) -> Segments:
        """Those of the target column."""
        labels, encoding = self.labels.compact(), self.spelt
        found = read_segments(labels.ids, labels.strings, self.offsets, "conlleval", encoding)
        return Segments(*found, segment_types(labels.strings))

    def written(self, segments: Segments, offsets: I64) -> Column:
        """The labels of segments in sentences cut by `offsets`, in the corpus's own encoding."""
        ids, names = encoded(segments.start, segments.end, segments.kind, segments.kinds, offsets, self.spelt)
        return Column(ids, names)

    def rebuilt(self, source: I64, offsets: I64, labels: Column, words: Column | None = None) -> Corpus:
        """The corpus of these tokens with these labels; `words` where they are not those of their sources."""
        columns = {name: Column(column.ids[source], column.strings) for name, column in self.corpus.columns.items()}
        if words is not None:
            columns[self.words] = words
        columns[self.target] = labels
        return Corpus(columns, offsets, file_columns=self.corpus.file_columns)


@dataclass(frozen=True)
class Method:
    """`change(source, rng, p, table)` gives the changed corpus; `p` is its usual probability, `about` one line.
    `check(source, table)`, of a method that reads tables: what of a table it cannot use and should; SettingError where
    that is all of it."""

    change: Callable[[Source, np.random.Generator, float, Table | None], Corpus]
    p: float
    about: str
    check: Callable[[Source, Table], Sequence[str]] | None = None
    needs_table: bool = False
