"""Epochs of an update rule over the shards of an objective, one after the other on one thread.

(Two shards at a time, from the same weights and then merged, took two thirds of the time an epoch and needed more than
twice as many epochs: see `engine.descent`.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import CheckpointError
from trellis.objective.memory import check_memory
from trellis.objective.online import FOUR, OnlineShard, Rule
from trellis.objective.plain import PlainShard

F64 = NDArray[np.float64]

_SMALLEST = 1e-16  # mean x^2: attributes with smaller values learn less


@dataclass(frozen=True)
class Epoch:
    """The rule's vectors and stores after all sentences; `average`: of the first vector over some moments, if any were
    asked for; `tally`: what the rule counted, added up."""

    vectors: tuple[F64, ...]
    stores: tuple[NDArray[Any], ...]
    average: F64
    tally: tuple[float, ...]


class Online:
    """Stores have the shapes that a rule names, over all tokens, all sentences, or all fours."""

    def __init__(self, shards: Sequence[PlainShard], size: int):
        self._size = size
        self.shards = [OnlineShard(shard) for shard in shards]
        self.sentences = sum(len(shard.sentences) for shard in self.shards)
        self.tokens = sum(len(shard.tokens.gold) for shard in self.shards)
        self.labels = self.shards[0].shard.scoring.layout.labels
        counts = {
            "tokens": [len(shard.tokens.gold) for shard in self.shards],
            "sentences": [shard.shard.sentences for shard in self.shards],
            "fours": [len(shard.fours) for shard in self.shards],
        }
        self._ends = {name: np.concatenate([[0], np.cumsum(each)]).tolist() for name, each in counts.items()}

    def length(self, axis: str) -> int:
        """How many there are of what an axis of a store counts (see `Rule`), empty sentences included."""
        others = {"labels": self.labels, "width": self.width, "pairs": self.labels * self.labels, "one": 1}
        return others[axis] if axis in others else int(self._ends[axis][-1])

    def check(self, rule: Rule, stores: Sequence[NDArray[Any]]) -> None:
        """Refuses stores of another shape: compiled passes would read what is not there."""
        for store, shape in zip(stores, self._shapes(rule), strict=True):
            if store.shape != shape or store.dtype != np.float64 or not store.flags.c_contiguous:
                raise CheckpointError(
                    f"the state of the training has an array of shape {store.shape} in the place of {shape}; "
                    "delete the checkpoint and start afresh"
                )

    def stores_for(self, rule: type[Rule]) -> tuple[F64, ...]:
        """Those that a rule names, all zeros; SettingError where they would be too large."""
        check_memory(self.bytes_for(rule), f"numbers of all tokens and sentences with {self.labels} labels")
        return tuple(np.zeros(shape) for shape in self._shapes(rule))

    def bytes_for(self, rule: type[Rule]) -> int:
        """The memory of a rule's stores, of which there are two in an epoch: as they were and as they will be."""
        return 2 * sum(8 * math.prod(shape) for shape in self._shapes(rule))

    def _shapes(self, rule: Rule | type[Rule]) -> list[tuple[int, ...]]:
        return [tuple(self.length(axis) for axis in axes) for axes in rule.stores]

    @property
    def width(self) -> int:
        """Labels, rounded up to whole vectors."""
        return self.shards[0].shard.scoring.width

    @cached_property
    def counts(self) -> F64:
        """How often the attribute of each weight occurs in an epoch, or a transition is seen in the labels, F64[size];
        1 at least."""
        count = np.zeros(self._size)
        for shard in self.shards:
            shard.shard.add_to(count, shard.count())
        return np.maximum(count, 1.0)

    @cached_property
    def squares(self) -> F64:
        """The mean of x^2 over the occurrences of each weight's attribute, F64[size]; 1 for transitions."""
        total = np.zeros(self._size)
        for shard in self.shards:
            shard.shard.add_to(total, shard.squares())
        mean = np.maximum(total / self.counts, _SMALLEST)
        mean[self._size - self._arc_weights :] = 1.0
        return mean

    @cached_property
    def shares(self) -> F64:
        """The part of the prior that a weight has in one of its updates: one in as many as its attribute occurs in an
        epoch; for transitions, as there are fours. F64[size]."""
        share = 1.0 / self.counts
        share[self._size - self._arc_weights :] = 1.0 / max(1, self.length("fours"))
        return share

    @property
    def _arc_weights(self) -> int:
        """Of transitions and of attributes on them, the last ones of theta."""
        layout = self.shards[0].shard.scoring.layout
        return len(layout.source) + layout.size - layout.arcs_at

    def epoch(
        self,
        rule: Rule,
        vectors: Sequence[F64],
        rng: np.random.Generator,
        stores: Sequence[NDArray[Any]] = (),
        snapshots: int = 0,
    ) -> Epoch:
        """All sentences once, in a new order; the first vector is averaged over `snapshots` moments or a few more, as
        many in each shard."""
        self.check(rule, stores)
        new, kept_stores = tuple(each.copy() for each in vectors), tuple(each.copy() for each in stores)
        total, taken, done = np.zeros_like(new[0] if snapshots else new[0][:0]), 0, 0
        tally: tuple[float, ...] = ()
        pieces = -(-snapshots // len(self.shards))
        for s in rng.permutation(len(self.shards)).tolist():
            shard = self.shards[s]
            order = rng.permutation(len(shard.fours)) if rule.in_fours else rng.permutation(shard.sentences)
            parts, own = shard.taken(new), self._parts(rule, kept_stores, s)
            for piece in np.array_split(order, max(1, pieces)):
                ran = rule.run(shard, piece, parts, own, done)
                done += len(piece)
                tally = ran.tally if not tally else tuple(a + b for a, b in zip(tally, ran.tally, strict=True))
                if ran.kept != 1.0:
                    np.multiply(new[0], ran.kept, out=new[0])
                if snapshots:
                    shard.put(parts[:1], new[:1])
                    total += new[0]
                    taken += 1
            shard.put(parts, new)
        return Epoch(new, kept_stores, total / taken if taken else new[0], tally)

    def trial(self, rule: Rule, judge: Rule, vectors: Sequence[F64], rng: np.random.Generator, sample: int) -> Epoch:
        """The rule on a sample of sentences; its vectors, and what another rule then counts on another sample. The two
        are from different shards if there are any: neighbours in a corpus are of one kind."""
        first, second = self.shards[0], self.shards[-1]
        learnt, asked = (rng.permutation(len(shard.fours)) for shard in (first, second))
        most = max(1, sample // FOUR)
        if first is second and len(learnt) > 1:
            most = min(most, len(learnt) // 2)
            asked = learnt[most:]
        new = tuple(each.copy() for each in vectors)
        parts = first.taken(new)
        ran = rule.run(first, learnt[:most], parts, (), 0)
        np.multiply(new[0], ran.kept, out=new[0])
        first.put(parts, new)
        counted = judge.run(second, asked[:most], second.taken(new), (), 0)
        return Epoch(new, (), new[0], counted.tally)

    def _parts(self, rule: Rule, stores: Sequence[NDArray[Any]], s: int) -> list[NDArray[Any]]:
        ends = [self._ends[axes[0]] for axes in rule.stores]
        return [store[end[s] : end[s + 1]] for store, end in zip(stores, ends, strict=True)]
