"""Pieces cut out of a text and others put in their places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.labels.packed import ranges

I64 = NDArray[np.int64]
Numbers = NDArray[np.integer[Any]]


class Spliced(NamedTuple):
    """`taken`: where each token comes from; `offsets` of the sentences; `start [pieces]`: where the new pieces are."""

    taken: I64
    offsets: I64
    start: I64


def spliced(offsets: I64, cut: tuple[I64, I64], start: I64, lengths: I64) -> Spliced:
    """Piece k, the tokens cut[0][k] up to but not including cut[1][k], gives way to `lengths[k]` tokens from `start[k]`
    on. Pieces are in order, apart, and within sentences; all I64[pieces]."""
    many, tokens = len(start), int(offsets[-1])
    # what lies before the first piece, the first, what lies between, ...
    starts, sizes = np.zeros(2 * many + 1, np.int64), np.zeros(2 * many + 1, np.int64)
    starts[::2] = np.concatenate([[0], cut[1]])
    sizes[::2] = np.concatenate([cut[0], [tokens]]) - starts[::2]
    starts[1::2], sizes[1::2] = start, lengths
    shift = np.concatenate([[0], np.cumsum(lengths - (cut[1] - cut[0]))])
    moved = offsets + shift[np.searchsorted(cut[1], offsets, side="right")]
    return Spliced(ranges(starts, sizes), moved, (np.cumsum(sizes) - sizes)[1::2])


def drawn_alike(kinds: Numbers, wanted: Numbers, rng: np.random.Generator) -> I64:
    """For each wanted kind the number of a donor that has it, I64[wanted], all as likely; there must be one."""
    order = np.argsort(kinds, kind="stable")
    many = np.bincount(kinds, minlength=int(kinds.max(initial=0)) + 1)
    first = np.cumsum(many) - many
    drawn: I64 = order[first[wanted] + rng.integers(0, many[wanted])]
    return drawn
