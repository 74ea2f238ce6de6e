"""The Hessian's diagonal as a measure for steps, weight by weight."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trellis.errors import DataError
from trellis.optim.contract import Objective
from trellis.optim.vectors import dot, weighted_dot

F64 = NDArray[np.float64]


def diagonal_metric(objective: Objective, theta: F64, gradient: F64, power: float) -> F64:
    """M = c D^power with D the diagonal at theta, and c such that M measures -M^-1 g as D does: so that it is the step
    to the lowest point along itself, as far as the diagonal knows.

    Power 1/2 lies between D^-1 and the plain gradient. From warm starts, on 1,000 sentences of CoNLL-2000 with l2 = 2
    and 0.2, L-BFGS came within 1e-5 of the optimum in 8 to 27 of a hundred evaluations fewer than without a diagonal;
    power 1 took from 8 fewer to 40 more, or stopped before; 1/4 was as good as 1/2, 3/4 no better. From zero it gains
    little. The diagonal has to be right: with expected counts in place of the variances of transitions, power 1 took
    about twice as many to 1e-4.
    """
    d = objective.hessian_diagonal(theta)
    largest = float(d.max(initial=0.0))
    if not 0.0 < largest < math.inf:
        raise DataError("the objective has no finite curvature; train without its diagonal")
    d = np.maximum(d, np.finfo(float).eps * largest)  # a weight without curvature must not get an endless step
    if power == 1.0:
        return d
    d /= largest
    metric: F64 = d**power
    step = gradient / metric
    metric *= largest * (weighted_dot(d, step, step, d) / dot(gradient, step))
    return metric
