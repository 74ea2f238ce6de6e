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

from trellis.scoring.occurring import number_by_appearance
from trellis.scoring.sharing_kernels import determined

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_SELDOM = 4  # a column is worth grouping by if it has a different value at one in so many tokens, at the most
_GAIN = 0.25  # and spares so many additions of a row a token
_OFTEN = 4  # tokens that a group must have to be worth its making
_NONE = np.int32(-1)  # in the place of an attribute that a token does not have


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
    alone = [c for c in range(columns) if all(c not in members for members in chosen)]
    parts, sizes, members = [matrix[:, alone]], [np.zeros(1, np.int64)], []
    groups = 0
    for together in chosen:
        number, heads = _numbered(matrix[:, together[0]], attributes)
        often = np.bincount(number) >= _OFTEN
        there = often[number]
        new = np.where(often, np.cumsum(often) - 1 + attributes + groups, _NONE).astype(np.int32)
        parts += [new[number][:, None], np.where(there[:, None], _NONE, matrix[:, together])]
        members.append(matrix[heads[often]][:, together].ravel())
        sizes.append(np.full(int(often.sum()), len(together)))
        groups += len(sizes[-1])
    packed = np.concatenate(parts, axis=1)
    here = packed != _NONE
    return Shared(
        np.concatenate([[0], np.cumsum(here.sum(axis=1))]).astype(np.int64),
        packed[here],
        np.cumsum(np.concatenate(sizes)),
        np.concatenate(members),
    )


def _numbered(column: I32, attributes: int) -> tuple[I32, I64]:
    """The different numbers of a column, numbered in order of appearance: I32[tokens], and the first token of each."""
    number, old = number_by_appearance(column.copy(), attributes)
    heads = np.empty(len(old), np.int64)
    heads[number[::-1]] = np.arange(len(number) - 1, -1, -1)  # of several tokens the one that is written last stays
    return number, heads


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
