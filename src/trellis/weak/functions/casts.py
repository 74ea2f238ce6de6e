"""What a labeling function answers for a whole batch of sentences, or of items: the votes it casts.

    SpanVotes    start, end, label   I64[spans]    tokens start up to but not including end, positions in the batch
    TokenVotes   ids                 I32[tokens]   one label a token (an item), -1: abstains
    LinkVotes    together            I8[tokens]    1: belongs with the token before it, 0: does not, -1: abstains

Labels are numbers into `labels`. Those of spans are types (PER), or O for a span in which there is nothing; those of
tokens are what they are spelt as (B-PER, O, NN). `labels` may have some that nobody votes for here: all that the
function is known to vote for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile
from trellis.weak.votes import ABSTAINS

I8 = NDArray[np.int8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class SpanVotes:
    """Spans in order of the text, none over another: `SpanVotes.apart` makes them so."""

    start: I64
    end: I64
    label: I64
    labels: tuple[str, ...]

    @classmethod
    def apart(cls, start: I64, end: I64, label: I64, labels: Sequence[str], rank: I64 | None = None) -> SpanVotes:
        """Of spans in any order those that stay: the leftmost, of these the longest, of these that of the lowest rank,
        which is the number of the label if None; what overlaps one that stays is dropped."""
        order = np.lexsort((label if rank is None else rank, -end, start))
        start, end, label = start[order], end[order], label[order]
        at = np.flatnonzero(_taken(start, end))
        return cls(start[at], end[at], label[at], tuple(labels))

    @classmethod
    def of_list(cls, spans: Sequence[tuple[int, int, int]], labels: Sequence[str]) -> SpanVotes:
        """The same of (start, end, label) of each; of those with the same borders the first stays."""
        start, end, label = np.array(spans, np.int64).reshape(-1, 3).T
        return cls.apart(start, end, label, labels, np.arange(len(spans)))


@dataclass(frozen=True)
class TokenVotes:
    """As at the top, of tokens or of items."""

    ids: I32
    labels: tuple[str, ...]


@dataclass(frozen=True)
class LinkVotes:
    """As at the top."""

    together: I8


Cast = SpanVotes | TokenVotes | LinkVotes


def _taken(start: I64, end: I64) -> NDArray[np.bool_]:
    """Which of the spans, sorted by start and longest first, do not begin inside one taken before."""
    taken = np.ones(len(start), np.bool_)
    reach = np.maximum.accumulate(end)
    if not np.any(start[1:] < reach[:-1]):  # the usual case: nothing overlaps
        return taken
    taken[:] = False
    if worthwhile(len(start)):
        from trellis.features.kernels import take_matches

        take_matches(start, end, np.zeros(len(start), np.int64), taken)
        return taken
    free = 0
    for k, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if a >= free:
            taken[k], free = True, b
    return taken


def joined(parts: Sequence[Cast], tokens: Sequence[int]) -> Cast:
    """The votes of one function on batches that follow each other, of so many tokens (items) each."""
    if len(parts) == 1:
        return parts[0]
    number: dict[str, int] = {}
    for part in parts:
        for label in () if isinstance(part, LinkVotes) else part.labels:
            number.setdefault(label, len(number))
    links, ids = [np.zeros(0, np.int8)], [np.zeros(0, np.int32)]
    spans = [(np.zeros(0, np.int64),) * 3]
    for part, first in zip(parts, (np.cumsum([0, *tokens])[:-1]).tolist(), strict=True):
        if isinstance(part, LinkVotes):
            links.append(part.together)
            continue
        table = np.array([*(number[label] for label in part.labels), ABSTAINS], np.int64)
        if isinstance(part, TokenVotes):
            ids.append(table[part.ids].astype(np.int32))
        else:
            spans.append((part.start + first, part.end + first, table[part.label]))
    if isinstance(parts[0], LinkVotes):
        return LinkVotes(np.concatenate(links))
    if isinstance(parts[0], TokenVotes):
        return TokenVotes(np.concatenate(ids), tuple(number))
    start, end, numbers = (np.concatenate(columns) for columns in zip(*spans, strict=True))
    return SpanVotes(start, end, numbers, tuple(number))
