"""Learning curves as power laws: the error after n tokens is a + b n^-c, so that what more labels would bring can be
told from what fewer brought (Cortes et al. 1994; Hestness et al. 2017).

For each c of a grid, a >= 0 and b >= 0 are those with the least sum of absolute deviations, which one odd sample does
not pull away; the best c of all is taken. Absolute deviations by least squares that are weighted anew, again and again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

F64 = NDArray[np.float64]

_POWERS = np.geomspace(0.02, 2.0, 60)
_ROUNDS = 15
_TINY = 1e-6  # a deviation that is as good as none
FEWEST = 4  # sizes that a law of three numbers can be fitted to


@dataclass(frozen=True)
class Law:
    """error = a + b n^-c."""

    a: float
    b: float
    c: float

    def score(self, n: float) -> float:
        """What is right after n tokens: 1 - error."""
        return 1.0 - (self.a + self.b * math.pow(n, -self.c))


def fitted(n: ArrayLike, scores: ArrayLike) -> Law | None:
    """The law of scores, from 0 to 1, after n tokens, both [points]; None where there are less than four sizes, or
    scores that do not rise."""
    sizes, errors = np.asarray(n, np.float64), 1.0 - np.asarray(scores, np.float64)
    if len(np.unique(sizes)) < FEWEST:
        return None
    middle = float(np.exp(np.mean(np.log(sizes))))  # numbers of about 1 are easier to solve for
    found = [(*_solved((sizes / middle) ** -c, errors), c) for c in _POWERS.tolist()]
    _, a, b, c = min(found)
    return Law(a, b * middle**c, c) if b > _TINY else None


def _solved(x: F64, errors: F64) -> tuple[float, float, float]:
    """(sum of absolute deviations, a, b) of errors = a + b x."""
    weights = np.ones(len(x))
    a = b = 0.0
    for _ in range(_ROUNDS):
        a, b = _least_squares(x, errors, weights)
        weights = 1.0 / np.maximum(np.abs(errors - a - b * x), _TINY)
    return float(np.abs(errors - a - b * x).sum()), a, b


def _least_squares(x: F64, y: F64, w: F64) -> tuple[float, float]:
    """a, b >= 0 with the least weighted sum of squares of y - a - b x."""
    total, mean_x, mean_y = w.sum(), np.average(x, weights=w), np.average(y, weights=w)
    spread = float((w * (x - mean_x) ** 2).sum() / total)
    b = max(0.0, float((w * (x - mean_x) * (y - mean_y)).sum() / total) / spread) if spread > 0 else 0.0
    a = float(mean_y - b * mean_x)
    if a < 0.0:
        a, b = 0.0, max(0.0, float((w * x * y).sum() / (w * x * x).sum()))
    return a, b


def predicted(n: Sequence[float], scores: Sequence[Sequence[float]], at: float) -> tuple[float, float, float] | None:
    """(score after `at` tokens, the lowest and the highest that single repeats alone would have said). scores: a list
    for each of the n sizes, of as many repeats each. None where no law can be fitted."""
    rows = [list(row) for row in zip(*scores, strict=True)]
    law = fitted(np.tile(n, len(rows)), np.concatenate([np.asarray(row) for row in rows]))
    if law is None:
        return None
    alone = [one.score(at) for row in rows if (one := fitted(n, row)) is not None]
    return law.score(at), min(alone, default=law.score(at)), max(alone, default=law.score(at))
