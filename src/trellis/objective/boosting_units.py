"""Which weights of plain shards have the same occurrences, and where these are.

A unit is all the weights of an attribute that has a dense row, or a single weight of another attribute. Each unit has
some buckets of sentences, by how much of the attribute they have: half as much from one bucket to the next. Its weights
have one cell in each bucket, where boosting adds up what it needs to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.objective.boosting_index_kernels import amounts, intervals, list_by_unit
from trellis.objective.plain import PlainShard
from trellis.scoring.hybrid import are_wide
from trellis.scoring.occurrences import ByToken

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_MOST_CELLS = (1 << 31) - 1

_BUCKETS = 12  # at most: the last has a 2048th of the first, or less


@dataclass(frozen=True)
class Occurring:
    """Units on tokens: `start: I64[tokens + 1]`, `key: I64[occurrences]`, the number in theta of a unit's first weight,
    and `value: F64[occurrences]`, empty when all are 1."""

    start: I64
    key: I64
    value: F64

    @classmethod
    def of_shard(cls, shard: PlainShard) -> Occurring:
        at, tokens = _once_a_unit(shard), np.arange(len(shard.gold))
        start = (at.dense + at.sparse).astype(np.int64)
        of_row, of_pair = (np.repeat(tokens, np.diff(each)) for each in (at.dense, at.sparse))
        row_at, pair_at = np.arange(len(at.row)) + at.sparse[of_row], np.arange(len(at.pair)) + at.dense[of_pair + 1]
        key, first = np.empty(start[-1], np.int64), shard.index[shard.scoring.first_of_rows]
        key[row_at], key[pair_at] = first[at.row], shard.index[at.pair]
        if not len(at.row_value) and not len(at.pair_value):
            return cls(start, key, np.empty(0))
        value = np.empty(len(key))
        value[row_at], value[pair_at] = at.row_value, at.pair_value
        return cls(start, key, value)

    @classmethod
    def joined(cls, parts: Sequence[Occurring]) -> Occurring:
        counts = [np.diff(part.start) for part in parts]
        return cls(
            np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
            np.concatenate([part.key for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def of_tokens(self, tokens: I64) -> Occurring:
        """Those of these tokens, in their order; without values of 0, which have no effect."""
        counts = np.diff(self.start)[tokens]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        source = np.repeat(self.start[tokens] - start[:-1], counts) + np.arange(start[-1])
        if not len(self.value):
            return Occurring(start, self.key[source], self.value)
        source = source[self.value[source] != 0.0]
        kept = np.concatenate([[0], np.cumsum(self.value != 0.0)])
        counts = (kept[self.start[1:]] - kept[self.start[:-1]])[tokens]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Occurring(start, self.key[source], self.value[source])


@dataclass(frozen=True)
class Units:
    """Unit u has the next `count[u]` weights, whose numbers in theta begin at `first[u]`, `buckets[u]` times as many
    cells, from `base[u]` on, and at most `reach[u]` of its attribute in a sentence."""

    first: I64
    count: I64
    label: I64  # [weights]
    start: I64  # [units + 1]: where a unit's occurrences begin
    token: I64  # [occurrences], by unit
    value: F64  # [occurrences], by unit; empty when all are 1
    unit: I64  # [occurrences], by token
    cell: I32  # [occurrences], by token: the first of the unit's cells for the sentence
    reach: F64
    buckets: I64
    base: I64  # [units + 1]

    @classmethod
    def of(cls, shards: Sequence[PlainShard], size: int, at: Occurring, sentence: I64) -> Units:
        """`at`, and the `sentence` of each token: of all shards. `size`: of theta."""
        label_at, count_at = _weights_of_units(shards, size)
        there = np.zeros(size, bool)
        there[at.key] = True
        first = np.flatnonzero(there)
        unit, count = (np.cumsum(there) - 1)[at.key], count_at[first]
        start, place = list_by_unit(unit, len(first))
        token = np.repeat(np.arange(len(sentence)), np.diff(at.start))[place]
        value = at.value[place] if len(at.value) else at.value
        amount = amounts(start, sentence[token], value)
        reach, by_unit = largest_of(amount, start), unit[place]
        bucket = bucket_of(reach[by_unit], amount)
        buckets = largest_of(bucket + 1, start)
        base = np.concatenate([[0], np.cumsum(buckets * count)]).astype(np.int64)
        if base[-1] > _MOST_CELLS:
            raise SettingError(
                f"boosting would need {base[-1]:,} sums, of which {_MOST_CELLS:,} can be numbered; use fewer features"
            )
        cell = np.empty(len(unit), np.int32)
        cell[place] = base[by_unit] + bucket * count[by_unit]
        label = label_at[_numbered(first, count)]
        return cls(first, count, label, start, token, value, unit, cell, reach, buckets, base)

    @property
    def unit_of_weight(self) -> I64:
        return np.repeat(np.arange(len(self.count)), self.count)

    @property
    def number(self) -> I64:
        """Of each weight in theta."""
        return _numbered(self.first, self.count)

    @property
    def first_cell(self) -> I64:
        """Of each weight; its others are `count` apart."""
        return _numbered(self.base[:-1], self.count)

    @property
    def first_weight(self) -> I64:
        """Of each unit, I64[units + 1]."""
        return np.concatenate([[0], np.cumsum(self.count)]).astype(np.int64)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Units that no sentence has more than once."""
        return np.asarray(self.reach == (largest_of(np.abs(self.value), self.start) if len(self.value) else 1.0))

    @property
    def label_of_cell(self) -> I32:
        """Each unit's labels once for each of its buckets."""
        unit = np.repeat(np.arange(len(self.count)), self.buckets * self.count)
        rank = (np.arange(self.base[-1]) - self.base[unit]) % self.count[unit]
        return self.label[self.first_weight[unit] + rank].astype(np.int32)

    def intervals(self, sentence: I64, gold: I64, labels: int) -> tuple[F64, F64]:
        """See the kernel."""
        most, least = intervals(
            self.start, sentence[self.token], gold[self.token], self.value, self.count, self.label, labels
        )
        return most, least


