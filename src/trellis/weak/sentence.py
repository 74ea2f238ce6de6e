"""What labeling functions of a user's own are given: one sentence, its words and its other columns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import overload

from trellis.corpus import Corpus


class _Lists:
    """The columns of a corpus as lists of strings, each made when it is first asked for."""

    def __init__(self, corpus: Corpus):
        self.corpus = corpus
        self.main = next(iter(corpus.columns))
        self._made: dict[str, list[str]] = {}

    def of(self, name: str) -> list[str]:
        if name not in self._made:
            self._made[name] = self.corpus[name].values()
        return self._made[name]


class Sentence:
    """A sentence: `words` are those of the first column, `sentence["pos"]` those of another, `text` the words with one
    space between, `number` which sentence it is, from 1 on.

    `sentence[2]` is a word, `sentence[1:3]` a list of them; `len` and iteration are of the words.
    """

    def __init__(self, lists: _Lists, start: int, end: int, number: int):
        self._lists, self._start, self._end = lists, start, end
        self.number = number

    @classmethod
    def of(cls, words: list[str], **columns: list[str]) -> Sentence:
        """A sentence of its own, to try a function with: `Sentence.of(["New", "York"], pos=["NNP", "NNP"])`."""
        corpus = Corpus.from_lists({"word": [words]} | {name: [values] for name, values in columns.items()})
        return cls(_Lists(corpus), 0, len(words), 1)

    @cached_property
    def words(self) -> list[str]:
        return self[self._lists.main]

    @cached_property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._lists.corpus.columns)

    def __len__(self) -> int:
        return self._end - self._start

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    @overload
    def __getitem__(self, which: int) -> str: ...

    @overload
    def __getitem__(self, which: str | slice) -> list[str]: ...

    def __getitem__(self, which: str | int | slice) -> list[str] | str:
        if isinstance(which, str):
            return self._lists.of(which)[self._start : self._end]
        return self.words[which]

    def __repr__(self) -> str:
        return f"<Sentence {self.number}: {self.text!r}>"


def sentences_of(corpus: Corpus, first: int = 0) -> Iterator[Sentence]:
    """The sentences of a corpus, before which there are `first` others."""
    lists = _Lists(corpus)
    for number, (start, end) in enumerate(pairwise(corpus.offsets.tolist()), first + 1):
        yield Sentence(lists, start, end, number)
