"""Spans that labels of one sequence cannot always hold: with gaps, one inside the other, across each other.

    kind   int64 [spans]       index into `types`
    first  int64 [spans + 1]   span s has the fragments first[s] up to but not including first[s + 1]
    start  int64 [fragments]   a fragment covers the tokens from start up to but not including end,
    end    int64 [fragments]   positions in the whole corpus

They are a set, kept in one order: by where spans begin, the one that ends last first, then by type. So a span comes
before those inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError
from trellis.labels.packed import place_in, ranges

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SpanSet:
    """As above; made by `SpanSet.of`, which checks and sorts."""

    kind: I64
    first: I64
    start: I64
    end: I64
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.kind)

    def __eq__(self, other: object) -> bool:
        """Whether the spans are the same; types that no span has do not count."""
        if not isinstance(other, SpanSet):
            return NotImplemented
        return len(self) == len(other) and bool(common(self, other)[0].all())

    @property
    def begin(self) -> I64:
        """[spans]: the first token of each."""
        return self.start[self.first[:-1]]

    @property
    def behind(self) -> I64:
        """[spans]: the token behind the last of each."""
        return self.end[self.first[1:] - 1]

    @property
    def fragments(self) -> I64:
        """[spans]: how many each has."""
        return np.diff(self.first)

    @property
    def owner(self) -> I64:
        """[fragments]: whose each is."""
        return np.repeat(np.arange(len(self)), self.fragments)

    def as_lists(self) -> list[tuple[str, list[tuple[int, int]]]]:
        """(type, fragments as (start, end)) of each span, for people and small examples."""
        pairs = list(zip(self.start.tolist(), self.end.tolist(), strict=True))
        cuts = self.first.tolist()
        return [(self.types[k], pairs[cuts[s] : cuts[s + 1]]) for s, k in enumerate(self.kind.tolist())]

    @classmethod
    def from_lists(cls, spans: Iterable[tuple[str, Sequence[tuple[int, int]]]]) -> SpanSet:
        """`as_lists` backwards: `SpanSet.from_lists([("VPC", [(1, 2), (4, 5)])])`."""
        given = list(spans)
        types = sorted({name for name, _ in given})
        pairs = [pair for _, fragments in given for pair in fragments]
        first = np.cumsum([0, *(len(fragments) for _, fragments in given)])
        start, end = np.array(pairs, np.int64).reshape(-1, 2).T
        return cls.of([types.index(name) for name, _ in given], first, start, end, types)

    @classmethod
    def of(cls, kind: ArrayLike, first: ArrayLike, start: ArrayLike, end: ArrayLike, types: Sequence[str]) -> SpanSet:
        """Spans in any order; one that is given twice is one. DataError for what is no span."""
        names, numbers = sorted(set(types)), _whole(kind)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(types)):
            raise DataError(f"kinds go from {numbers.min()} to {numbers.max()}, but there are {len(types)} types")
        rank = np.array([names.index(name) for name in types], np.int64)
        given = cls(rank[numbers], _whole(first), _whole(start), _whole(end), tuple(names))
        given._check()
        number = numbered(given)[0]
        order = np.lexsort((number, given.kind, -given.behind, given.begin))
        order = order[np.append(True, np.diff(number[order]) != 0)[: len(order)]]
        return given.chosen(order)

    def chosen(self, which: I64) -> SpanSet:
        """Those of the numbers [chosen]."""
        counts = self.fragments[which]
        at = ranges(self.first[which], counts)
        first = np.append(0, np.cumsum(counts)).astype(np.int64)
        return SpanSet(self.kind[which], first, self.start[at], self.end[at], self.types)

    def check_within(self, offsets: I64) -> None:
        """DataError for a span that is not within one sentence of `offsets` [sentences + 1]."""
        if len(self) and (self.begin.min() < 0 or self.behind.max() > offsets[-1]):
            raise DataError(f"a span ends at {self.behind.max()}, but there are {offsets[-1]} tokens")
        home = np.searchsorted(offsets, self.begin, side="right")
        for s in np.flatnonzero(np.searchsorted(offsets, self.behind - 1, side="right") != home)[:1].tolist():
            raise DataError(f"{self.place(s, offsets)} goes on in another sentence; cut it in two")

    def place(self, s: int, offsets: I64) -> str:
        """What to call span s in a message."""
        return (
            f"{place_in(offsets, int(self.begin[s]))}: the span of type '{self.types[self.kind[s]]}' that begins there"
        )

    def _check(self) -> None:
        spans, fragments = len(self.kind), len(self.start)
        if len(self.first) != spans + 1 or self.first[0] != 0 or self.first[-1] != fragments:
            raise DataError(
                f"`first` must go from 0 to {fragments} in {spans + 1} numbers, one more than there are spans"
            )
        if len(self.end) != fragments:
            raise DataError(f"fragments have {fragments} starts and {len(self.end)} ends; these must be as many")
        if np.any(np.diff(self.first) < 1):
            raise DataError("a span has no fragment; each needs at least one")
        inner = np.ones(fragments, np.bool_)
        inner[self.first[:-1]] = False
        if np.any(self.start >= self.end) or np.any((self.start[1:] <= self.end[:-1]) & inner[1:]):
            raise DataError("fragments of a span must have tokens, be in order and apart; join those that touch")


def _whole(values: ArrayLike) -> I64:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"spans of shape {array.shape} and type {array.dtype}: expected one dimension of integers")
    return array.astype(np.int64)


def common(one: SpanSet, other: SpanSet) -> tuple[BOOL, BOOL]:
    """([spans of one], [spans of other]): which of them the other set has as well: same fragments, same type."""
    mine, theirs = numbered(one, other)
    return np.isin(mine, theirs), np.isin(theirs, mine)


def numbered(*sets: SpanSet) -> list[I64]:
    """Numbers [spans] for the spans of each set: the same number for the same span, in whichever set."""
    index = {name: i for i, name in enumerate(dict.fromkeys(name for s in sets for name in s.types))}
    kind = np.concatenate([np.array([index[name] for name in s.types], np.int64)[s.kind] for s in sets])
    counts = np.concatenate([s.fragments for s in sets])
    start, end = (np.concatenate([getattr(s, name) for s in sets]) for name in ("start", "end"))
    first = np.append(0, np.cumsum(counts))
    number, base = np.zeros(len(kind), np.int64), 0
    for many in np.unique(counts).tolist():
        which = np.flatnonzero(counts == many)
        at = first[which, None] + np.arange(many)
        rows = np.concatenate([kind[which, None], end[at], start[at]], axis=1)
        order = np.lexsort(rows.T)
        fresh = np.append(True, np.any(np.diff(rows[order], axis=0), axis=1))
        number[which[order]] = base + np.cumsum(fresh) - 1
        base += int(fresh.sum())
    return np.split(number, np.cumsum([len(s) for s in sets])[:-1])
