"""Which labels each token may have: a table of label sets and one number a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.rows import padded

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]


@dataclass(frozen=True)
class Allowed:
    """Token t may have the labels of set `which[t]` (I32[tokens]); set k is `labels[start[k]:start[k + 1]]`
    (I64[sets + 1], I32[...]), ascending. Set 0 has all labels.

    Answers about restricted chains have one number for each allowed label of each token, its *place*: token t has the
    places `places[t]:places[t + 1]`, in the order of its set.
    """

    which: I32
    start: I64
    labels: I32

    def __post_init__(self) -> None:
        if len(self.start) < 2 or self.start[0] != 0 or self.start[-1] != len(self.labels):
            raise DataError("label sets need the first set at 0 and the last one to end with the labels")
        if np.any(np.diff(self.start) < 1):
            raise DataError(
                f"label set {int(np.argmin(np.diff(self.start)))} is empty; a token needs one label or more"
            )
        if np.any(self.labels[: self.size] != np.arange(self.size)):
            raise DataError("label set 0 must have all labels, in order")
        rises = np.diff(self.labels) > 0
        rises[self.start[1:-1] - 1] = True  # from one set to the next labels may fall
        if not rises.all() or self.labels.min() < 0 or self.labels.max() >= self.size:
            raise DataError(f"the labels of a set must rise and be below {self.size}, the number of labels")
        if len(self.which) and (self.which.min() < 0 or self.which.max() >= len(self.start) - 1):
            raise DataError(f"tokens name label sets {self.which.min()} to {self.which.max()} of {len(self.start) - 1}")

    @classmethod
    def all_of(cls, tokens: int, labels: int) -> Allowed:
        """So many tokens that may have any label."""
        return cls(np.zeros(tokens, np.int32), np.array([0, labels]), np.arange(labels, dtype=np.int32))

    @classmethod
    def of_mask(cls, mask: BOOL) -> Allowed:
        """From BOOL[tokens, labels], whether token t may have label j."""
        return cls.of_bits(np.packbits(mask, axis=1), mask.shape[1])

    @classmethod
    def of_bits(cls, bits: NDArray[np.uint8], labels: int) -> Allowed:
        """The same with eight labels in a byte, as NumPy packs them. Each different set is listed once."""
        rows = np.ascontiguousarray(bits)
        keys = rows.view([("", np.void, rows.shape[1])]).ravel() if len(rows) else rows[:0, 0]
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        mask = np.unpackbits(rows[first], axis=1, count=labels).astype(bool)
        sets = np.concatenate([np.ones((1, labels), bool), mask])
        start = np.concatenate([[0], np.cumsum(sets.sum(axis=1))]).astype(np.int64)
        return cls((which.ravel() + 1).astype(np.int32), start, np.nonzero(sets)[1].astype(np.int32))

    @classmethod
    def joined(cls, parts: Sequence[Allowed]) -> Allowed:
        """Runs of tokens one after the other, at least one, all with the same labels."""
        bits = [np.packbits(part._table, axis=1)[part.which] for part in parts]
        return cls.of_bits(np.concatenate(bits), parts[0].size)

    def __len__(self) -> int:
        return len(self.which)

    @property
    def size(self) -> int:
        """The number of labels."""
        return int(self.start[1])

    @cached_property
    def counts(self) -> I64:
        """How many labels each token may have, I64[tokens]."""
        return np.diff(self.start)[self.which]

    @cached_property
    def places(self) -> I64:
        """Where each token's places begin, I64[tokens + 1]."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @property
    def width(self) -> int:
        """The number of labels, rounded up to whole registers: a full row."""
        return padded(self.size)

    @property
    def sites(self) -> tuple[I64, I64]:
        """The token and the label of each place, I64[places] both."""
        token, first = np.arange(len(self)), self.start[self.which] - self.places[:-1]
        label = self.labels[np.repeat(first, self.counts) + np.arange(self.places[-1])]
        return np.repeat(token, self.counts), label.astype(np.int64)

    @cached_property
    def in_rows(self) -> I64:
        """Where each place is among full rows laid end to end, I64[places]."""
        token, label = self.sites
        return token * self.width + label

    @property
    def open(self) -> BOOL:
        """Tokens with more than one label to choose from, BOOL[tokens]."""
        return np.asarray(self.counts > 1)

    @property
    def for_loops(self) -> tuple[I64, NDArray[np.uint32], I64, NDArray[np.uint32]]:
        """`places`, `which`, `start` and `labels`; numbers without a sign, so that compiled loops need not ask whether
        an index counts from the end (which makes them a tenth slower)."""
        return self.places, self.which.view(np.uint32), self.start, self.labels.view(np.uint32)

    def part(self, first: int, last: int) -> Allowed:
        """Tokens first..last; the table is shared."""
        return self.of_tokens(self.which[first:last])

    def of_tokens(self, which: I32) -> Allowed:
        """The same sets for other tokens, which name none but these."""
        same = object.__new__(Allowed)  # the table has been checked
        for name, value in (("which", which), ("start", self.start), ("labels", self.labels)):
            object.__setattr__(same, name, value)
        return same

    def mask(self) -> BOOL:
        """Whether token t may have label j, BOOL[tokens, labels]."""
        return self._table[self.which]

    def first_outside(self, path: I32) -> int | None:
        """The first token of I32[tokens] whose label is not allowed there."""
        inside = self._table[self.which, np.minimum(path, self.size - 1)] & (path < self.size)
        outside = np.flatnonzero(~inside)
        return int(outside[0]) if len(outside) else None

    @cached_property
    def _table(self) -> BOOL:
        """BOOL[sets, labels]."""
        table = np.zeros((len(self.start) - 1, self.size), bool)
        table[np.repeat(np.arange(len(table)), np.diff(self.start)), self.labels] = True
        return table
