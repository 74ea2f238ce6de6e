"""Phrases that a language model named -> the tokens they stand for.

A phrase is a run of whole tokens. It is looked for as it is spelt, word by word; then by characters alone, white space
left out and Unicode made one (NFKC), as models write "can't" for "ca n't"; then in any case. The first way that finds
it counts. The k-th mention of a phrase is its k-th occurrence, of those that are no part of a longer phrase: of
"University of Oslo" and "Oslo" in one sentence the second is the Oslo that stands alone.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trellis.weak.prompting.prompts import Spans, clean

NOT_THERE = "not in the text"
CUTS = "cuts a token"
OVERLAPS = "overlaps another"
MISSED = (NOT_THERE, CUTS, OVERLAPS)
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


@dataclass
class _Sought:
    """A phrase: where it stands, from left to right, as far as that is not taken; `missing`: why, if nowhere."""

    places: deque[Range]
    missing: str
    tokens: int  # of the first place

    def next(self, taken: bytearray) -> Range | str:
        """The next place that is free, or why there is none."""
        missing = self.missing
        while self.places:
            start, end = self.places.popleft()
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                return start, end
            missing = OVERLAPS
        return missing


class Alignment:
    """One sentence, `words`, in which phrases are found."""

    def __init__(self, words: Sequence[str]):
        self._words = words
        self._laid: list[_Laid] = []  # made as they are needed

    def find(self, spans: Spans) -> tuple[list[tuple[int, int, str]], Counter[str]]:
        """(start, end, type) of each phrase that is there, in tokens, apart from each other, from left to right; and
        how many are not, by reason."""
        found: list[tuple[int, int, str]] = []
        dropped: Counter[str] = Counter()
        taken = bytearray(len(self._words))
        sought: dict[tuple[int, str], _Sought] = {}
        key_of = {phrase: self._seek(phrase, sought) for phrase, _ in spans}
        for phrase, kind in sorted(spans, key=lambda one: -sought[key_of[one[0]]].tokens):
            place = sought[key_of[phrase]].next(taken)
            if isinstance(place, str):
                dropped[place] += 1
            else:
                found.append((*place, kind))
        return sorted(found), dropped

    def _seek(self, phrase: str, sought: dict[tuple[int, str], _Sought]) -> tuple[int, str]:
        """By which way a phrase is found, and how it is spelt then; by the last one if nowhere."""
        for way, spell in enumerate(_WAYS):
            if way == len(self._laid):
                self._laid.append(_Laid(self._words, spell))
            needle, laid = spell(phrase), self._laid[way]
            if (way, needle) in sought:
                break
            places = laid.occurrences(needle)
            if places or way + 1 == len(_WAYS):
                cuts = not places and needle and needle in laid.text
                tokens = places[0][1] - places[0][0] if places else 0
                sought[way, needle] = _Sought(deque(places), CUTS if cuts else NOT_THERE, tokens)
                break
        return way, needle
