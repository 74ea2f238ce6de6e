"""Whether one way is better than another over several samples, or only luckier: both were tried on each of them.

If it did not matter which is which, the sign of each difference would be that of a coin. `p` is how often, over all
ways to choose the signs, the mean is as far from 0 as it is (Fisher's test for pairs): two-sided, and exact where there
are no more than 2^16 ways, of which n samples have 2^n. So with five samples nothing is below 1/16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from trellis.errors import DataError

_EXACT = 16  # samples
_DRAWS = 100_000
_SLACK = 1e-12  # sums of the same numbers in another order


@dataclass(frozen=True)
class Paired:
    """The second's mean score less the first's over so many `samples`, the standard deviation of the differences, how
    many of them are above 0, and `p`."""

    difference: float
    deviation: float
    better: int
    samples: int
    p: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


def smallest_p(samples: int) -> float:
    """What no p of so many samples can be below."""
    return 2.0 / (1 << samples) if samples <= _EXACT else 1.0 / (_DRAWS + 1)


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Scores of the first and the second way on the same samples, in the same order."""
    if len(first) != len(second) or not len(first):
        raise DataError(f"{len(first)} and {len(second)} scores; expected those of the same samples, one at least")
    found = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    many = len(found)
    if many <= _EXACT:
        signs = 1.0 - 2.0 * (np.arange(1 << many)[:, None] >> np.arange(many) & 1)
    else:
        signs = 1.0 - 2.0 * np.random.default_rng(0).integers(0, 2, (_DRAWS, many))
    large = np.abs(signs @ found) >= abs(float(found.sum())) - _SLACK
    p = float(np.mean(large)) if many <= _EXACT else (int(large.sum()) + 1) / (_DRAWS + 1)
    deviation = float(np.std(found, ddof=1)) if many > 1 else 0.0
    return Paired(float(found.mean()), deviation, int(np.sum(found > 0)), many, p)
