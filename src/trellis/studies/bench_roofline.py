"""`trellis bench roofline`: how near the kernels of an evaluation come to what this machine can do.

The rate of multiply-adds and the bandwidth of memory are measured in the same rounds as the kernels, so that all see
the same clock. How work is counted, and what `strict`, `by use` and `uniform` mean, is in `roofline_counts`; figures
are medians.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trellis.engine import ThreadedObjective
from trellis.errors import DataError, SettingError
from trellis.lanes import LANES
from trellis.objective import L2
from trellis.objective.plain import PlainShard
from trellis.optim import LBFGS, is_over
from trellis.studies import ours
from trellis.studies.bench_train import check_rounds
from trellis.studies.clock import Times, timed
from trellis.studies.machine import machine
from trellis.studies.roofline_counts import GRADIENT, KERNELS, ROWS, SCORES, WAYS, Load, loads_of
from trellis.studies.roofline_limits import Limits
from trellis.studies.roofline_paces import seconds_of
from trellis.studies.task import Task

Say = Callable[[str], None]

SIZES = tuple(1 << k for k in (15, 17, 19, 21, 23, 25, 28))  # bytes: 32 kB to 256 MB
SCORING = {"scores, gradient": (SCORES, GRADIENT), "all of scoring": (SCORES, GRADIENT, ROWS)}

_TRAINED = 10  # iterations to the weights that all is measured with


@dataclass(frozen=True)
class Judged:
    """A kernel, or several of them, on one number of threads; `bounds`: by the way of counting, seconds of arithmetic
    and of memory."""

    times: Times
    bounds: dict[str, tuple[float, float]]

    def within(self, way: str) -> float:
        """How many times the bound it takes."""
        return self.times.median / max(self.bounds[way])

    def by(self, way: str) -> str:
        """What sets the bound."""
        arithmetic, memory = self.bounds[way]
        return "arithmetic" if arithmetic >= memory else "memory"


@dataclass(frozen=True)
class RooflineBench:
    """`loads`: what the kernels do on all of the data; `judged`: by name and threads; `evaluations`: whole ones, of
    which the kernels are the greater part."""

    task: Task
    machine: dict[str, Any]
    sentences: int
    tokens: int
    labels: int
    limits: Limits
    loads: dict[str, Load]
    judged: dict[tuple[str, int], Judged]
    evaluations: dict[int, Times]

    @property
    def names(self) -> list[str]:
        """Of what is judged."""
        return [*KERNELS, *SCORING]

    def share(self, threads: int) -> float:
        """Of the time of an evaluation, that of the kernels."""
        return sum(self.judged[name, threads].times.median for name in KERNELS) / self.evaluations[threads].median

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench roofline --json`. `work` is for one token; `ns`: for one token, too."""
        return {
            "benchmark": "roofline",
            "machine": {**self.machine, "numbers in a register": LANES},
            "data": {"train": str(self.task.train), "sentences": self.sentences, "tokens": self.tokens},
            "features": self.task.features,
            "labels": self.labels,
            "width": self.limits.width,
            "limits": self.limits.as_json(),
            "work": {
                name: {
                    "strict": {"amount": load.least / self.tokens, "bytes": load.least_bytes / self.tokens},
                    "full": {"amount": load.amount / self.tokens, "bytes": load.bytes / self.tokens},
                }
                for name, load in self.loads.items()
            },
            "kernels": {
                name: {str(n): self._judged(self.judged[name, n]) for n in self.limits.threads} for name in self.names
            },
            "evaluation": {
                str(n): {**times.as_json(), "share_of_kernels": self.share(n)} for n, times in self.evaluations.items()
            },
        }

    def _judged(self, one: Judged) -> dict[str, Any]:
        per = 1e9 / self.tokens
        return {
            "seconds": one.times.as_json(),
            "ns": per * one.times.median,
            "bounds": {
                way: {
                    "arithmetic_ns": per * arithmetic,
                    "memory_ns": per * memory,
                    "ns": per * max(arithmetic, memory),
                    "by": one.by(way),
                    "within": one.within(way),
                }
                for way, (arithmetic, memory) in one.bounds.items()
            },
        }


def bench_roofline(
    task: Task,
    threads: Sequence[int] = (1, 2),
    repeat: int = 5,
    sizes: Sequence[int] = SIZES,
    say: Say = lambda text: None,
) -> RooflineBench:
    """Some L-BFGS iterations, then rounds of limits and kernels by turns. sizes: bytes of memory to read and change."""
    check_rounds(threads, repeat, 2)
    if not sizes or min(sizes) < 1:
        raise SettingError(f"sizes are {list(sizes)}; expected whole numbers of bytes >= 1")
    here = machine()
    say("preparing")
    ready = ours.prepare(task)
    if not ready.corpus.tokens:
        raise DataError("there is no token to learn from", task.train)
    cut, size = ours.cut(task, ready)
    shards = [shard for shard in cut if isinstance(shard, PlainShard)]
    theta = _trained(shards, size, task.l2, max(threads))
    width = shards[0].scoring.width
    limits = Limits(width, sorted(set(sizes)), tuple(threads))
    parts: dict[tuple[str, int], list[float]] = {}
    whole: dict[int, list[float]] = {n: [] for n in threads}
    for k in range(repeat + 1):
        say(f"round {k} of {repeat}" if k else "warming up")
        limits.measure(counted=k > 0)
        for n in threads:
            found = seconds_of(shards, theta, n)
            with ThreadedObjective(shards, size, L2(task.l2), n) as objective:
                objective.value_and_gradient(theta)
                seconds = timed(partial(objective.value_and_gradient, theta))[1]
            if k:
                whole[n].append(seconds)
                for name, taken in found.items():
                    parts.setdefault((name, n), []).append(taken)
    loads = _loads(shards)
    corpus = ready.corpus
    return RooflineBench(
        task,
        here,
        len(corpus),
        corpus.tokens,
        len(corpus[task.target].strings),
        limits,
        loads,
        _judged(parts, loads, limits),
        {n: Times(tuple(seconds)) for n, seconds in whole.items()},
    )


def _trained(shards: Sequence[PlainShard], size: int, l2: float, threads: int) -> np.ndarray[Any, Any]:
    optimizer = LBFGS()
    with ThreadedObjective(shards, size, L2(l2), threads) as objective:
        state = optimizer.start(objective, np.zeros(size))
        while state.iteration < _TRAINED and not is_over(state):
            state = optimizer.step(objective, state)
    return state.theta


def _loads(shards: Sequence[PlainShard]) -> dict[str, Load]:
    """Of all shards, also of several kernels together."""
    each = [loads_of(shard, len(shards)) for shard in shards]
    found = {name: _sum([loads[name] for loads in each]) for name in KERNELS}
    return {**found, **{name: _sum([found[part] for part in parts]) for name, parts in SCORING.items()}}


def _sum(loads: Sequence[Load]) -> Load:
    total = loads[0]
    for load in loads[1:]:
        total += load
    return total


def _judged(
    parts: dict[tuple[str, int], list[float]], loads: dict[str, Load], limits: Limits
) -> dict[tuple[str, int], Judged]:
    judged = {}
    for name, load in loads.items():
        for n in limits.threads:
            runs = zip(*(parts[part, n] for part in SCORING.get(name, (name,))), strict=True)
            bounds = {way: load.seconds(way, limits, n) for way in WAYS}
            judged[name, n] = Judged(Times(tuple(map(sum, runs))), bounds)
    return judged
