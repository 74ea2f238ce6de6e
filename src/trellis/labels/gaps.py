"""Spans with gaps in one column of labels: `gappy`, the six letters of Schneider et al. 2014 (section 3.2).

    B I O   as in iob2, and an I also goes on with its span after a gap
    b i o   the same inside a gap, where other spans may be, but none with a gap of its own

    take   his    good   friend  off   guard            take ... off guard: a span of type V with a gap,
    B-V    o      b-N    i-N     I-V   I-V              good friend: one of type N in it

Types follow a hyphen; without any, labels are the letters alone. A span may have a single token (in the paper, which
is about expressions of several words, it may not). An `o` may have the type of the span around it; nothing is read
from it.

Reading: the labels in capitals, one after the other without the gaps, are iob2, and so are the small ones of each gap.
Both are read by conlleval's rules or strictly (`reading`). Read strictly, spans in small letters count only between
two tokens of one span.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError
from trellis.labels.encode import label_of
from trellis.labels.encoding import OUTSIDE, check_prefix, split
from trellis.labels.gap_rules import GAPPY
from trellis.labels.packed import check_packed, ranges
from trellis.labels.reading import read_segments, segment_types
from trellis.labels.spans import SpanSet

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def is_gappy(labels: Sequence[str]) -> bool:
    """Whether labels are of this encoding and of no other: some in small letters, with B and I for what is around
    them, and a type for all of them but o and O, or for none."""
    parts = [split(label) for label in labels]
    prefixes = {prefix for prefix, _ in parts}
    typed = {any(c.isalpha() for c in kind) for prefix, kind in parts if prefix not in "Oo"}
    fits = prefixes <= set("OoBIbi") and {"B", "I"} <= prefixes and not prefixes.isdisjoint("obi")
    return fits and len(typed) == 1


def gappy_labels(types: Sequence[str]) -> list[str]:
    """All labels that spans of these types can have: O, o, then B, I, b, i of each."""
    return [OUTSIDE, "o", *(label_of(prefix, kind) for kind in types for prefix in "BIbi")]


def read_gappy(ids: ArrayLike, labels: Sequence[str], offsets: ArrayLike, reading: str = "conlleval") -> SpanSet:
    """The spans in labels; ids: int [tokens] into labels, offsets: int64 [sentences + 1]."""
    tokens, bounds = check_packed(ids, offsets, len(labels))
    for label in labels:
        check_prefix(label, GAPPY)
    small = np.array([label[:1].islower() for label in labels], np.bool_)
    outer = [OUTSIDE if low else label for label, low in zip(labels, small, strict=True)]
    inner = [label[0].upper() + label[1:] if low else OUTSIDE for label, low in zip(labels, small, strict=True)]
    large = np.flatnonzero(~small[tokens])  # tokens without the gaps, and their sentences
    start, end, kind = read_segments(tokens[large], outer, np.searchsorted(large, bounds), reading, "iob2")
    first, from_, to = _fragments(large, start, end - start)
    start2, end2, kind2 = read_segments(tokens, inner, bounds, reading, "iob2")
    if reading != "conlleval":
        kept = _enclosed(start2, large, start, end)
        start2, end2, kind2 = start2[kept], end2[kept], kind2[kept]
    types = segment_types([*outer, *inner])
    rank, rank2 = (np.array([types.index(t) for t in segment_types(names)], np.int64) for names in (outer, inner))
    return SpanSet.of(
        np.append(rank[kind], rank2[kind2]),
        np.append(first, first[-1] + 1 + np.arange(len(start2))),
        np.append(from_, start2),
        np.append(to, end2),
        types,
    )


def write_gappy(spans: SpanSet, offsets: ArrayLike) -> tuple[I32, list[str]]:
    """(ids I32[tokens], labels) of spans in sentences: int64 [sentences + 1]. DataError for spans that share a token,
    and for one that has a gap and is in a gap itself."""
    bounds = np.asarray(offsets, np.int64)
    spans.check_within(bounds)
    tokens, lengths = int(bounds[-1]), spans.end - spans.start
    at, owner = ranges(spans.start, lengths), np.repeat(spans.owner, lengths)
    whose = np.full(tokens, -1)
    whose[at] = owner
    _refuse(spans, bounds, owner[whose[at] != owner], "shares a token with another")

    gap = np.flatnonzero(spans.owner[1:] == spans.owner[:-1])  # behind each of these fragments
    inside = np.zeros(tokens, np.bool_)
    inside[ranges(spans.end[gap], spans.start[gap + 1] - spans.end[gap])] = True
    _refuse(spans, bounds, owner[inside[at] & (spans.fragments[owner] > 1)], "has a gap and is in a gap of another")

    labels = gappy_labels(spans.types)
    ids = inside.astype(np.int32)  # O, o
    letter = 1 + 2 * inside  # of B I b i
    letter[spans.begin] -= 1
    ids[at] = 2 + 4 * spans.kind[owner] + letter[at]
    return ids, labels


def _fragments(large: I64, start: I64, lengths: I64) -> tuple[I64, I64, I64]:
    """(first [segments + 1], start, end [fragments]) of segments of the tokens that `large` numbers."""
    at = large[ranges(start, lengths)]
    begins = np.append(True, np.diff(at) != 1)[: len(at)]
    begins[np.cumsum(lengths) - lengths] = True
    where = np.flatnonzero(begins)
    ends = at[np.append(where[1:], len(at)) - 1] + 1 if len(at) else at
    return np.append(np.searchsorted(where, np.cumsum(lengths) - lengths), len(where)), at[where], ends


def _enclosed(at: I64, large: I64, start: I64, end: I64) -> NDArray[np.bool_]:
    """Whether the tokens at [n], all in small letters, are in a gap of one of the segments of `large`."""
    after = np.searchsorted(large, at)  # the next one in capitals
    segment = np.searchsorted(start, after - 1, side="right") - 1
    return (segment >= 0) & (after < np.append(end, 0)[segment])


def _refuse(spans: SpanSet, offsets: I64, wrong: I64, what: str) -> None:
    for s in wrong[:1].tolist():
        raise DataError(f"{spans.place(s, offsets)} {what}; one column of labels cannot hold both")
