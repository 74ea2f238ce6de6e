"""Four ways to compare segments, from demanding to lenient (SemEval-2013 task 9: Segura-Bedmar et al. 2013, section 4).

    mode      a predicted segment is correct if a gold one has      else, where one overlaps it, it is
    strict    the same bounds and type                              incorrect
    exact     the same bounds                                       incorrect
    partial   the same bounds                                       partial, half of a correct one
    type      the same type and a token in common                   incorrect

A predicted segment without a gold one is spurious, a gold one without a predicted one is missed; possible are all gold
segments, actual all predicted ones. Each takes part in one pair at most. Pairs are made as nervaluate 1.2 makes them,
number for number: predicted segments from left to right each take, of the gold ones that overlap them and are still
free,

    strict, exact, partial   the first;
    type                     the one of their own type whose bounds are nearest (the first of several), else the first.

With the first rule there are always as many pairs as can be, and those with the same bounds are among them, so that
the counts do not depend on the direction. With the second they can: where one gold X is predicted as a Y and an X, one
after the other, the Y takes the gold segment and is incorrect, and the X is spurious; from right to left the X would
take it.

By type, as in nervaluate: each type by itself, as if there were no others. An X found as a Y is missed among the X and
spurious among the Y, and incorrect in the total only. One difference: here a token in common is always an overlap;
nervaluate asks for 1 % of the gold segment, which is more from 101 tokens on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.labels import check_packed
from trellis.metrics.reading import Spans, both_read, encoding_for
from trellis.metrics.segments import segment_types

I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

MODES = ("strict", "exact", "partial", "type")


@dataclass(frozen=True)
class Matches:
    """Counts of segments in one mode, and the fractions that they make: 0.0 where there is nothing to divide by."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int

    @property
    def possible(self) -> int:
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def actual(self) -> int:
        return self.correct + self.incorrect + self.partial + self.spurious

    @property
    def precision(self) -> float:
        return (self.correct + self.partial / 2) / self.actual if self.actual else 0.0

    @property
    def recall(self) -> float:
        return (self.correct + self.partial / 2) / self.possible if self.possible else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_json(self) -> dict[str, float]:
        names = ("possible", "actual", "precision", "recall", "f1")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Matching:
    """`modes`: by the names of `MODES`; `by_type`: by type, then by mode. `scheme` and `encoding` are how labels were
    read."""

    modes: Mapping[str, Matches]
    by_type: Mapping[str, Mapping[str, Matches]]
    scheme: str = "conlleval"
    encoding: str | None = None

    def as_json(self) -> dict[str, Any]:
        """By mode: the counts and fractions in total, and under `by_type` for each type."""
        return {
            mode: {
                **total.as_json(),
                "by_type": {name: modes[mode].as_json() for name, modes in self.by_type.items()},
            }
            for mode, total in self.modes.items()
        }

    def as_text(self) -> str:
        """A table of counts, with percentages, and one of F1 by type; no final line break."""
        counts = ("correct", "incorrect", "partial", "missed", "spurious")
        lines = [f"{'matching':>17}  {'  '.join(f'{name:>9}' for name in counts)}  precision   recall      FB1"]
        for mode, total in self.modes.items():
            cells = "  ".join(f"{getattr(total, name):9}" for name in counts)
            scores = f"{100 * total.precision:8.2f}%  {100 * total.recall:6.2f}%  {100 * total.f1:7.2f}"
            lines.append(f"{mode:>17}  {cells}  {scores}")
        lines.append(f"{'FB1 by type':>17}  {'  '.join(f'{mode:>9}' for mode in MODES)}")
        for name, modes in self.by_type.items():
            lines.append(f"{name:>17}  {'  '.join(f'{100 * modes[mode].f1:9.2f}' for mode in MODES)}")
        return "\n".join(lines)


