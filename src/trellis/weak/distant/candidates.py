"""Pairs of names in a sentence as records of plain texts: what a classifier of relations looks at.

    sentence, subject, object, subject_type, object_type, subject_span, object_span
    order     "subject first" or "object first"
    before    up to `window` words before the first of the two names, in lower case
    between   the words between them
    after     up to `window` words behind the second
    pattern   X was founded by Y: X is the subject, Y the object; of many words between, the first and the last few
    distance  how many words are between, names of others as one each, in classes: 0, 1, 2-3, 4-6, 7-12, 13+
    text      all these words as they are in the sentence, for people

Names of other entities in between are <PER>, <ORG>, or <name> where the type is not known, as who they are does not
matter. No field but subject, object and text has the names themselves, so what is learnt holds for other names, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trellis.corpus import Column, Corpus
from trellis.errors import SettingError, shown
from trellis.weak.distant.base import UNKNOWN, KnowledgeBase
from trellis.weak.distant.counts import Counts
from trellis.weak.distant.mentions import Mentions, by_sentence, mentions_in

Record = dict[str, Any]

ORDERS = ("subject first", "object first")
_CLASSES = ((0, "0"), (1, "1"), (2, "2-3"), (4, "4-6"), (7, "7-12"), (13, "13+"))
_FROM = [least for least, _ in _CLASSES]


@dataclass(frozen=True)
class Limits:
    """between: of words between two names; mentions: of names that are paired in one sentence, the first ones;
    window: of words before and behind; pattern: of words in a pattern, of more of which the edges stay."""

    between: int = 25
    mentions: int = 32
    window: int = 3
    pattern: int = 6

    def __post_init__(self) -> None:
        for name, least in (("between", 0), ("mentions", 2), ("window", 0), ("pattern", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise SettingError(f"the limit '{name}' is {shown(value)}; expected a whole number >= {least}")


def candidates_in(
    kb: KnowledgeBase,
    corpus: Corpus,
    limits: Limits,
    counts: Counts,
    first: int = 0,
    word: str | None = None,
    entities: str | None = None,
) -> Iterator[Record]:
    """Both directions of every pair of different entities in a sentence, of types between which some relation of the
    base may hold, or between which there is a fact. Of several mentions of the two those that are nearest to each other
    are taken, so a sentence has one record for a direction. first: how many sentences there are before these. What is
    left out is counted."""
    words = next(iter(corpus.columns.values())) if word is None else corpus[word]
    mentions = mentions_in(kb, corpus, word, entities)
    counts.sentences += len(corpus)
    counts.mentions += len(mentions)
    for s, low, high in by_sentence(mentions, corpus.offsets):
        many = min(high - low, limits.mentions)
        if high - low > many:
            counts.crowded += 1
            counts.names_left_out += high - low - many
        begin, end = int(corpus.offsets[s]), int(corpus.offsets[s + 1])
        sentence = _Sentence(words, mentions, begin, end, low, high, many)
        for i, j in sentence.nearest():
            if sentence.gap(i, j) > limits.between:
                counts.too_far += 2
                continue
            fields = None
            for subject, object_ in ((i, j), (j, i)):
                fact = kb.relations_of(mentions.entity[subject], mentions.entity[object_])
                if not (fact or kb.fits(mentions.type[subject], mentions.type[object_])):
                    counts.types_unfit += 1
                    continue
                fields = fields or sentence.around(i, j, limits)
                counts.candidates += 1
                yield _record(first + s + 1, sentence, subject, object_, fields, limits)


class _Sentence:
    """One sentence: its tokens are begin up to end, its mentions low up to high, of which so `many` are paired."""

    def __init__(self, words: Column, mentions: Mentions, begin: int, end: int, low: int, high: int, many: int):
        self.words, self.mentions = words, mentions
        self.begin, self.end, self.low, self.paired = begin, end, low, low + many
        self.start = mentions.start[low:high].tolist()
        self.stop = mentions.end[low:high].tolist()

    def span(self, mention: int) -> tuple[int, int]:
        return self.start[mention - self.low], self.stop[mention - self.low]

    def gap(self, i: int, j: int) -> int:
        """Words between two mentions, the first of which is i."""
        return int(self.span(j)[0] - self.span(i)[1])

    def nearest(self) -> list[tuple[int, int]]:
        """The nearest mentions of each pair of different entities, of equals the leftmost; in order of the text."""
        best: dict[tuple[str, str], tuple[int, int, int]] = {}
        for i in range(self.low, self.paired):
            for j in range(i + 1, self.paired):
                a, b = self.mentions.entity[i], self.mentions.entity[j]
                if a != b:
                    pair, found = (a, b) if a < b else (b, a), (self.gap(i, j), i, j)
                    best[pair] = min(found, best.get(pair, found))
        return sorted((i, j) for _, i, j in best.values())

    def said(self, start: int, end: int) -> list[str]:
        """Words as they are."""
        return [self.words.strings[k] for k in self.words.ids[start:end].tolist()]

    def plain(self, start: int, end: int) -> list[str]:
        """Words in lower case, names by their types; those of which only a part is there are left out."""
        found: list[str] = []
        at = start
        for k in range(bisect_right(self.stop, start), len(self.start)):
            a, b = self.start[k], self.stop[k]
            if a >= end:
                break
            kind = self.mentions.type[self.low + k]
            found += map(str.lower, self.said(at, max(at, a)))
            if start <= a and b <= end:
                found.append(f"<{'name' if kind == UNKNOWN else kind}>")
            at = min(b, end)
        return [*found, *map(str.lower, self.said(at, end))]

    def around(self, i: int, j: int, limits: Limits) -> dict[str, list[str]]:
        """Words before, between and behind two mentions, the first of which is i; and all as they are."""
        (a, b), (c, d) = self.span(i), self.span(j)
        left, right = max(self.begin, a - limits.window), min(self.end, d + limits.window)
        return {
            "before": self.plain(left, a),
            "between": self.plain(b, c),
            "after": self.plain(d, right),
            "text": self.said(left, right),
        }


def _record(
    number: int, sentence: _Sentence, subject: int, object_: int, fields: dict[str, list[str]], limits: Limits
) -> Record:
    mentions, forward = sentence.mentions, subject < object_
    between = fields["between"]
    if len(between) > limits.pattern:
        edge = limits.pattern // 2
        between = [*between[:edge], "...", *between[len(between) - edge :]]
    return {
        "sentence": number,
        "subject": mentions.entity[subject],
        "object": mentions.entity[object_],
        "subject_type": mentions.type[subject],
        "object_type": mentions.type[object_],
        "subject_span": [t - sentence.begin for t in sentence.span(subject)],
        "object_span": [t - sentence.begin for t in sentence.span(object_)],
        "order": ORDERS[0 if forward else 1],
        "distance": _CLASSES[bisect_right(_FROM, len(fields["between"])) - 1][1],
        "pattern": " ".join(["X" if forward else "Y", *between, "Y" if forward else "X"]),
        **{name: " ".join(words) for name, words in fields.items()},
    }
