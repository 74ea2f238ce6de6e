"""What a language model answered -> an answer for each text it was asked about, or why there is none.

Models wrap JSON in prose and code fences, stop in the middle, forget texts and make some up. So all JSON objects in the
answer are looked at, each by itself: what is complete counts, also where the whole is cut off. Nothing that a model
writes raises an error here, and no text gets an answer that does not name its number. An answer that names numbers of
texts that were not asked about has lost count, and is not believed at all (0 for the first text neither, unless there
is only one). Nor is what models write while they think, or before they begin anew and are cut off.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trellis.weak.prompting.prompts import Answer, Spans

LONGEST = 1 << 20  # characters that are looked at
_FALSE_STARTS = 200  # braces that begin no object, after which the rest is taken for noise
_LOST = 4 * LONGEST  # characters that were looked at in vain, likewise
_DEEPEST = 4  # objects in objects in which answers are looked for

MISSING = "no answer"
CUT_OFF = "answer cut off"
UNREADABLE = "unreadable answer"
UNKNOWN = "unknown label"
CONTRADICTORY = "contradictory answers"
UNKNOWN_TYPE = "unknown type"
NO_SPAN = "no phrase and type"
MISNUMBERED = "numbers of other texts"

_THOUGHTS = re.compile("</?think(?:ing)?>")
_SEPARATORS = re.compile(r"[\s,\[\]}`]*")  # between objects of one answer

Found = tuple[int, int, dict[str, Any]]  # where an object begins and ends
_decoder = json.JSONDecoder()


@dataclass
class Read:
    """Of texts by their place from 0 on: `answers`, or `reasons` why there is none; `dropped`: spans by reason."""

    answers: dict[int, Answer] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    dropped: dict[int, Counter[str]] = field(default_factory=dict)


class Reader:
    """Reads answers of one kind of votes for labels of one inventory."""

    def __init__(self, votes: str, labels: Mapping[str, object]):
        self.votes = votes
        self._exact = {label: label for label in labels}
        folded = Counter(_folded(label) for label in labels)  # where case alone tells labels apart, it counts
        self._folded = {_folded(label): label for label in labels if folded[_folded(label)] == 1}

    def read(self, content: str, texts: int, cut: bool = False) -> Read:
        """`content`: what was said of so many texts; `cut`: the model was stopped before its end."""
        elements = list(_elements(content[:LONGEST], cut))
        numbered = [(number, one) for one in elements if (number := _number(one["number"])) is not None]
        numbers = {number for number, _ in numbered}
        first = 0 if texts == 1 and numbers == {0} else 1
        if any(not first <= number < first + texts for number in numbers):
            return Read(reasons=dict.fromkeys(range(texts), MISNUMBERED))
        found: dict[int, list[dict[str, Any]]] = {}
        for number, one in numbered:
            found.setdefault(number - first, []).append(one)
        read = Read()
        nothing = CUT_OFF if cut else MISSING if elements else UNREADABLE
        for at in range(texts):
            self._settle(at, found.get(at, []), nothing, read)
        return read

    def kept(self, value: Any) -> Answer:
        """An answer as it comes out of JSON; ValueError where it is none of this kind."""
        if self.votes == "items" and (value is None or (isinstance(value, str) and value in self._exact)):
            return None if value is None else str(value)
        if self.votes == "items" or not isinstance(value, list):
            raise ValueError
        for one in value:
            if not isinstance(one, list) or len(one) != 2 or not all(isinstance(part, str) for part in one):
                raise ValueError
            if one[1] not in self._exact:
                raise ValueError
        return [(phrase, kind) for phrase, kind in value]

    def _settle(self, at: int, said: list[dict[str, Any]], nothing: str, read: Read) -> None:
        """The answer for one text, if all that is said of it agrees."""
        outcomes = [self._one(one) for one in said]
        right = [(answer, dropped) for answer, reason, dropped in outcomes if not reason]
        if not right:
            read.reasons[at] = outcomes[0][1] if outcomes else nothing
        elif any(answer != right[0][0] for answer, _ in right):
            read.reasons[at] = CONTRADICTORY
        else:
            read.answers[at], read.dropped[at] = right[0]

    def _one(self, said: dict[str, Any]) -> tuple[Answer, str, Counter[str]]:
        """An answer, or the reason why it is none; and which spans were left out."""
        dropped: Counter[str] = Counter()
        if self.votes == "items":
            label = said.get("label", 0)
            if label is None or (isinstance(label, str) and self._says_none(label)):
                return None, "", dropped
            if not isinstance(label, str):
                return None, UNREADABLE, dropped
            known = self.known(label)
            return known, "" if known is not None else UNKNOWN, dropped
        listed = said.get("spans", 0)
        if not isinstance(listed, list):
            return None, UNREADABLE, dropped
        spans: Spans = []
        for one in listed:
            phrase, kind = (one.get("phrase"), one.get("type")) if isinstance(one, dict) else (None, None)
            if not isinstance(phrase, str) or not isinstance(kind, str):
                dropped[NO_SPAN] += 1
                continue
            known = self.known(kind)
            if known is None:
                dropped[UNKNOWN_TYPE] += 1
            else:
                spans.append((phrase, known))
        if dropped[NO_SPAN] and not spans:
            return None, NO_SPAN, Counter()
        return spans, "", dropped

    def _says_none(self, label: str) -> bool:
        return _folded(label) in ("null", "none") and self.known(label) is None

    def known(self, label: str) -> str | None:
        """The label of the inventory that is meant: spelt so, or so but for case and white space around it."""
        return self._exact.get(label) or self._folded.get(_folded(label))


def _folded(label: str) -> str:
    return label.strip().casefold()


def _number(value: object) -> int | None:
    """Which text is meant."""
    if isinstance(value, str) and len(value) <= 9 and value.isascii() and value.isdigit():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _elements(content: str, cut: bool) -> Iterator[dict[str, Any]]:
    """All objects that may be the answer for one text, in order."""
    end, found = _behind_thoughts(content, list(_objects(content)))
    if cut:
        found = _not_taken_back(content[:end], found)
    for _, _, value in found:
        yield from _within(value, _DEEPEST)


def _behind_thoughts(content: str, found: list[Found]) -> tuple[int, list[Found]]:
    """What comes behind the thoughts that some models write down first, and where that ends: where others begin. Tags
    within objects are words of a text."""
    begin, end = 0, len(content)
    starts = [start for start, _, _ in found]
    for tag in _THOUGHTS.finditer(content):
        before = bisect_right(starts, tag.start())
        if not before or found[before - 1][1] <= tag.start():
            if tag[0].startswith("</"):
                begin, end = tag.end(), len(content)
            else:
                end = min(end, tag.start())
    return end, [one for one in found if begin <= one[0] and one[1] <= end]


def _not_taken_back(content: str, found: list[Found]) -> list[Found]:
    """Of an answer that was cut off: what the model did not go on to talk about, or begin anew."""
    end = len(content)
    for i in range(len(found) - 1, -1, -1):
        start, stop, value = found[i]
        if "number" not in value and "answers" not in value:
            continue  # a piece of an answer that is cut off
        gap, anew, _ = content[stop:end].partition("{")
        follows = bool(anew) or end < len(content)
        if not _SEPARATORS.fullmatch(gap) or (follows and "number" not in value):
            return found[i + 1 :]
        end = start
    return found


def _within(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "number" in value:
            yield value
        elif depth:
            yield from _within(value.get("answers"), depth - 1)
    elif isinstance(value, list) and depth:
        for one in value:
            yield from _within(one, depth - 1)


def _objects(content: str) -> Iterator[Found]:
    """The complete JSON objects in a text, outermost ones; of an object that is cut off those inside."""
    at, false_starts, lost = content.find("{"), 0, 0
    while at >= 0 and false_starts < _FALSE_STARTS and lost < _LOST:
        try:
            value, end = _decoder.raw_decode(content, at)
            yield at, end, value
            at = end
        except (ValueError, RecursionError) as error:  # ValueError: also a whole number of thousands of digits
            false_starts += 1
            lost += getattr(error, "pos", len(content)) - at
            at += 1
        at = content.find("{", at)
