"""What a hidden Markov model counts: where sentences begin and end, which label follows which, which word has which."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trellis.labels import first_tokens

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


def sums(index: NDArray[Any], values: F64, size: int) -> F64:
    """What is added up at each place, F64[size]."""
    return np.bincount(index, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Vocabulary:
    """Word w can have the labels `label[start[w]:start[w + 1]]`, ascending: I64[words + 1], I32[pairs]."""

    start: I64
    label: I32
    labels: int

    @classmethod
    def of_keys(cls, keys: I64, words: int, labels: int) -> Vocabulary:
        """From ascending numbers word * labels + label."""
        start = np.searchsorted(keys, np.arange(words + 1, dtype=np.int64) * labels).astype(np.int64)
        return cls(start, (keys % labels).astype(np.int32), labels)

    @property
    def words(self) -> int:
        return len(self.start) - 1

    @property
    def keys(self) -> I64:
        """word * labels + label of each pair, ascending."""
        return np.repeat(np.arange(self.words, dtype=np.int64), np.diff(self.start)) * self.labels + self.label

    def pairs_of(self, words: I32) -> tuple[I64, I64]:
        """The pairs of words I32[tokens], one token's after another's: the place among the tokens, and the pair."""
        counts = np.diff(self.start)[words]
        ends = np.cumsum(counts)
        pair = np.repeat(self.start[words] - (ends - counts), counts) + np.arange(int(counts.sum()))
        return np.repeat(np.arange(len(words)), counts), pair


@dataclass(frozen=True)
class Events:
    """How often what happened, or is expected to have happened; all F64.

    `first`, `last [labels]`: sentences that begin and that end with a label. `follow`: labels after one another,
    [labels before, labels]; for order 2 [labels + 1, labels, labels], by the label before the last, the last, and the
    next, where the last row of the first axis stands for the beginning of the sentence. `emit [pairs]`: words with
    labels, see `Vocabulary`.
    """

    first: F64
    last: F64
    follow: F64
    emit: F64

    @property
    def order(self) -> int:
        return self.follow.ndim - 1

    @property
    def vector(self) -> F64:
        """All in one."""
        return np.concatenate([self.first, self.last, self.follow.ravel(), self.emit])

    def of_vector(self, vector: F64) -> Events:
        """Other numbers of the same shapes."""
        labels = len(self.first)
        cuts = np.cumsum([labels, labels, self.follow.size])
        first, last, follow, emit = np.split(vector, cuts)
        return Events(first, last, follow.reshape(self.follow.shape), emit)

    def plus(self, other: Events, times: float = 1.0) -> Events:
        return self.of_vector(self.vector + times * other.vector)

    @classmethod
    def none(cls, order: int, labels: int, pairs: int) -> Self:
        return cls(np.zeros(labels), np.zeros(labels), np.zeros(shape_of(order, labels)), np.zeros(pairs))


def shape_of(order: int, labels: int) -> tuple[int, ...]:
    """Of `Events.follow`."""
    return (labels, labels) if order == 1 else (labels + 1, labels, labels)


def counted(
    words: I32, gold: I32, offsets: I64, labels: int, order: int, vocabulary: Vocabulary, weights: F64 | None = None
) -> Events:
    """Counts in sentences with labels: `words`, `gold` I32[tokens]; `weights: F64[sentences]`, how much each counts."""
    each = np.ones(len(offsets) - 1) if weights is None else weights
    times = np.repeat(each, np.diff(offsets))
    begins = first_tokens(offsets)
    ends = np.append(begins[1:], True)[: len(gold)]
    inner = np.flatnonzero(~begins)
    keys = gold[inner - 1].astype(np.int64) * labels + gold[inner]
    if order == 2:
        place = np.arange(len(gold)) - np.repeat(offsets[:-1], np.diff(offsets))
        keys += np.where(place[inner] >= 2, gold[np.maximum(inner - 2, 0)], labels).astype(np.int64) * labels**2
    shape = shape_of(order, labels)
    pairs = np.searchsorted(vocabulary.keys, words.astype(np.int64) * labels + gold)
    pairs = np.minimum(pairs, len(vocabulary.label) - 1)  # sentences of weight 0 may have others
    return Events(
        sums(gold[begins], times[begins], labels),
        sums(gold[ends], times[ends], labels),
        sums(keys, times[inner], math.prod(shape)).reshape(shape),
        sums(pairs, times, len(vocabulary.label)),
    )
