"""Phrases that a language model named -> the tokens they stand for.

A phrase is a run of whole tokens. It is looked for as it is spelt, word by word; then by characters alone, white space
left out and Unicode made one (NFKC), as models write "can't" for "ca n't"; then in any case. The first way that finds
it counts. The k-th mention of a phrase is its k-th occurrence.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from trellis.weak.prompting.prompts import Spans, clean

NOT_THERE = "not in the text"
CUTS = "cuts a token"
Range = tuple[int, int]


def _as_words(text: str) -> str:
    return "".join(word + " " for word in clean(text).split())


def _as_characters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", "".join(clean(text).split())).split())


def _in_any_case(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", _as_characters(text).casefold()).split())


_WAYS: tuple[Callable[[str], str], ...] = (_as_words, _as_characters, _in_any_case)


class _Laid:
    """Tokens one behind the other, spelt in one way; where each begins and ends."""

    def __init__(self, words: Sequence[str], way: Callable[[str], str]):
        pieces = [way(word) for word in words]
        self.way, self.text = way, "".join(pieces)
        self._starts: dict[int, int] = {}  # of tokens of which nothing is left, those beside them count
        self._ends: dict[int, int] = {}
        at = 0
        for token, piece in enumerate(pieces):
            self._starts[at] = token
            at += len(piece)
            self._ends.setdefault(at, token + 1)

    def occurrences(self, needle: str) -> list[Range]:
        """The runs of whole tokens that are spelt so, apart from each other, from left to right."""
        found: list[Range] = []
        at = self.text.find(needle) if needle else -1
        while at >= 0:
            start, end = self._starts.get(at), self._ends.get(at + len(needle))
            if start is not None and end is not None:
                found.append((start, end))
                at = self.text.find(needle, at + len(needle))
            else:
                at = self.text.find(needle, at + 1)
        return found


class Alignment:
    """One sentence, `words`, in which phrases are found."""

    def __init__(self, words: Sequence[str]):
        self._words = words
        self._laid: list[_Laid] = []  # made as they are needed

    def find(self, spans: Spans) -> tuple[list[tuple[int, int, str]], Counter[str]]:
        """(start, end, type) of each phrase that is there, in tokens, and how many are not, by reason."""
        found: list[tuple[int, int, str]] = []
        dropped: Counter[str] = Counter()
        mentions: Counter[tuple[int, str]] = Counter()
        for phrase, kind in spans:
            way, needle, places = self._places(phrase)
            k = mentions[way, needle]
            mentions[way, needle] += 1
            if k < len(places):
                found.append((*places[k], kind))
            else:
                cuts = not places and needle and needle in self._laid[way].text
                dropped[CUTS if cuts else NOT_THERE] += 1
        return found, dropped

    def _places(self, phrase: str) -> tuple[int, str, list[Range]]:
        """By which way a phrase was found, how it is spelt then, and where; by the last one if nowhere."""
        for way, spell in enumerate(_WAYS):
            if way == len(self._laid):
                self._laid.append(_Laid(self._words, spell))
            needle = spell(phrase)
            places = self._laid[way].occurrences(needle)
            if places:
                break
        return way, needle, places
