"""Attributes that come together: their weights are added up once, not at every token.

Templates overlap. Whoever knows the three tags around a token knows each of them, and their pairs; whoever knows a word
knows its suffixes and its shape. So tokens with the same attribute of such a template have the same attributes of all
those, too, and what these say of the labels is the same sum of rows. A group is such a set of attributes; a token then
has the group in place of them. (CoNLL-2000, the 19 templates of CRF++'s example: of 12 templates of tags 3 groups
remain, for which 26 thousand tokens have 4 thousand different triples of tags each.)

This is found in the data, for each shard by itself: one column of attribute numbers determines another if no two tokens
agree on the first and differ on the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.scoring.sharing_kernels import determined, heads_of

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_SELDOM = 4  # a column is worth grouping by if it has a different value at one in so many tokens, at the most
_GAIN = 0.25  # and spares so many additions of a row a token


@dataclass(frozen=True)
class Shared:
    """Packed attributes of tokens (`indptr: I64[tokens + 1]`, `ids: I32[...]`), of which numbers from `attributes` on
    are groups; packed attributes of groups."""

    indptr: I64
    ids: I32
    group_indptr: I64
    group_ids: I32


def find_shared(indptr: I64, ids: I32, attributes: int) -> Shared | None:
    """None where every token is as well described by itself, or templates cannot be told apart: tokens then have
    different numbers of attributes."""
    tokens = len(indptr) - 1
    columns = int(indptr[1] - indptr[0]) if tokens else 0
    if columns < 3 or len(ids) != tokens * columns or np.any(np.diff(indptr) != columns):
        return None
    matrix = ids.reshape(tokens, columns)
    distinct, implied = determined(matrix, attributes, tokens // _SELDOM)
    chosen = _choose(distinct, implied, tokens)
    if not chosen:
        return None
    own = [c for c in range(columns) if all(c not in members for members in chosen)]
    numbers, starts, members = [], [np.zeros(1, np.int64)], []
    for together in chosen:
        number, heads = heads_of(matrix, together[0], attributes)
        numbers.append(number + np.int32(attributes + len(np.concatenate(starts)) - 1))
        members.append(matrix[heads][:, together].ravel())
        starts.append(np.full(len(heads), len(together)))
    packed = np.concatenate([matrix[:, own], np.stack(numbers, axis=1)], axis=1)
    return Shared(
        np.arange(tokens + 1, dtype=np.int64) * packed.shape[1],
        packed.ravel(),
        np.cumsum(np.concatenate(starts)),
        np.concatenate(members),
    )


def _choose(distinct: I64, implied: NDArray[np.bool_], tokens: int) -> list[list[int]]:
    """Columns that become one: first the one that determines the others. What spares most comes first."""
    free = np.ones(len(distinct), bool)
    chosen: list[list[int]] = []
    while True:
        # of each column that could lead a group: how many free ones it determines, and additions spared by that
        takes = (implied & free).sum(axis=1)
        spared = np.where(free & (takes > 0), takes * (tokens - distinct) - 2 * distinct, 0)
        best = int(np.argmax(spared))
        if spared[best] <= _GAIN * tokens:
            return chosen
        together = [best, *np.flatnonzero(implied[best] & free).tolist()]
        free[together] = False
        chosen.append(together)
