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
_DRAWS = 100
_MIDDLE = (0.05, 0.95)
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
    off, a, b = _solved((sizes / middle) ** -_POWERS[:, None], errors)
    best = int(np.argmin(off))
    c = float(_POWERS[best])
    return Law(float(a[best]), float(b[best]) * middle**c, c) if b[best] > _TINY else None


def _solved(x: F64, errors: F64) -> tuple[F64, F64, F64]:
    """(sum of absolute deviations, a, b) of errors [points] = a + b x for each row of x [powers, points]."""
    a, b = _least_squares(x, errors, np.ones_like(x))
    for _ in range(_ROUNDS - 1):
        a, b = _least_squares(x, errors, 1.0 / np.maximum(np.abs(errors - a[:, None] - b[:, None] * x), _TINY))
    return np.abs(errors - a[:, None] - b[:, None] * x).sum(axis=1), a, b


def _least_squares(x: F64, y: F64, w: F64) -> tuple[F64, F64]:
    """a, b >= 0 with the least weighted sum of squares of y - a - b x, both [rows]; x, w [rows, points]."""
    w = w / w.sum(axis=1, keepdims=True)
    mean_x, mean_y = (w * x).sum(axis=1), w @ y
    far = x - mean_x[:, None]
    spread, both = (w * far**2).sum(axis=1), (w * far * (y - mean_y[:, None])).sum(axis=1)
    b = np.maximum(0.0, np.divide(both, spread, out=np.zeros_like(both), where=spread > 0))
    a = mean_y - b * mean_x
    below = a < 0.0
    through_zero = np.maximum(0.0, (w * x * y).sum(axis=1) / (w * x * x).sum(axis=1))
    return np.where(below, 0.0, a), np.where(below, through_zero, b)


def predicted(
    n: Sequence[float], scores: Sequence[Sequence[float]], at: float
) -> tuple[float, float | None, float | None] | None:
    """(score after `at` tokens, and the middle 90 % of what other draws of the repeats say, this score always among it;
    None, None of one repeat). scores: a list for each of the n sizes, of as many repeats each. None where no law can be
    fitted.

    Repeats are drawn with replacement and a law is fitted to those that were, again and again (by a seed of its own).
    The range says how much depends on the repeats there are, not how far the law is to be trusted.
    """
    table = np.array(scores, np.float64)  # [sizes, repeats]
    many = table.shape[1]
    law = fitted(np.repeat(n, many), table.ravel())
    if law is None:
        return None
    score = law.score(at)
    if many < 2:
        return score, None, None
    drawn = np.random.default_rng(0).integers(0, many, (_DRAWS, many))
    again = [one.score(at) for row in drawn if (one := fitted(np.repeat(n, many), table[:, row].ravel())) is not None]
    low, high = np.quantile(again, _MIDDLE) if again else (score, score)
    return score, min(score, float(low)), max(score, float(high))
