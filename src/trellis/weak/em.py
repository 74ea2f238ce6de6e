"""Expectation and maximisation, until the objective stands still."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from trellis.errors import ConvergenceWarning, DataError, SettingError, shown

F64 = NDArray[np.float64]

_MOST = 1e12  # of settings: so that counts times these are still numbers


@dataclass(frozen=True)
class Climb:
    """`objectives`: log-likelihood of the votes plus log prior, before each step."""

    objectives: list[float]
    converged: bool

    @property
    def iterations(self) -> int:
        return len(self.objectives)


def climb(steps: Iterator[float], max_iter: int, tol: float | None, whose: str) -> Climb:
    """Takes steps, each of which says the objective at its beginning, until that rises by less than `tol` times its
    size; with a tol of None exactly `max_iter` of them."""
    values: list[float] = []
    for value in steps:
        if not math.isfinite(value):
            raise DataError("training led to probabilities that are no numbers; are smoothing or anchor extreme?")
        values.append(value)
        if tol is not None and len(values) > 1 and value - values[-2] <= tol * max(1.0, abs(value)):
            return Climb(values, True)
        if len(values) >= max_iter:
            break
    if tol is not None:
        warnings.warn(
            f"{whose} has not converged after {max_iter} iterations; raise max_iter, or tol",
            ConvergenceWarning,
            stacklevel=6,
        )
    return Climb(values, False)


def softened(scores: F64) -> tuple[F64, F64]:
    """Rows of log-scores -> probabilities, and the log of each row's sum."""
    top = scores.max(axis=1, keepdims=True, initial=-math.inf)
    exps = np.exp(scores - top)
    sums = exps.sum(axis=1, keepdims=True)
    return exps / sums, (top + np.log(sums))[:, 0]


def check_settings(max_iter: object, tol: object, **amounts: object) -> None:
    """SettingError for what cannot be."""
    if not isinstance(max_iter, Integral) or isinstance(max_iter, bool) or max_iter < 1:
        raise SettingError(f"max_iter is {shown(max_iter)}; expected a whole number >= 1")
    for name, value in {"tol": 0.0 if tol is None else tol, **amounts}.items():
        fits = isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= _MOST
        if not fits:
            raise SettingError(f"{name} is {shown(value)}; expected a number >= 0, and at most {_MOST:g}")
