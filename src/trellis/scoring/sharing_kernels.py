"""A compiled loop that finds columns of attribute numbers which determine others."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel

Array = Any


@kernel
def determined(matrix: Array, attributes: int, most: int) -> Array:
    """matrix: I32[tokens, columns] -> how many different numbers each column has, I64[columns], and whether column c
    determines column d, BOOL[columns, columns] (false for itself, and where c has more than `most` numbers)."""
    tokens, columns = matrix.shape
    distinct, implied = np.zeros(columns, np.int64), np.zeros((columns, columns), np.bool_)
    head = np.empty(attributes, np.int64)  # the first token with a number
    for c in range(columns):
        for a in range(attributes):
            head[a] = -1
        for t in range(tokens):
            a = matrix[t, c]
            if head[a] < 0:
                head[a] = t
                distinct[c] += 1
        if distinct[c] > most:
            continue
        for d in range(columns):
            t = 0 if d != c else tokens + 1
            while t < tokens and matrix[t, d] == matrix[head[matrix[t, c]], d]:
                t += 1
            implied[c, d] = t == tokens
    return distinct, implied
