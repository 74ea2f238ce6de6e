"""Whether one labelling is better than another, or only luckier: both of the same sentences.

Paired bootstrap (Efron & Tibshirani 1993; Koehn 2004): sentences are drawn with replacement, as many as there are,
again and again, and the difference of the two scores is taken each time. McNemar's test (1947): of the tokens that just
one of the two has right, how often would a coin be as one-sided?
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import DataError
from trellis.metrics.segments import segment_types, segments

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_AT_ONCE = 1 << 22  # numbers drawn


@dataclass(frozen=True)
class Difference:
    """Of the scores of two labellings: the second's less the first's, the middle 95 % of what the bootstrap finds, and
    `p`, how often it finds no difference in favour of the better one (two-sided)."""

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class McNemar:
    """`first`, `second`: tokens that only the first labelling, or only the second one, has right; `p`: two-sided."""

    first: int
    second: int
    p: float


def counts_by_sentence(gold: Column, predicted: Column, offsets: I64, of_segments: bool) -> I64:
    """I64[sentences, 3]: what is right, what was predicted and what should have been: segments, or tokens."""
    index = {name: i for i, name in enumerate(dict.fromkeys([*gold.strings, *predicted.strings]))}
    right, found, names = gold.translated(index), predicted.translated(index), list(index)
    sentences = len(offsets) - 1
    owner = np.repeat(np.arange(sentences), np.diff(offsets))
    if not of_segments:
        same = np.bincount(owner, weights=right == found, minlength=sentences)
        tokens = np.diff(offsets).astype(np.float64)
        return np.stack([same, tokens, tokens], axis=1).astype(np.int64)
    kinds = max(1, len(segment_types(names)))
    keys, counts = [], []
    for ids in (right, found):
        start, end, kind = segments(ids, names, offsets)
        keys.append((start * (int(offsets[-1]) + 1) + end) * kinds + kind)
        counts.append(np.bincount(owner[start], minlength=sentences))
    both = np.intersect1d(keys[0], keys[1], assume_unique=True) // kinds // (int(offsets[-1]) + 1)
    return np.stack([np.bincount(owner[both], minlength=sentences), counts[1], counts[0]], axis=1).astype(np.int64)


def score_of(counts: NDArray[np.generic]) -> F64:
    """F1 from what is right, predicted and there, [..., 3]; of tokens that is accuracy."""
    right, predicted, there = (counts[..., k].astype(np.float64) for k in range(3))
    total = predicted + there
    return np.divide(2.0 * right, total, out=np.zeros_like(right), where=total > 0)


def paired_bootstrap(first: I64, second: I64, draws: int = 10_000, seed: int = 0) -> Difference:
    """From `counts_by_sentence` of two labellings."""
    if first.shape != second.shape:
        raise DataError(f"the two labellings have {len(first)} and {len(second)} sentences; they must be of the same")
    if not len(first):
        raise DataError("there are no sentences to draw from; the two labellings need at least one")
    rng, sentences = np.random.default_rng(seed), len(first)
    seen = float(score_of(second.sum(axis=0)) - score_of(first.sum(axis=0)))
    found, step = [], max(1, _AT_ONCE // sentences)
    for k in range(0, draws, step):
        times = rng.multinomial(sentences, np.full(sentences, 1.0 / sentences), min(step, draws - k))
        # not BLAS: what is drawn must not depend on how many threads one has
        found.append(score_of(np.einsum("ds,sk->dk", times, second)) - score_of(np.einsum("ds,sk->dk", times, first)))
    differences = np.concatenate(found)
    low, high = np.quantile(differences, [0.025, 0.975])
    wrong = np.mean(differences <= 0.0) if seen > 0 else np.mean(differences >= 0.0)
    return Difference(seen, float(low), float(high), min(1.0, 2.0 * float(wrong)))


def mcnemar(gold: Column, first: Column, second: Column) -> McNemar:
    """Exact for few tokens, by the normal distribution for many."""
    index = {n: i for i, n in enumerate(dict.fromkeys([*gold.strings, *first.strings, *second.strings]))}
    right = gold.translated(index)
    one, other = first.translated(index) == right, second.translated(index) == right
    a, b = int(np.sum(one & ~other)), int(np.sum(other & ~one))
    return McNemar(a, b, _two_sided(min(a, b), a + b))


def _two_sided(fewer: int, all_: int) -> float:
    """How often a coin thrown `all_` times shows one of its sides `fewer` times or less."""
    if all_ == 0:
        return 1.0
    if all_ <= 1000:
        total = sum(math.comb(all_, k) for k in range(fewer + 1))
        return min(1.0, float(2 * total / 2**all_))
    return math.erfc(max(0, abs(all_ - 2 * fewer) - 1) / math.sqrt(2.0 * all_))
