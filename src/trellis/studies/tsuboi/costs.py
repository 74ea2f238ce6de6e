"""What single operations cost, at the optimum: the ground that explanations stand on.

All in milliseconds, medians of several rounds in which the operations take turns:

    evaluation            value and gradient, nothing kept
    evaluation_keeping    the same, and every lattice is kept
    product_kept          Hessian-vector product from kept lattices (c = ALL)
    product_anew          the same with every lattice solved anew (c = 0)
    product_ad            by differentiation of forward-backward
    scores, transpose     of an evaluation: theta -> scores, and gradient in scores -> gradient in theta
    exponentials          of an evaluation: one for each token and label
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from statistics import median

import numpy as np
from numpy.typing import NDArray

from trellis.jit import alone
from trellis.lattice.kernels import vector
from trellis.objective import PlainShard
from trellis.studies.clock import timed
from trellis.studies.tsuboi.problem import Problem

F64 = NDArray[np.float64]

exp_into = alone(vector.exp_into)

_LITTLE = 8192  # numbers that stay in the cache, to compare an exponential with an addition


def measure_costs(problem: Problem, theta: F64, l2: float, threads: int, rounds: int) -> dict[str, float]:
    """See above; also `exp_over_add`, how many additions take as long as one exponential."""
    direction = np.random.default_rng(0).normal(size=problem.size)
    with ExitStack() as stack:
        plain, kept, dual = (
            stack.enter_context(problem.objective(l2, threads, **options))
            for options in ({}, {"cache": "all"}, {"hvp": "ad"})
        )
        work: dict[str, Callable[[], object]] = {
            "evaluation": lambda: plain.value_and_gradient(theta),
            "evaluation_keeping": lambda: kept.value_and_gradient(theta),
            "product_kept": lambda: kept.hessian_vector(theta, direction),
            "product_anew": lambda: plain.hessian_vector(theta, direction),
            "product_ad": lambda: dual.hessian_vector(theta, direction),
            **_parts([shard for shard in plain.shards if isinstance(shard, PlainShard)], theta),
        }
        return {**_medians(work, rounds), "exp_over_add": _exp_over_add()}


def _parts(shards: list[PlainShard], theta: F64) -> Mapping[str, Callable[[], object]]:
    """Scoring and its transpose on one thread, as shards do it but in one block."""
    shape = max(len(shard.gold) for shard in shards), shards[0].scoring.width
    scores, powers = np.empty(shape), np.empty(shape)
    delta = np.random.default_rng(1).normal(size=shape)
    at = [(shard, theta[shard.index], shard.scoring.rows_of(theta[shard.index], None, shard.at)) for shard in shards]
    sums = [(np.zeros_like(weights), np.zeros_like(rows)) for _, weights, rows in at]

    def score() -> None:
        for shard, weights, rows in at:
            shard.scoring.scores(rows, weights, shard.at, 0, len(shard.gold), scores)

    def transpose() -> None:
        for (shard, *_), (gradient, row_gradient) in zip(at, sums, strict=True):
            shard.scoring.add_gradient(delta, shard.at, 0, len(shard.gold), row_gradient, gradient)

    def exponentials() -> None:
        for shard in shards:
            exp_into(scores[: len(shard.gold)].ravel(), 1e3, powers[: len(shard.gold)].ravel())

    return {"scores": score, "transpose": transpose, "exponentials": exponentials}


def _medians(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for k in range(rounds + 1):
        for name, each in work.items():
            took = timed(each)[1]
            if k:  # the first round fetches memory
                seconds[name].append(took)
    return {name: 1e3 * median(took) for name, took in seconds.items()}


def _exp_over_add() -> float:
    x, out = np.linspace(-20.0, 0.0, _LITTLE), np.empty(_LITTLE)
    exp_into(x, 0.0, out)
    power = min(timed(lambda: exp_into(x, 0.0, out))[1] for _ in range(200))
    plus = min(timed(lambda: np.add(x, x, out=out))[1] for _ in range(200))
    return power / plus