def bucket_of(most: F64, amount: F64) -> I64:
    """The largest b with amount <= most / 2^b."""
    exponent: I64 = np.frexp(most / amount)[1].astype(np.int64)
    return np.minimum(exponent - 1, _BUCKETS - 1)


def largest_of(numbers: NDArray[Any], start: I64) -> NDArray[Any]:
    """Of each unit's numbers; every unit has some."""
    return np.maximum.reduceat(numbers, start[:-1]) if len(start) > 1 else numbers[:0]


def _weights_of_units(shards: Sequence[PlainShard], size: int) -> tuple[I64, I64]:
    """By number in theta: the label of a weight, and how many weights its unit has if it is the first."""
    label, count = np.zeros(size, np.int64), np.ones(size, np.int64)
    for shard in shards:
        local = shard.detailed
        counts = np.diff(local.pair_start)
        wide = are_wide(counts, shard.scoring.width)
        label[shard.index[: local.pairs]] = local.pair_label
        count[shard.index[local.pair_start[:-1][wide]]] = counts[wide]
    return label, count


def _once_a_unit(shard: PlainShard) -> ByToken:
    """What tokens have, where an attribute that is a unit, but has no row in this shard, is there by its first weight
    alone."""
    at, local = shard.occurrences, shard.detailed
    counts = np.diff(local.pair_start)
    later = np.repeat(are_wide(counts, shard.scoring.width), counts)
    later[local.pair_start[:-1][counts > 0]] = False
    kept = ~later[at.pair]
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
    values = at.pair_value[kept] if len(at.pair_value) else at.pair_value
    return replace(at, sparse=before[at.sparse], pair=at.pair[kept], pair_value=values)


def _numbered(first: I64, count: I64) -> I64:
    """first[u], first[u] + 1, ... of each unit, count[u] numbers."""
    before = np.cumsum(count) - count
    return np.repeat(first - before, count) + np.arange(count.sum())
