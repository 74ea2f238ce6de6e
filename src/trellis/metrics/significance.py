"""Whether one labelling is better than another, or only luckier: both of the same sentences.

Paired bootstrap (Efron & Tibshirani 1993; Koehn 2004): sentences are drawn with replacement, as many as there are,
again and again, and the difference of the two scores is taken each time. Approximate randomisation: see there.
McNemar's test (1947): of the tokens that just one of the two has right, how often would a coin be as one-sided?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.metrics.compare import same_table
from trellis.metrics.randomisation import approximate_randomisation
from trellis.metrics.reading import both_read
from trellis.metrics.resampling import DRAWS, MIDDLE, check_same, resampled
from trellis.metrics.tally import METRICS, metric_of, segment_tallies, token_tallies

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Difference:
    """Of the scores of two labellings: the second's less the first's, the middle 95 % of what the bootstrap finds, and
    a two-sided `p`."""

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


def differences(
    first: I64, second: I64, metrics: Sequence[str] = METRICS, draws: int = DRAWS, seed: int = 0
) -> dict[str, Difference]:
    """By metric: intervals by the paired bootstrap, `p` by approximate randomisation.

    first, second: I64[sentences, 5], from `trellis.metrics.tally`: two labellings of the same sentences.
    """
    randomised = approximate_randomisation(first, second, metrics, draws, seed)
    drawn = resampled(np.hstack([first, second]), draws, seed)
    one, other = drawn[:, : first.shape[1]], drawn[:, first.shape[1] :]
    out = {}
    for metric in metrics:
        seen = float(metric_of(second.sum(axis=0), metric) - metric_of(first.sum(axis=0), metric))
        low, high = np.quantile(metric_of(other, metric) - metric_of(one, metric), MIDDLE)
        out[metric] = Difference(seen, float(low), float(high), randomised[metric].p)
    return out


def counts_by_sentence(gold: Column, predicted: Column, offsets: I64, of_segments: bool) -> I64:
    """I64[sentences, 3]: what is right, what was predicted and what should have been: segments, or tokens."""
    (right, found), names = same_table(gold, predicted)
    if of_segments:
        return segment_tallies(*both_read(right, found, names, offsets), offsets)
    return token_tallies(right == found, offsets)[:, [0, 1, 1]]


def score_of(counts: NDArray[np.generic]) -> F64:
    """F1 from what is right, predicted and there, [..., 3]; of tokens that is accuracy."""
    right, predicted, there = (counts[..., k].astype(np.float64) for k in range(3))
    total = predicted + there
    return np.divide(2.0 * right, total, out=np.zeros_like(right), where=total > 0)


def paired_bootstrap(first: I64, second: I64, draws: int = DRAWS, seed: int = 0) -> Difference:
    """From `counts_by_sentence` of two labellings; `p` is how often the bootstrap finds no difference in favour of the
    better one."""
    check_same(first, second)
    seen = float(score_of(second.sum(axis=0)) - score_of(first.sum(axis=0)))
    drawn = resampled(np.hstack([first, second]), draws, seed)
    found = score_of(drawn[:, 3:]) - score_of(drawn[:, :3])
    low, high = np.quantile(found, MIDDLE)
    wrong = np.mean(found <= 0.0) if seen > 0 else np.mean(found >= 0.0)
    return Difference(seen, float(low), float(high), min(1.0, 2.0 * float(wrong)))


def mcnemar(gold: Column, first: Column, second: Column) -> McNemar:
    """Exact for few tokens, by the normal distribution for many."""
    (right, *others), _ = same_table(gold, first, second)
    one, other = (ids == right for ids in others)
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
