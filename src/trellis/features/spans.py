"""Attributes of spans of tokens, for models of whole segments.

    surface            the words of the span, one after the other
    lower              the same in small letters
    shape              the same as shapes (Xx for Lima, Xx x Xx for Bank of Spain)
    words              every word in it, in small letters
    length             how many tokens it has
    gazetteer(FILE)    the types that a list of phrases gives to it as a whole (see `functions.gazetteer`)

What a span of the training data has that is a segment there is an attribute; of other spans those are known then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import cast

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.features.functions.gazetteer import GAZETTEER, Gazetteer
from trellis.features.functions.shapes import SHORT_SHAPE
from trellis.features.functions.trie import Trie
from trellis.lattice.segments import SpanAttributes

I64 = NDArray[np.int64]

_PHRASES = ("surface", "lower", "shape")
_ALL = (*_PHRASES, "words", "length", "gazetteer(FILE)")
_GAZETTEER = re.compile(r"gazetteer\(\s*[\"']?(.+?)[\"']?\s*\)")
_SPACE = "\u001f"  # in place of a space in a word, as phrases have spaces between words


def parse_spans(text: str) -> tuple[str, ...]:
    """`surface + length + gazetteer(places.txt)` -> its parts, checked."""
    parts = [part.strip() for part in re.split(r"\+(?![^(]*\))", text) if part.strip()]
    for part in parts:
        if part not in _ALL[:-1] and not _GAZETTEER.fullmatch(part):
            raise SettingError(
                f"unknown feature of segments '{part}'; there are: {', '.join(_ALL)}, with + between them"
            )
    if len(set(parts)) < len(parts):
        raise SettingError(f"a feature of segments is there twice: {text}")
    return tuple(parts)


@dataclass(frozen=True)
class SpanFeatures:
    """Learnt attributes: `names[k]` are those of `parts[k]`, numbered through; `column` is where the words are;
    `longest`, the most tokens of a span that is looked at; `lists`: the phrases of the gazetteers."""

    column: str
    parts: tuple[str, ...]
    longest: int
    names: tuple[Sequence[str], ...]
    lists: dict[str, Gazetteer]

    @classmethod
    def learn(
        cls, column: str, parts: Sequence[str], words: Column, start: I64, end: I64, min_count: int = 1
    ) -> SpanFeatures:
        """From the segments [start, end) of the training data."""
        lists = {part: _loaded(part) for part in parts if _GAZETTEER.fullmatch(part)}
        longest = int((end - start).max(initial=1))
        names = []
        for part in parts:
            if part in lists:
                names.append(list(lists[part].types))
            elif part == "length":
                names.append([str(d) for d in range(1, longest + 1)])
            else:
                table = list(map(_seen_as(part), words.strings))
                names.append(_often(_values(part, table, words.ids.tolist(), start, end), min_count))
        return cls(column, tuple(parts), longest, tuple(names), lists)

    @property
    def attributes(self) -> int:
        return sum(map(len, self.names))

    def all_names(self) -> list[str]:
        """The name of every attribute, by number."""
        return [
            f"{part}={name.replace(_SPACE, ' ')}"
            for part, own in zip(self.parts, self.names, strict=True)
            for name in own
        ]

    def transform(self, words: Column, offsets: I64) -> SpanAttributes:
        """The known attributes of all spans of a text."""
        slots, ids, first = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for part, own in zip(self.parts, self.names, strict=True):
            if part == "length":
                slot, found = self._lengths(offsets)
            elif part == "words":
                slot, found = self._inside(words, offsets)
            else:
                slot, found = self._phrases(part, words, offsets)
            slots.append(slot)
            ids.append(found + first)
            first += len(own)
        slot, found = np.concatenate(slots), np.concatenate(ids)
        order = np.lexsort((found, slot))
        counts = np.bincount(slot, minlength=int(offsets[-1]) * self.longest)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return SpanAttributes(start, found[order].astype(np.int32), self.longest)

    def _phrases(self, part: str, words: Column, offsets: I64) -> tuple[I64, I64]:
        trie, seen_as = self._tries[part], _seen_as(part)
        table = np.fromiter(map(trie.words.get, map(seen_as, words.strings), repeat(-1)), np.int64, len(words.strings))
        start, end, kind = trie.matches(table[words.ids], offsets)
        short = end - start <= self.longest
        return self._slot(start[short], end[short]), kind[short]

    def _inside(self, words: Column, offsets: I64) -> tuple[I64, I64]:
        index, seen_as = self._words, _seen_as("words")
        table = np.fromiter(map(index.get, map(seen_as, words.strings), repeat(-1)), np.int64, len(words.strings))
        known = table[words.ids]
        place, left = _places(offsets)
        token = np.flatnonzero(known >= 0)
        parts = []
        for before in range(self.longest):  # tokens of the span before this one, and behind it
            for behind in range(self.longest - before):
                at = token[(place[token] >= before) & (left[token] >= behind)]
                parts.append((self._slot(at - before, at + behind + 1), known[at]))
        slots, ids = zip(*parts, strict=True)
        return np.concatenate(slots), np.concatenate(ids)

    def _lengths(self, offsets: I64) -> tuple[I64, I64]:
        place, _ = _places(offsets)
        lengths = np.arange(self.longest)
        token, length = np.nonzero(lengths <= place[:, None])
        return token * self.longest + length, length.astype(np.int64)

    def _slot(self, start: I64, end: I64) -> I64:
        return (end - 1) * self.longest + (end - start - 1)

    @cached_property
    def _tries(self) -> dict[str, Trie]:
        tries = {}
        for part, own in zip(self.parts, self.names, strict=True):
            if part in self.lists:
                tries[part] = self.lists[part].trie
            elif part in _PHRASES:
                tries[part] = Trie.build(list(own), np.arange(len(own)), np.arange(len(own)))
        return tries

    @cached_property
    def _words(self) -> dict[str, int]:
        return {word: k for k, word in enumerate(self.names[self.parts.index("words")])}


def _loaded(part: str) -> Gazetteer:
    found = _GAZETTEER.fullmatch(part)
    assert found is not None
    assert GAZETTEER.load is not None
    return cast(Gazetteer, GAZETTEER.load((found.group(1),)))


def _seen_as(part: str) -> Callable[[str], str]:
    """What a part makes of a word."""
    if part in ("lower", "words"):
        return lambda word: word.lower().replace(" ", _SPACE)
    if part == "shape":
        shape = SHORT_SHAPE.of_type
        assert shape is not None
        return lambda word: str(shape([word], None, ())[0]).replace(" ", _SPACE)
    return lambda word: word.replace(" ", _SPACE)


def _values(part: str, table: list[str], ids: list[int], start: I64, end: I64) -> list[str]:
    if part == "words":
        return [table[i] for a, b in zip(start.tolist(), end.tolist(), strict=True) for i in ids[a:b]]
    return [" ".join([table[i] for i in ids[a:b]]) for a, b in zip(start.tolist(), end.tolist(), strict=True)]


def _often(values: list[str], min_count: int) -> list[str]:
    """The distinct values that are there so often, in order of appearance."""
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return [value for value, count in counts.items() if count >= min_count]


def _places(offsets: I64) -> tuple[I64, I64]:
    """How many tokens of its sentence come before each token, and behind it."""
    lengths = np.diff(offsets)
    before = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], lengths)
    return before, np.repeat(lengths, lengths) - before - 1
