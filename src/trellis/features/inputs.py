"""What an encoder sees of a token: the number of its word, the word's letters, and numbers of other columns.

Words are numbered without their case and with 0 for every digit: what a word looks like is what its letters are for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

LETTERS = 24  # of a word that are looked at; of longer ones as many at either end
MOST_LETTERS = 60_000  # different ones that have a number
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Inputs:
    """`ids: I32[tokens, columns]`, of words first, 0 for what was never seen; `word: I32[tokens]`, which row of
    `letters: U16[words, LETTERS]` spells it: 0 behind the last letter, 1 for one that was never seen."""

    ids: I32
    word: I32
    letters: NDArray[np.uint16]

    def part(self, first: int, last: int) -> Inputs:
        """Tokens first..last."""
        return replace(self, ids=self.ids[first:last], word=self.word[first:last])

    def picked(self, tokens: NDArray[np.int64]) -> Inputs:
        """These tokens, I64[...], in this order."""
        return replace(self, ids=self.ids[tokens], word=self.word[tokens])


@dataclass(frozen=True)
class InputTables:
    """`columns`: that of the words first; `tables`: the strings of each that have a number, from 1 on; `letters`: the
    letters that have one, from 2 on."""

    columns: tuple[str, ...]
    tables: tuple[Sequence[str], ...]
    letters: Sequence[str]

    @classmethod
    def learn(cls, corpus: Corpus, columns: Sequence[str]) -> InputTables:
        """All that a corpus has."""
        own = [corpus[name].compact().strings for name in columns]
        letters = dict.fromkeys(letter for word in own[0] for letter in word)
        tables = [list(dict.fromkeys(map(folded, own[0]))), *map(list, own[1:])]
        return cls(tuple(columns), tuple(tables), list(letters)[:MOST_LETTERS])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers each column has, 0 included."""
        return tuple(len(table) + 1 for table in self.tables)

    @property
    def alphabet(self) -> int:
        """How many numbers of letters there are, 0 and 1 included."""
        return len(self.letters) + 2

    def transform(self, corpus: Corpus) -> Inputs:
        """A corpus that has the columns."""
        words, *others = (_of_few(corpus[name]) for name in self.columns)
        ids = [_numbers(words, self._indexes[0], fold=True)]
        ids += [_numbers(column, index) for column, index in zip(others, self._indexes[1:], strict=True)]
        return Inputs(np.stack(ids, axis=1), words.ids, self._spelled(words.strings))

    def _spelled(self, words: Sequence[str]) -> NDArray[np.uint16]:
        out, number = np.zeros((len(words), LETTERS), np.uint16), self._letter_index
        for row, word in zip(out, words, strict=True):
            seen = word if len(word) <= LETTERS else word[: LETTERS // 2] + word[-LETTERS // 2 :]
            row[: len(seen)] = list(map(number.get, seen, repeat(1)))
        return out

    @cached_property
    def _indexes(self) -> list[dict[str, int]]:
        return [{string: i for i, string in enumerate(table, 1)} for table in self.tables]

    @cached_property
    def _letter_index(self) -> dict[str, int]:
        return {letter: i for i, letter in enumerate(self.letters, 2)}


def folded(word: str) -> str:
    """As words are numbered."""
    return _DIGIT.sub("0", word.lower())


def _of_few(column: Column) -> Column:
    """A column that has no more strings than tokens, as those of small parts of a corpus have."""
    if len(column.strings) <= len(column.ids):
        return column
    used, ids = np.unique(column.ids, return_inverse=True)
    return Column(ids.astype(np.int32), [column.strings[i] for i in used.tolist()])


def _numbers(column: Column, index: dict[str, int], fold: bool = False) -> I32:
    strings = map(folded, column.strings) if fold else column.strings
    table = np.fromiter(map(index.get, strings, repeat(0)), np.int32, len(column.strings))
    return table[column.ids]