def match_segments(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> Matching:
    """Compare the segments of two labellings in four ways.

    gold, predicted: int [tokens], both into the one list `labels`; offsets: int64 [sentences + 1]. `scheme` and
    `encoding` are as for `evaluate`.
    """
    for which, ids in (("gold", gold), ("predicted", predicted)):
        check_packed(ids, offsets, len(labels), name=which)
    name = encoding_for(scheme, encoding, gold, labels, offsets)
    first, second = both_read(gold, predicted, labels, offsets, scheme, name)
    types = segment_types(labels)
    occur = np.union1d(first.kind, second.kind).tolist()
    tokens = int(np.asarray(offsets)[-1])
    table = _counted(_apart(first, tokens), _apart(second, tokens), len(types)).tolist()
    (total,) = _counted(_alike(first), _alike(second), 1).tolist()
    return Matching(_named(total), {types[k]: _named(table[k]) for k in occur}, scheme, name)


class _Grouped(NamedTuple):
    """Segments, in order and apart, that are counted in groups; all [segments]."""

    spans: Spans
    group: I64


def _alike(spans: Spans) -> _Grouped:
    return _Grouped(spans, np.zeros_like(spans.kind))


def _apart(spans: Spans, tokens: int) -> _Grouped:
    """Each type moved to a text of its own, one after the other, where no two types overlap."""
    order = np.argsort(spans.kind, kind="stable")
    start, end, kind = (each[order] for each in spans)
    return _Grouped(Spans(start + kind * tokens, end + kind * tokens, kind), kind)


def _counted(gold: _Grouped, predicted: _Grouped, groups: int) -> I64:
    """I64[groups, modes, 5]: correct, incorrect, partial, missed, spurious."""
    first, overlapping = _overlapping(gold.spans, predicted.spans)
    pair, other = _pairs(first, overlapping)
    untyped = _taken(first, overlapping, np.zeros_like(pair))
    typed = _taken(first, overlapping, _strangeness(gold.spans, predicted.spans, pair, other))
    size = [np.bincount(each.group, minlength=groups) for each in (gold, predicted)]
    table = np.zeros((groups, len(MODES), 5), np.int64)
    for mode, taken in zip(MODES, (untyped, untyped, untyped, typed), strict=True):
        mine = np.flatnonzero(taken >= 0)
        theirs = taken[mine]
        good = np.ones(len(mine), np.bool_)
        if mode != "type":
            good &= gold.spans.start[theirs] == predicted.spans.start[mine]
            good &= gold.spans.end[theirs] == predicted.spans.end[mine]
        if mode in ("strict", "type"):
            good &= gold.spans.kind[theirs] == predicted.spans.kind[mine]
        right, wrong = (np.bincount(predicted.group[mine[which]], minlength=groups) for which in (good, ~good))
        rows = table[:, MODES.index(mode)]
        rows[:, 0], rows[:, 2 if mode == "partial" else 1] = right, wrong
        rows[:, 3], rows[:, 4] = size[0] - right - wrong, size[1] - right - wrong
    return table


def _overlapping(gold: Spans, predicted: Spans) -> tuple[I64, I64]:
    """(first, number), both [predicted]: the gold segments that overlap each are so many from the first on."""
    first = np.searchsorted(gold.end, predicted.start, side="right")
    behind = np.searchsorted(gold.start, predicted.end, side="left")
    return first, np.maximum(behind - first, 0)


def _pairs(first: I64, overlapping: I64) -> tuple[I64, I64]:
    """(predicted, gold), both [pairs that overlap], in order."""
    pair = np.repeat(np.arange(len(first)), overlapping)
    begin = np.cumsum(overlapping) - overlapping
    return pair, np.arange(len(pair)) - begin[pair] + first[pair]


def _strangeness(gold: Spans, predicted: Spans, pair: I64, other: I64) -> I64:
    """I64[pairs]: how far the bounds are apart; for another type more than any of the same."""
    apart = np.abs(gold.start[other] - predicted.start[pair]) + np.abs(gold.end[other] - predicted.end[pair])
    return np.where(gold.kind[other] == predicted.kind[pair], apart, np.int64(apart.max(initial=0) + 1))


def _taken(first: I64, overlapping: I64, strangeness: I64) -> I64:
    """I64[predicted]: the gold segment that each takes, -1 for none. From left to right each takes the least strange
    one that is free, the first of several.

    Of those that overlap a segment only the first can overlap one before it, so all that goes from left to right is
    whether the last one is taken by now. Where that is so whatever has been before, or else not so, it is known at
    once; all others leave it as it is, and look back to the last place where it is known.
    """
    taken = np.full(len(first), -1)
    some = np.flatnonzero(overlapping)
    if not some.size:
        return taken
    first, number = first[some], overlapping[some]
    begin = np.cumsum(number) - number
    width = int(number.max())
    place = np.arange(len(strangeness)) - np.repeat(begin, number)
    key = strangeness * width + place
    free = np.minimum.reduceat(key, begin) % width  # which to take when the first is free
    key[begin] = np.iinfo(np.int64).max
    least = np.minimum.reduceat(key, begin)
    not_free = np.where(number > 1, least % width, -1)
    last = number - 1
    if_free, if_not = free == last, (not_free == last) | (number == 1)  # whether the last is taken then
    shared = np.zeros(len(some), np.bool_)
    shared[1:] = first[1:] == (first + last)[:-1]
    known = ~shared | (if_free == if_not)
    after = if_free[np.maximum.accumulate(np.where(known, np.arange(len(some)), 0))]
    before = np.zeros(len(some), np.bool_)
    before[1:] = shared[1:] & after[:-1]
    choice = np.where(before, not_free, free)
    taken[some] = np.where(choice >= 0, first + choice, -1)
    return taken


def _named(rows: Sequence[Sequence[int]]) -> dict[str, Matches]:
    return {mode: Matches(*row) for mode, row in zip(MODES, rows, strict=True)}
