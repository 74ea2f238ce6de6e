"""The sentences of plain shards as boosting needs them: by length, with every attribute's occurrences at hand.

Weights with the same occurrences are a unit: all those of an attribute that has a dense row, or a single one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import first_tokens
from trellis.losses import LOSSES
from trellis.objective.boosting_index_kernels import amounts, intervals, list_by_unit
from trellis.objective.boosting_kernels import Features
from trellis.objective.boosting_lattice_kernels import Running, Text
from trellis.objective.plain import PlainShard
from trellis.objective.shard import Shard

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_BUCKETS = 12  # cells of a weight at most: m in the last is a 2048th of m in the first
_SMALL, _LARGE = 1e-50, 1e50  # values of attributes: others would take changes of weights out of the numbers there are


@dataclass(frozen=True)
class Occurring:
    """Units on tokens: `start: I64[tokens + 1]`, `key: I64[occurrences]`, the number in theta of a unit's first weight,
    and `value: F64[occurrences]`, empty when all are 1."""

    start: I64
    key: I64
    value: F64

    @classmethod
    def of_shard(cls, shard: PlainShard) -> Occurring:
        at, tokens = shard.occurrences, np.arange(len(shard.gold))
        start = at.dense + at.sparse
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


class BoostingData:
    """`text` and `features` of all sentences that have tokens and a weight; `sentence: I64[tokens]`."""

    def __init__(self, shards: Sequence[PlainShard], size: int):
        layout = shards[0].scoring.layout
        self.labels, self.width = layout.labels, shards[0].scoring.width
        lengths = np.concatenate([np.diff(shard.offsets) for shard in shards])
        weights = np.concatenate([_weights(shard) for shard in shards])
        order = np.argsort(lengths, kind="stable")
        order = order[(lengths[order] > 0) & (weights[order] > 0.0)]
        begin = np.concatenate([[0], np.cumsum(lengths)])[order]
        self.lengths, self.weights = lengths[order], weights[order]
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        self.sentence = np.repeat(np.arange(len(order)), self.lengths)
        tokens = np.arange(self.offsets[-1]) + (begin - self.offsets[:-1])[self.sentence]
        self.gold = np.concatenate([shard.gold for shard in shards])[tokens].astype(np.int64)
        at = Occurring.joined([Occurring.of_shard(shard) for shard in shards]).of_tokens(tokens)
        self._bind(shards, size, at)

    @property
    def cells(self) -> int:
        return int(self._cells)

    def running(self) -> Running:
        """Memory for what changes, all zeros."""
        tokens, sentences, width = len(self.gold), len(self.lengths), self.width
        return Running(
            np.zeros((tokens, width)), np.zeros((self.labels, self.labels)), np.zeros(sentences), np.zeros(sentences),
            np.zeros(sentences), np.zeros((tokens, width)), np.zeros((sentences, len(self.features.source))),
            np.zeros(tokens), np.zeros((self.cells, 2)), np.ones(len(self.features.first) - 1, np.uint8),
        )  # fmt: skip

    def _bind(self, shards: Sequence[PlainShard], size: int, at: Occurring) -> None:
        label_at, count_at = np.zeros(size, np.int64), np.ones(size, np.int64)
        for shard in shards:
            local, scoring = shard.scoring.layout, shard.scoring
            label_at[shard.index[: local.pairs]] = local.pair_label
            first = scoring.first_of_rows
            count_at[shard.index[first]] = np.diff(local.pair_start)[scoring.row_of >= 0]
        there = np.zeros(size, bool)
        there[at.key] = True
        first, unit_at = np.flatnonzero(there), np.cumsum(there) - 1
        unit, count = unit_at[at.key], count_at[first]
        # occurrences by unit
        start, place = list_by_unit(unit, len(first))
        token = np.repeat(np.arange(len(self.gold)), np.diff(at.start))[place]
        value = at.value[place] if len(at.value) else at.value
        amount = amounts(start, self.sentence[token], value)
        reach = np.maximum.reduceat(amount, start[:-1]) if len(first) else np.zeros(0)
        bucket = _bucket(np.repeat(reach, np.diff(start)), amount)
        buckets = np.maximum.reduceat(bucket, start[:-1]) + 1 if len(first) else np.zeros(0, np.int64)
        base = np.concatenate([[0], np.cumsum(buckets * count)]).astype(np.int64)
        # weights by unit
        of = np.repeat(np.arange(len(first)), count)
        rank = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
        number = first[of] + rank
        weights = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        label = label_at[number]
        pairs = base[of] + rank, count[of], buckets[of], reach[of]
        ends = intervals(start, self.sentence[token], self.gold[token], value, count, label, self.labels)
        cell = np.empty(len(unit), np.int32)
        cell[place] = base[:-1][unit[place]] + bucket * count[unit[place]]
        cell_label = _labels_of_cells(base, count, buckets, label)
        self._bind_arcs(shards[0], int(base[-1]))
        arcs = self._arc_features
        largest = np.maximum.reduceat(np.abs(value), start[:-1]) if len(value) else np.ones(len(first))
        self.exact = np.concatenate([(reach == largest)[of], np.zeros(len(arcs[0]), bool)])
        both = [np.concatenate(each) for each in zip((number, *pairs, *ends), arcs, strict=True)]
        number, cells, stride, cells_of, reaches, most, least = both
        self.features = Features(
            number, cells, stride, cells_of, reaches, most, least, label, of, weights, start, token, value, *self._sides
        )
        self._cells = base[-1] + len(self._sides[0]) * int(arcs[3][0] if len(arcs[3]) else 0)
        self.text = Text(
            self.offsets, self.gold, self._arc, self._arc_cell, self._arc_number, np.log(self.weights), at.start,
            unit.astype(np.int32), cell, count[unit].astype(np.int32), at.value, cell_label,
        )  # fmt: skip

    def _bind_arcs(self, shard: PlainShard, base: int) -> None:
        """Transitions bear on all tokens but the first of a sentence."""
        layout = shard.scoring.layout
        source, target = layout.source.astype(np.int64), layout.target.astype(np.int64)
        count, steps = len(source), self.lengths - 1
        self._sides = source, target
        self._arc_number = np.full((self.labels, self.labels), -1)
        self._arc_number[source, target] = np.arange(count)
        self._arc = np.full(len(self.gold), -1)
        inner = np.flatnonzero(~first_tokens(self.offsets))
        self._arc[inner] = self._arc_number[self.gold[inner - 1], self.gold[inner]]
        longest = max(int(steps.max(initial=0)), 1)
        bucket = _bucket(np.full(len(steps), float(longest)), np.where(steps > 0, steps, longest).astype(float))
        self._arc_cell = base + bucket * count
        seen = np.zeros((len(steps), count), np.int64)
        known = np.flatnonzero(self._arc >= 0)
        np.add.at(seen, (self.sentence[known], self._arc[known]), 1)
        room = np.where(source == target, steps[:, None], (steps[:, None] + 1) // 2)
        most, least = (np.maximum(each.max(axis=0, initial=0), 1).astype(float) for each in (room - seen, seen))
        ones = np.ones(count, np.int64)
        self._arc_features = (
            shard.index[layout.pairs : layout.arcs_at].astype(np.int64), base + np.arange(count), count * ones,
            (int(bucket.max(initial=0)) + 1) * ones, float(longest) * np.ones(count), most, least,
        )  # fmt: skip


def check_boosting(shards: Sequence[Shard]) -> list[PlainShard]:
    """The shards, if boosting can learn from them; SettingError says why not."""
    if not shards:
        raise DataError("there are no sentences to learn from")
    found = [shard for shard in shards if isinstance(shard, PlainShard) and shard.arcs is None]
    if len(found) < len(shards):
        raise SettingError("boosting goes with neither a tag dictionary nor attributes on transitions; leave them out")
    if any(shard.loss is not LOSSES["exp"] for shard in found):
        raise SettingError(f"boosting minimises the loss 'exp', not '{found[0].loss.name}'; use loss='exp'")
    for shard in found:
        for value in (shard.occurrences.row_value, shard.occurrences.pair_value):
            size = np.abs(value[value != 0.0])
            if len(size) and not (size.min() >= _SMALL and size.max() <= _LARGE):
                raise SettingError(
                    f"the value of an attribute is {size.max() if size.max() > _LARGE else size.min():g}; boosting "
                    f"expects sizes from {_SMALL:g} to {_LARGE:g}; scale the values"
                )
    return found


def log_of_uniform(labels: int, lengths: I64) -> F64:
    """log(L^T - 1), the loss of sentences of T tokens with theta = 0, F64[sentences]; 0 where there is one path."""
    if labels == 1:
        return np.zeros(len(lengths))
    log_paths = lengths * np.float64(math.log(labels))
    return np.asarray(log_paths + np.log(-np.expm1(-log_paths)), np.float64)


def _weights(shard: PlainShard) -> F64:
    parts = [
        np.ones(b - a) if target.weights is None else target.weights
        for (a, b), target in zip(shard.blocks, shard.targets, strict=True)
    ]
    return np.concatenate([np.zeros(0), *parts])


def _bucket(reach: F64, amount: F64) -> I64:
    """The largest b with amount <= reach / 2^b, I64."""
    exponent: I64 = np.frexp(reach / amount)[1].astype(np.int64)
    return np.minimum(exponent - 1, _BUCKETS - 1)


def _labels_of_cells(base: I64, count: I64, buckets: I64, label: I64) -> NDArray[np.int32]:
    """Each unit's labels once for each of its buckets."""
    first = np.cumsum(count) - count
    unit = np.repeat(np.arange(len(count)), buckets * count)
    rank = (np.arange(base[-1]) - base[:-1][unit]) % count[unit]
    return label[first[unit] + rank].astype(np.int32)
