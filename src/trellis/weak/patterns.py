"""Unique rows of votes. Most tokens have the votes of many others, so what is learnt of votes is learnt of patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.jit import worthwhile

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Patterns:
    """`rows I32[patterns, functions]` are all different, `of I64[tokens]` says which one a token has, `counts
    F64[patterns]` how many tokens have it."""

    rows: I32
    of: I64
    counts: F64

    @classmethod
    def of_votes(cls, values: I32) -> Patterns:
        rows, of = unique_rows(values)
        return cls(rows, of, np.bincount(of, minlength=len(rows)).astype(np.float64))

    def sums(self, nodes: F64) -> F64:
        """Rows of F64[tokens, labels] added up by pattern: F64[patterns, labels]."""
        many = len(self.rows)
        if worthwhile(len(nodes)):
            from trellis.weak.kernels import add_rows

            sums = np.zeros((many, nodes.shape[1]))
            add_rows(self.of, nodes, sums)
            return sums
        return np.stack([np.bincount(self.of, nodes[:, k], many) for k in range(nodes.shape[1])], axis=1)


def unique_rows(values: I32) -> tuple[I32, I64]:
    """The different rows of I32[rows, columns] whose entries are -1 or more, in order, and which of them each row is.

    As many columns as fit are packed into one number: sorting numbers is much faster than sorting rows.
    """
    of, many = np.zeros(len(values), np.int64), 1
    for j in range(values.shape[1]):
        column = values[:, j].astype(np.int64) + 1
        base = int(column.max(initial=0)) + 1
        if many * base >= 1 << 62:
            numbers, of = np.unique(of, return_inverse=True)
            many = len(numbers)
        of, many = of * base + column, many * base
    numbers, of = np.unique(of, return_inverse=True)
    first = np.zeros(len(numbers), np.int64)
    first[of[::-1]] = np.arange(len(values))[::-1]
    return np.ascontiguousarray(values[first]), of.astype(np.int64, copy=False).ravel()
