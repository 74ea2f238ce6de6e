"""Compiled steps of gradient descent on some of many weights."""

from __future__ import annotations

from math import sqrt
from typing import Any

from trellis.jit import kernel

Array = Any

_TINY = 1e-8  # what Adam divides by at least


@kernel
def adagrad_step(theta: Array, squares: Array, index: Array, gradient: Array, scale: float, step: float) -> None:
    """theta[i] -= step g / sqrt(sum of all g^2 so far), of the weights `index` (Duchi et al. 2011); scale g = the
    gradient."""
    for k in range(len(index)):
        i, g = index[k], scale * gradient[k]
        squares[i] += g * g
        if squares[i] > 0.0:  # the square of a tiny g is 0
            theta[i] -= step * g / sqrt(squares[i])


@kernel
def adam_step(
    theta: Array,
    means: Array,
    squares: Array,
    index: Array,
    gradient: Array,
    scale: float,
    step: float,
    first: float,
    second: float,
    count: int,
) -> None:
    """Of the weights `index` (Kingma and Ba 2015, Algorithm 1), in step number `count`, from 1 on: means and squares of
    gradients fade by `first` and `second`, and are made up for beginning at 0. Weights that are not in a batch are left
    alone, and so are their means."""
    step = step * sqrt(1.0 - second**count) / (1.0 - first**count)
    for k in range(len(index)):
        i, g = index[k], scale * gradient[k]
        means[i] = first * means[i] + (1.0 - first) * g
        squares[i] = second * squares[i] + (1.0 - second) * g * g
        theta[i] -= step * means[i] / (sqrt(squares[i]) + _TINY)


@kernel
def move_towards(average: Array, theta: Array, share: float) -> None:
    """average += share (theta - average)."""
    for i in range(len(theta)):
        average[i] += share * (theta[i] - average[i])
