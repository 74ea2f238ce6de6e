"""Choosing sigma of the Gaussian prior by the score on held-out data, as the paper does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from trellis.optim import Auto
from trellis.studies.tsuboi.problem import Problem
from trellis.studies.tsuboi.runs import minimised
from trellis.studies.tsuboi.tasks import Task

GRID = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # l2 = 1 / sigma^2
_TOL, _MOST = 1e-4, 500  # F1 does not change any more


def try_priors(task: Task, grid: Sequence[float], say: Callable[[str], None]) -> dict[float, float]:
    """F1 on the held-out data for each l2; with weights for pairs seen in training, whatever is timed later, so that
    the same objective is minimised but for its weights."""
    problem = Problem(task.fit, task.dev, task.target, task.features)
    found = {}
    for l2 in grid:
        say(f"{task.title}: choosing the prior, l2 = {l2:g}")
        theta, _ = minimised(problem, Auto(tol=_TOL), l2, np.zeros(problem.size), _MOST)
        found[l2] = problem.score(theta)
    return found


def best_of(tried: dict[float, float]) -> float:
    """The l2 with the highest score; of several the largest, which is the simplest model."""
    return max(tried, key=lambda l2: (tried[l2], l2))
