"""Training data in batches of sentences of about the same length, each in parts that threads work on.

How they are cut depends on the data and the seed alone, so that results do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.features.inputs import Inputs
from trellis.lattice.segments import gathered
from trellis.losses import Loss
from trellis.neural.network import Reading
from trellis.neural.shape import EncoderShape
from trellis.objective import Examples
from trellis.objective.cutting import kind_of_shard
from trellis.objective.shard import Shard

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

_KEPT = 30_000  # tokens whose batches are kept: some 100 MB
_PART = 16  # sentences: fewer, and PyTorch spends its time on other things than numbers
_ROOM = 8192  # tokens that the sentences of a part may be filled up to: some 200 MB
_NEAR = 3.0  # tokens by which sentences of a batch may differ in length for being mixed up


@dataclass(frozen=True)
class Part:
    """`shard`: its sentences, in one block; `reading`: the same for an encoder; `weights`, `words: I64[...]`: where the
    weights of the shard and the words of the reading are among those of the batch. `often: F64[tokens]`, how often each
    token's word occurs in training."""

    shard: Shard
    reading: Reading
    weights: I64
    words: I64
    often: F64


@dataclass(frozen=True)
class Batch:
    """`weights: I64[...]`, the sparse ones that it says something of, ascending, with `shares: F64[...]`, the part of
    their prior that is this batch's; `words: I64[...]`, the rows of the table of words that it needs, ascending."""

    parts: tuple[Part, ...]
    sentences: int
    weights: I64
    shares: F64
    words: I64


class Batches:
    """All batches of `size` sentences, each made when it is asked for: together they take many times the room of the
    data, so that only those of a few data are kept."""

    def __init__(
        self, layout: Any, examples: Examples, inputs: Inputs, loss: Loss, shape: EncoderShape, size: int, seed: int
    ):
        order = _by_length(examples.offsets, seed)
        self._examples, tokens = examples.picked(order), gathered(examples.offsets, order)[1]
        self._inputs, self._loss, self._layout = inputs.picked(tokens), loss, layout
        self._often = np.bincount(inputs.ids[:, 0], minlength=shape.tables[0]).astype(np.float64)
        self._make: Any = kind_of_shard(layout, examples)
        self._runs = [(a, min(a + size, len(order))) for a in range(0, len(order), size)]
        self._kept: list[Batch] | None = [] if len(tokens) <= _KEPT else None
        self._touched = touched_by(self._each(), layout.size)

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, number: int) -> Batch:
        batch = self._made(number) if self._kept is None else self._kept[number]
        return replace(batch, shares=1.0 / self._touched[batch.weights])

    def _each(self) -> Iterator[Batch]:
        """One after the other, so that only those that are kept are there together."""
        for number in range(len(self._runs)):
            batch = self._made(number)
            if self._kept is not None:
                self._kept.append(batch)
            yield batch

    def _made(self, number: int) -> Batch:
        first, last = self._runs[number]
        ends = np.linspace(first, last, -(-(last - first) // _PART) + 1).astype(int).tolist()
        lengths = np.diff(self._examples.offsets)
        cuts = [cut for a, b in pairwise(ends) for cut in within_room(lengths, a, b)]
        return _batch([self._part(a, b) for a, b in cuts])

    def _part(self, first: int, last: int) -> Part:
        examples = self._examples.part(first, last)
        a, b = (int(self._examples.offsets[s]) for s in (first, last))
        shard: Shard = self._make(self._layout, replace(examples, blocks=[(0, last - first)]), self._loss)
        seen, none = self._inputs.part(a, b), np.zeros(0, np.int64)
        return Part(shard, Reading.of(seen, examples.offsets), none, none, self._often[seen.ids[:, 0]])


def touched_by(batches: Iterable[Any], size: int) -> F64:
    """How many batches say something of each of so many weights, F64[size]: each has a share of the prior, so that all
    together have it once."""
    touched = np.zeros(size)
    for batch in batches:
        touched[batch.weights] += 1.0
    return touched


def within_room(lengths: I64, first: int, last: int) -> list[tuple[int, int]]:
    """Sentences first..last cut in halves until what they are filled up to, all as long as the longest, has room."""
    if last - first < 2 or int(lengths[first:last].max()) * (last - first) <= _ROOM:
        return [(first, last)]
    middle = (first + last) // 2
    return [*within_room(lengths, first, middle), *within_room(lengths, middle, last)]


def _by_length(offsets: I64, seed: int) -> I64:
    """Sentences, about by length; those without a token are left out."""
    lengths, rng = np.diff(offsets), np.random.default_rng([seed, 1])
    order = np.argsort(lengths + _NEAR * rng.random(len(lengths)), kind="stable")
    return order[lengths[order] > 0]


def _batch(parts: Sequence[Part]) -> Batch:
    weights = np.unique(np.concatenate([part.shard.index for part in parts])).astype(np.int64)
    words = np.unique(np.concatenate([part.reading.words for part in parts]))
    placed = [
        replace(
            part,
            weights=np.searchsorted(weights, part.shard.index),
            words=np.searchsorted(words, part.reading.words),
        )
        for part in parts
    ]
    return Batch(tuple(placed), sum(part.shard.sentences for part in parts), weights, np.zeros(0), words)
