"""Lists of phrases that vote: wherever one stands, its tokens are a span; from left to right the longest is taken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError, TrellisError, shown
from trellis.features.functions.gazetteer import GAZETTEER, Gazetteer
from trellis.features.functions.trie import Trie
from trellis.jit import worthwhile
from trellis.weak.functions.casts import SpanVotes
from trellis.weak.functions.contract import LabelingFunction, check_label, column_of, made_up

I64 = NDArray[np.int64]


class Phrases:
    """Phrases, their tokens apart by spaces, and where they stand in a text."""

    def __init__(self, listed: Gazetteer, lower: bool):
        self.listed, self.lower = listed, lower

    @cached_property
    def _root(self) -> I64:
        """I64[words]: the node that a word leads to from the root of the trie, or -1."""
        trie = self.listed.trie
        root = np.full(len(trie.words), -1, np.int64)
        begin = trie.edges[: trie.children[1]]  # their parent is node 0, so the edges are the words
        root[begin] = np.arange(1, len(begin) + 1)
        return root

    def found(self, column: Column, offsets: I64) -> SpanVotes:
        """From left to right the longest phrase; labels are the types of the list."""
        trie = self.listed.trie
        words = map(str.lower, column.strings) if self.lower else column.strings
        # once per distinct string
        table = np.fromiter(map(trie.words.get, words, repeat(-1)), np.int64, len(column.strings))
        tokens = table[column.ids]
        if worthwhile(len(tokens)):
            return self._longest(tokens, offsets, trie)
        return SpanVotes.apart(*trie.matches(tokens, offsets), self.listed.types)

    def _longest(self, tokens: I64, offsets: I64, trie: Trie) -> SpanVotes:
        """What would be left of all matches, without looking for the others."""
        from trellis.weak.functions.list_kernels import longest_phrases

        out = np.empty((3, len(tokens)), np.int64)
        found = longest_phrases(tokens, offsets, self._root, trie.edges, trie.children, trie.first, out)
        start, end, node = out[:, :found].copy()
        return SpanVotes(start, end, trie.types[trie.first[node]], tuple(self.listed.types))


class PhraseList(LabelingFunction):
    """As `gazetteer` says."""

    def __init__(self, phrases: Gazetteer, lower: bool, name: str | None, column: str | None, otherwise: str):
        super().__init__("spans", name, otherwise)
        self.phrases, self.column = Phrases(phrases, lower), column
        for label in phrases.types:
            check_label(label, f"the labeling function '{self.name}'", "spans")

    def on(self, data: Corpus, first: int = 0) -> SpanVotes:
        return self.phrases.found(column_of(data, self.column, self.name), data.offsets)


def gazetteer(
    phrases: str | Path | Iterable[str] | Mapping[str, str],
    label: str | None = None,
    lower: bool = False,
    name: str | None = None,
    column: str | None = None,
    shortest: int = 1,
) -> PhraseList:
    """A list of phrases, their tokens apart by spaces, that votes wherever one stands. From left to right the longest
    is taken; of one phrase with several types, the type that the list names first.

    phrases: texts; a table phrase -> label; or the name of a file with a phrase on each line, or type<TAB>phrase.
    label: what is voted for. For a file None stands for the types in it, or its name where it has none.
    lower: whether case is ignored. column: where to look; the first if None. shortest: phrases of fewer tokens are left
    out, such as single words that may mean anything.
    """
    if not isinstance(shortest, int) or shortest < 1:
        raise SettingError(f"shortest is {shown(shortest)}; expected a whole number >= 1")
    if label is not None:
        check_label(label, "a gazetteer", "spans")
    stem = None
    if isinstance(phrases, str | os.PathLike):
        found, stem = _read(str(phrases), lower), Path(phrases).stem
    else:
        found = _listed(phrases, label, lower)
    if label is not None:
        found = Gazetteer(found.phrases, [label], found.phrase, np.zeros_like(found.type))
    otherwise = made_up("gazetteer", stem if stem is not None and label is None else found.types[0])
    return PhraseList(_at_least(found, shortest), lower, name, column, otherwise)


def _read(path: str, lower: bool) -> Gazetteer:
    assert GAZETTEER.load is not None
    try:
        found = GAZETTEER.load((path, "lower") if lower else (path,))
    except TrellisError:
        raise
    except ValueError as error:
        raise SettingError(f"a gazetteer {error}") from None
    assert isinstance(found, Gazetteer)
    return found


def _listed(phrases: Iterable[str] | Mapping[str, str], label: str | None, lower: bool) -> Gazetteer:
    if not isinstance(phrases, Iterable):
        raise SettingError(f"a gazetteer of {shown(phrases)}; expected phrases, a table of them, or the name of a file")
    given = phrases if isinstance(phrases, Mapping) else None
    if given is None and label is None:
        raise SettingError("a list of phrases has no label; say what it votes for: gazetteer(phrases, label)")
    kept = list(_tidy(phrases, lower))
    if not kept:
        raise SettingError("a gazetteer without phrases; give at least one")
    labels = [label or ""] * len(kept) if given is None or label is not None else list(given.values())
    number = {phrase: i for i, phrase in enumerate(dict.fromkeys(kept))}
    kinds: dict[str, int] = {}
    for one in labels:
        if not isinstance(one, str | None):
            raise SettingError(f"a gazetteer has {shown(one)} as a label; expected a table {{'New York': 'LOC'}}")
        if not isinstance(one, str) or one not in kinds:
            kinds[check_label(one, "a gazetteer", "spans")] = len(kinds)
    phrase = np.fromiter(map(number.__getitem__, kept), np.int64, len(kept))
    kind = np.fromiter(map(kinds.__getitem__, labels), np.int64, len(kept))
    return Gazetteer(list(number), list(kinds), phrase, kind)


def _tidy(phrases: Iterable[str], lower: bool) -> Iterator[str]:
    """Phrases with one space between their tokens."""
    for k, phrase in enumerate(phrases):
        if not isinstance(phrase, str) or not phrase.strip(" "):
            raise DataError(
                f"phrase {k + 1} of a gazetteer is {shown(phrase)}; expected a text, tokens apart by spaces"
            )
        if "  " in phrase or phrase[0] == " " or phrase[-1] == " ":
            phrase = " ".join(filter(None, phrase.split(" ")))
        yield " ".join(map(str.lower, phrase.split(" "))) if lower else phrase


def _at_least(found: Gazetteer, shortest: int) -> Gazetteer:
    if shortest == 1:
        return found
    long = np.fromiter((p.count(" ") + 1 >= shortest for p in found.phrases), np.bool_, len(found.phrases))
    keep = long[found.phrase]
    if not keep.any():
        raise SettingError(f"no phrase of the gazetteer has {shortest} tokens or more; lower `shortest`")
    number = np.cumsum(long) - 1
    phrases = [p for p, stays in zip(found.phrases, long.tolist(), strict=True) if stays]
    return Gazetteer(phrases, found.types, number[found.phrase[keep]], found.type[keep])
