"""What all batch optimisers share: how a run may begin, and when it is at its end."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError, SettingError
from trellis.optim.contract import Objective
from trellis.optim.vectors import norm

F64 = NDArray[np.float64]

ROUNDING = 1e-10  # of the objective: a promised fall below this is less than rounding takes away


def evaluate_start(objective: Objective, theta: F64, takes_l1: bool = False) -> tuple[float, F64]:
    """f and its gradient where a run begins; refuses what the optimiser cannot minimise, and what is no number."""
    if objective.l1 > 0 and not takes_l1:
        raise SettingError(
            f"l1 is {objective.l1:g}, and this optimizer needs a gradient everywhere; use the optimizer 'owlqn'"
        )
    value, gradient = objective.value_and_gradient(theta)
    if not (math.isfinite(value) and np.isfinite(gradient).all()):
        why = "are the weights that it starts from too large, or " if theta.any() else ""
        raise DataError(f"the objective is not finite where training starts; {why}are there extreme feature values?")
    return value, gradient


def is_flat(theta: F64, gradient: F64, tol: float, gradient_tol: float | None = None) -> bool:
    """The gradient's norm is below `tol` of theta's, or none of its parts is above `gradient_tol`."""
    if gradient_tol is not None and float(np.abs(gradient).max(initial=0.0)) <= gradient_tol:
        return True
    return norm(gradient) <= tol * max(1.0, norm(theta))


def is_slow(values: tuple[float, ...], period: int, tol: float) -> bool:
    """The objective has fallen by less than `tol` of itself over the last `period` iterations."""
    return len(values) > period and values[-1 - period] - values[-1] <= tol * abs(values[-1])


def latest(values: tuple[float, ...], value: float, period: int) -> tuple[float, ...]:
    """As many values as `is_slow` looks back on."""
    return (*values, value)[-period - 1 :]


def fraction_done(values: tuple[float, ...], tol: float) -> float:
    """The fall of the objective over a period shrinks about geometrically: how far it is from the stopping rule, on a
    logarithmic scale."""
    if len(values) < 2:
        return 0.0
    fall = max((values[0] - values[-1]) / max(abs(values[-1]), 1e-300), 1e-300)
    return min(max(1.0 - math.log(fall / tol) / math.log(1.0 / tol), 0.0), 1.0)
