"""Bootstrap (Efron & Tibshirani 1993): sentences are drawn with replacement, as many as there are, again and again, and
the scores of what was drawn show how far those of other sentences of the same kind would be from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError, shown
from trellis.metrics.tally import METRICS, metric_of

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

DRAWS = 10_000
MIDDLE = (0.025, 0.975)  # the middle 95 %
_AT_ONCE = 1 << 18  # sentences drawn: what stays in cache


@dataclass(frozen=True)
class Interval:
    """A score and the middle 95 % of what the bootstrap finds for it."""

    score: float
    low: float
    high: float


def intervals(tallies: I64, metrics: Sequence[str] = METRICS, draws: int = DRAWS, seed: int = 0) -> dict[str, Interval]:
    """Percentile intervals of scores, by metric. tallies: I64[sentences, 5], from `trellis.metrics.tally`.

    The same for the same seed, whatever the number of threads.
    """
    found, seen = resampled(tallies, draws, seed), tallies.sum(axis=0)
    out = {}
    for metric in metrics:
        low, high = np.quantile(metric_of(found, metric), MIDDLE)
        out[metric] = Interval(float(metric_of(seen, metric)), float(low), float(high))
    return out


def resampled(rows: I64, draws: int = DRAWS, seed: int = 0) -> I64:
    """I64[draws, k]: sums of as many rows, drawn with replacement, as there are of I64[sentences, k]."""
    check_draws(draws, seed)
    sentences = len(rows)
    if not sentences:
        raise DataError("there are no sentences to draw from; at least one is needed")
    rng, numbers = np.random.default_rng(seed), rows.astype(np.float64)
    out, step = np.empty((draws, rows.shape[1]), np.int64), max(1, _AT_ONCE // sentences)
    for k in range(0, draws, step):
        drawn = rng.integers(0, sentences, (min(step, draws - k), sentences))
        drawn += np.arange(0, drawn.size, sentences)[:, None]
        times = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        # whole numbers far below 2**53: exact in whatever order BLAS adds them
        out[k : k + len(drawn)] = times.astype(np.float64) @ numbers
    return out


def check_draws(draws: int, seed: int) -> None:
    for name, value, least in (("draws", draws, 1), ("seed", seed, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise SettingError(f"{name} is {shown(value)}; expected a whole number >= {least}")


def check_same(first: I64, second: I64) -> None:
    if first.shape != second.shape:
        raise DataError(f"the two labellings have {len(first)} and {len(second)} sentences; they must be of the same")
