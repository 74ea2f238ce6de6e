"""The tag dictionary: a word seen often enough in training may only have the labels it was seen with
(Altun et al. 2003, section 4.2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.lattice import Allowed

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class TagDictionary:
    """The word `strings[w]` of a column may have the labels `labels[start[w]:start[w + 1]]` (I64[words + 1], I32[...]),
    ascending, of `size` labels in all. Words that are not in it may have any."""

    column: str
    size: int
    strings: Sequence[str]
    start: I64
    labels: I32

    def __post_init__(self) -> None:
        if len(self.start) != len(self.strings) + 1 or self.start[0] != 0 or self.start[-1] != len(self.labels):
            raise DataError("the words of a tag dictionary and the bounds of their label lists do not match")
        without = np.flatnonzero(np.diff(self.start) < 1)
        if len(without):
            raise DataError(f"the word '{self.strings[without[0]]}' has no label in the tag dictionary")
        if len(self.index) != len(self.strings):
            raise DataError("a word is in the tag dictionary twice")
        _ = self._table  # checks the lists

    @classmethod
    def learn(cls, column: str, words: Column, gold: I32, size: int, minimum: int) -> TagDictionary:
        """From words, their labels I32[tokens] and the number of labels; words seen `minimum` times are in."""
        seen = np.unique(words.ids.astype(np.int64) * size + gold)
        often = np.bincount(words.ids, minlength=len(words.strings)) >= max(1, minimum)
        seen = seen[often[seen // size]]
        known = np.flatnonzero(often)
        start = np.searchsorted(seen, np.append(known, len(often)) * size)
        return cls(column, size, [words.strings[w] for w in known.tolist()], start, (seen % size).astype(np.int32))

    @cached_property
    def index(self) -> dict[str, int]:
        """word -> its number."""
        return {word: w for w, word in enumerate(self.strings)}

    def allowed(self, words: Column) -> Allowed:
        """What the tokens of a column may have. Unknown strings may be ids of -1."""
        number = np.fromiter(map(self.index.get, words.strings, repeat(-1)), np.int64, len(words.strings))
        sets = np.append(self._sets[number], np.int32(0))  # the last: of id -1
        return self._table.of_tokens(sets[words.ids])

    @cached_property
    def _sets(self) -> I32:
        """The set of each word; the last place is for words that are not in it, which may have all labels."""
        return np.append(self._table.which, np.int32(0))

    @cached_property
    def _table(self) -> Allowed:
        """The distinct sets, and which of them each word has: far fewer than words, so they stay in the cache."""
        everything = np.arange(self.size, dtype=np.int32)
        sets = {everything.tobytes(): 0}
        cuts = self.start.tolist()
        keys = (self.labels[a:b].tobytes() for a, b in itertools.pairwise(cuts))
        which = np.fromiter((sets.setdefault(key, len(sets)) for key in keys), np.int32, len(self.strings))
        lists = [np.frombuffer(key, np.int32) for key in sets]
        start = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        return Allowed(which, start, np.concatenate(lists))
