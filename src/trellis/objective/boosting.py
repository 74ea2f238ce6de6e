"""The sentences of plain shards as boosting needs them: by length, with every attribute's occurrences at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.labels import first_tokens
from trellis.losses import LOSSES
from trellis.objective.boosting_kernels import Features
from trellis.objective.boosting_sums_kernels import Running, Text
from trellis.objective.boosting_units import Occurring, Units, bucket_of
from trellis.objective.memory import check_memory
from trellis.objective.plain import PlainShard
from trellis.objective.shard import Shard
from trellis.scoring.layout import WeightLayout

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_SMALL, _LARGE = 1e-50, 1e50  # values of attributes: others would take changes of weights out of the numbers there are


class BoostingData:
    """`text` and `features` of all sentences that have tokens and a weight, by length; `sentence: I64[tokens]`;
    `exact: BOOL[weights]`, for which the bound by tokens is the loss itself."""

    def __init__(self, shards: Sequence[PlainShard], size: int):
        layout = shards[0].scoring.layout
        self.labels, self._width = layout.labels, shards[0].scoring.width
        lengths = np.concatenate([np.diff(shard.offsets) for shard in shards])
        weights = np.concatenate([_weights(shard) for shard in shards])
        order = np.argsort(lengths, kind="stable")
        order = order[(lengths[order] > 0) & (weights[order] > 0.0)]
        self.lengths, self.weights = lengths[order], weights[order]
        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        self.sentence = np.repeat(np.arange(len(order)), self.lengths)
        begin = np.concatenate([[0], np.cumsum(lengths)])[order]
        tokens = np.arange(offsets[-1]) + (begin - offsets[:-1])[self.sentence]
        gold = np.concatenate([shard.gold for shard in shards])[tokens].astype(np.int64)
        at = Occurring.joined([Occurring.of_shard(shard) for shard in shards]).of_tokens(tokens)
        units = Units.of(shards, size, at, self.sentence)
        arcs = Arcs.of(layout, gold, offsets, int(units.base[-1]))
        self.features = _features(units, arcs, shards[0].index, self.sentence, gold, self.labels)
        self.exact = np.concatenate([units.alone[units.unit_of_weight], np.zeros(len(arcs.source), bool)])
        self.text = Text(
            offsets, gold, arcs.at, arcs.cell, arcs.number, np.log(self.weights), at.start, units.unit.astype(np.int32),
            units.cell, units.count[units.unit].astype(np.int32), at.value, units.label_of_cell,
        )  # fmt: skip
        self._cells = int(units.base[-1]) + arcs.buckets * len(arcs.source)

    def running(self) -> Running:
        """Memory for what changes, all zeros."""
        tokens, sentences, arcs = len(self.text.gold), len(self.lengths), len(self.features.source)
        needed = 8 * (2 * tokens * self._width + sentences * arcs + 2 * self._cells)
        check_memory(needed, "probabilities of all tokens and sums of all weights")
        return Running(
            scores=np.zeros((tokens, self._width)),
            transitions=np.zeros((self.labels, self.labels)),
            excess=np.zeros(sentences),
            loss=np.zeros(sentences),
            mass=np.zeros(sentences),
            nodes=np.zeros((tokens, self._width)),
            arcs=np.zeros((sentences, arcs)),
            gold_arcs=np.zeros(tokens),
            sums=np.zeros((self._cells, 2)),
            stale=np.ones(len(self.features.first) - 1, np.uint8),
        )


@dataclass(frozen=True)
class Arcs:
    """Transitions `source[k] -> target[k]` with a weight, whose numbers are `first` and so on among a shard's weights.
    They bear on all tokens but the first of a sentence; all have the same `buckets`."""

    source: I64
    target: I64
    first: int
    number: I64  # [labels, labels]: k, or -1
    at: I64  # [tokens]: the one that the labels have, or -1
    base: int  # the first cell
    cell: I64  # [sentences]: the first cell of the sentence's bucket
    buckets: int
    reach: float
    most: F64
    least: F64

    @classmethod
    def of(cls, layout: WeightLayout, gold: I64, offsets: I64, base: int) -> Arcs:
        source, target = layout.source.astype(np.int64), layout.target.astype(np.int64)
        count, steps = len(source), np.diff(offsets) - 1
        number = np.full((layout.labels, layout.labels), -1)
        number[source, target] = np.arange(count)
        at, inner = np.full(len(gold), -1), np.flatnonzero(~first_tokens(offsets))
        at[inner] = number[gold[inner - 1], gold[inner]]
        reach = float(max(steps.max(initial=0), 1))
        bucket = bucket_of(np.full(len(steps), reach), np.where(steps > 0, steps, reach))
        seen, known = np.zeros((len(steps), count), np.int64), np.flatnonzero(at >= 0)
        np.add.at(seen, (np.repeat(np.arange(len(steps)), steps + 1)[known], at[known]), 1)
        room = np.where(source == target, steps[:, None], (steps[:, None] + 1) // 2)  # two in a row need one label
        most, least = (np.maximum(each.max(axis=0, initial=0), 1).astype(float) for each in (room - seen, seen))
        buckets = int(bucket.max(initial=0)) + 1
        return cls(source, target, layout.pairs, number, at, base, base + bucket * count, buckets, reach, most, least)


def _features(units: Units, arcs: Arcs, index: NDArray[np.int32], sentence: I64, gold: I64, labels: int) -> Features:
    of, count = units.unit_of_weight, len(arcs.source)
    most, least = units.intervals(sentence, gold, labels)
    return Features(
        number=np.concatenate([units.number, index[arcs.first : arcs.first + count].astype(np.int64)]),
        cell=np.concatenate([units.first_cell, arcs.base + np.arange(count)]),
        stride=np.concatenate([units.count[of], np.full(count, count)]),
        buckets=np.concatenate([units.buckets[of], np.full(count, arcs.buckets)]),
        reach=np.concatenate([units.reach[of], np.full(count, arcs.reach)]),
        most=np.concatenate([most, arcs.most]),
        least=np.concatenate([least, arcs.least]),
        label=units.label,
        unit=of,
        first=units.first_weight,
        start=units.start,
        token=units.token,
        value=units.value,
        source=arcs.source,
        target=arcs.target,
    )


def check_boosting(shards: Sequence[Shard]) -> list[PlainShard]:
    """The shards, if boosting can learn from them; SettingError says why not."""
    if not shards:
        raise DataError("there are no sentences to learn from")
    if any(shard.ruled or shard.imposed is not None for shard in shards):
        raise SettingError("boosting goes with no constraints on paths; leave them out, or use lbfgs or auto")
    found = [shard for shard in shards if isinstance(shard, PlainShard) and shard.arcs is None]
    if len(found) < len(shards):
        raise SettingError(
            "boosting goes with neither labels that are allowed to some tokens alone, as by a tag dictionary, nor "
            "attributes on transitions; leave them out"
        )
    if any(shard.loss is not LOSSES["exp"] for shard in found):
        raise SettingError(f"boosting minimises the loss 'exp', not '{found[0].loss.name}'; use loss='exp'")
    heaviest = max(float(_weights(shard).max(initial=0.0)) for shard in found)
    if heaviest > _LARGE:
        raise SettingError(f"the weight of a sentence is {heaviest:g}; boosting expects at most {_LARGE:g}")
    for shard in found:
        for value in (shard.at.row_value, shard.at.pair_value):
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
