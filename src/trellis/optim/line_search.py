"""A line search that ends at the strong Wolfe conditions (Nocedal & Wright 2006, algorithms 3.5 and 3.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trellis.optim.contract import Objective
from trellis.optim.vectors import dot

F64 = NDArray[np.float64]

SUFFICIENT = 1e-4  # c1: part of the promised decrease that must be there
CURVATURE = 0.9  # c2: part of the slope that may be left (Nocedal & Wright's choice for quasi-Newton methods)
MOST_TRIALS = 20


@dataclass(frozen=True)
class Point:
    """A trial: step length, value, slope along the direction, and where it is."""

    step: float
    value: float
    slope: float
    theta: F64
    gradient: F64


class Counted:
    """An objective's value and gradient, and how often they were asked for."""

    def __init__(self, objective: Objective):
        self.count = 0
        self._objective = objective

    def __call__(self, theta: F64) -> tuple[float, F64]:
        self.count += 1
        return self._objective.value_and_gradient(theta)


def wolfe_search(
    evaluate: Callable[[F64], tuple[float, F64]],
    start: Point,
    direction: F64,
    first_step: float,
    curvature: float = CURVATURE,
) -> Point | None:
    """From `start` (step 0) along the direction: a point with sufficient decrease and at most `curvature` of the slope
    left.

    The best point with sufficient decrease when trials run out; None when there is none.
    """

    def trial(step: float) -> Point:
        with np.errstate(over="ignore", invalid="ignore"):  # a point out of reach has no finite value either
            theta = step * direction
            theta += start.theta
        value, gradient = evaluate(theta)
        slope = dot(gradient, direction)
        if not (math.isfinite(value) and math.isfinite(slope)):
            value = math.inf
        return Point(step, value, slope, theta, gradient)

    def decreases(point: Point) -> bool:
        return point.value <= start.value + SUFFICIENT * point.step * start.slope

    low, high, step = start, None, first_step
    for _ in range(MOST_TRIALS):
        point = trial(step)
        if not decreases(point) or (low.step > 0 and point.value >= low.value):
            high = point
        elif abs(point.slope) <= -curvature * start.slope:
            return point
        elif high is None and point.slope < 0:  # still going down: further out
            low = point
            step *= 2.0
            continue
        else:
            if high is None or point.slope * (high.step - low.step) >= 0:
                high = low
            low = point
        step = _between(low, high)
        if step in (low.step, high.step):  # no number lies between them
            break
        if abs(step * start.slope) <= 1e-16 * abs(start.value):  # what is left to gain drowns in rounding
            break
    return low if low.step > 0 else None


def _between(low: Point, high: Point) -> float:
    """The minimum of the cubic through two points and their slopes, kept away from the ends."""
    width = high.step - low.step
    middle = low.step + 0.5 * width
    if not math.isfinite(high.value) or not math.isfinite(high.slope):
        return low.step + 0.1 * width
    d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step)
    inside = d1 * d1 - low.slope * high.slope
    if inside < 0.0:
        return middle
    d2 = math.copysign(math.sqrt(inside), width)
    below = high.slope - low.slope + 2.0 * d2
    if below == 0.0:
        return middle
    step = high.step - width * (high.slope + d2 - d1) / below
    edge = 0.1 * abs(width)
    return min(max(step, min(low.step, high.step) + edge), max(low.step, high.step) - edge)
