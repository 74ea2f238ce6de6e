"""Approximate randomisation (Noreen 1989; Yeh 2000): were it the same who labels a sentence, the difference would often
be as large when the two labellings of some sentences change places. How often is that so?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.metrics.resampling import DRAWS, check_draws, check_same
from trellis.metrics.tally import METRICS, metric_of

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

_SLACK = 1e-12  # equal differences may come out as different sums; they count as equal
_AT_ONCE = 1 << 20  # sentences that change places or not
_FEW = 30  # sentences, of which all ways might be tried


@dataclass(frozen=True)
class Randomised:
    """`p`, two-sided, from so many `draws`: (n + 1) / (draws + 1) where n had a difference as large; or `exact`, the
    share of all ways to change places, where these are no more than the draws that were asked for."""

    p: float
    draws: int
    exact: bool


def approximate_randomisation(
    first: I64, second: I64, metrics: Sequence[str] = METRICS, draws: int = DRAWS, seed: int = 0
) -> dict[str, Randomised]:
    """By metric. first, second: I64[sentences, 5], from `trellis.metrics.tally`: two labellings of the same sentences.

    Sentences that count the same in both change nothing, and are left out.
    """
    check_draws(draws, seed)
    ways, exact = ways_to_swap(first, second, draws)
    differing = (second - first)[np.any(first != second, axis=1)]
    sums, wanted = (first.sum(axis=0), second.sum(axis=0)), {}
    for metric in metrics:
        wanted[metric] = abs(float(metric_of(sums[1], metric) - metric_of(sums[0], metric))) - _SLACK
    large = dict.fromkeys(metrics, 0)
    for places in _all_ways(len(differing)) if exact else _drawn(len(differing), draws, seed):
        # whole numbers far below 2**53: exact in whatever order BLAS adds them
        moved = (places.astype(np.float64) @ differing.astype(np.float64)).astype(np.int64)
        for metric in metrics:
            difference = metric_of(sums[1] - moved, metric) - metric_of(sums[0] + moved, metric)
            large[metric] += int(np.count_nonzero(np.abs(difference) >= wanted[metric]))
    extra = 0 if exact else 1
    return {metric: Randomised((n + extra) / (ways + extra), ways, exact) for metric, n in large.items()}


def ways_to_swap(first: I64, second: I64, draws: int) -> tuple[int, bool]:
    """How many are tried when so many draws are asked for, and whether that is all there are."""
    check_same(first, second)
    differing = int(np.any(first != second, axis=1).sum())
    exact = differing <= _FEW and 1 << differing <= draws
    return (1 << differing if exact else draws), exact


def _all_ways(sentences: int) -> Iterator[NDArray[np.uint8]]:
    """Every choice of sentences that change places: [ways at a time, sentences]."""
    for k in range(0, 1 << sentences, _AT_ONCE):
        ways = np.arange(k, min(k + _AT_ONCE, 1 << sentences))
        yield (ways[:, None] >> np.arange(sentences) & 1).astype(np.uint8)


def _drawn(sentences: int, draws: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    """Choices at random: [draws at a time, sentences], the same however many are made at a time."""
    rng = np.random.default_rng(seed)
    words, step = -(-sentences // 64), max(1, _AT_ONCE // sentences)
    for k in range(0, draws, step):
        bits = rng.integers(0, 1 << 64, (min(step, draws - k), words), np.uint64)
        yield np.unpackbits(bits.astype("<u8").view(np.uint8), axis=1, count=sentences)
