"""One clock for everything that is compared: wall time, best and median of several runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

Answer = TypeVar("Answer")

now = time.perf_counter


@dataclass(frozen=True)
class Times:
    """Seconds of each run, at least one."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)

    def as_json(self) -> dict[str, Any]:
        return {"best": self.best, "median": self.median, "runs": len(self.seconds)}


@dataclass(frozen=True)
class Comparison:
    """The same work by both systems; Trellis once for each number of threads."""

    crfsuite: Times
    trellis: Mapping[int, Times]

    def ratio(self, threads: int) -> dict[str, float]:
        """CRFsuite's time over Trellis': above 1, Trellis is faster."""
        ours = self.trellis[threads]
        return {"best": self.crfsuite.best / ours.best, "median": self.crfsuite.median / ours.median}

    def as_json(self) -> dict[str, Any]:
        return {
            "crfsuite": self.crfsuite.as_json(),
            "trellis": {str(n): times.as_json() for n, times in self.trellis.items()},
            "ratio": {str(n): self.ratio(n) for n in self.trellis},
        }


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """What the work returns, and the seconds it took."""
    began = now()
    answer = work()
    return answer, now() - began


def by_turns(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Times]:
    """Each of the works once to warm up, and then so many times, by turns."""
    for work in works.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(timed(work)[1])
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}


@dataclass
class Stopwatch:
    """Time spent inside `of`, by the wall and by the processor, which other processes do not disturb."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def of(self, work: Callable[[], Answer]) -> Answer:
        began, began_cpu = now(), time.process_time()
        answer = work()
        self.seconds += now() - began
        self.cpu_seconds += time.process_time() - began_cpu
        return answer
