"""`trellis bench segments`: what an evaluation of a SemiCRF costs, by how long segments may be.

A linear cost is t(d) = fixed + slope d: the table has the time and what each further token of length adds. All lengths
take turns, on one clock.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trellis.corpus import Corpus, read_conll
from trellis.errors import ConvergenceWarning, SettingError
from trellis.metrics.segments import segments
from trellis.models import SemiCRF
from trellis.studies.clock import Times
from trellis.studies.machine import machine
from trellis.studies.task import Task, check_counts

Say = Callable[[str], None]


@dataclass(frozen=True)
class SegmentBench:
    """`times`: seconds of an evaluation (value and gradient) by the longest segment."""

    task: Task
    machine: dict[str, Any]
    threads: int
    times: dict[int, Times]

    def line(self) -> tuple[float, float, float]:
        """Fixed seconds, seconds for each token of length, and the largest departure from that line, as a share."""
        lengths = np.array(list(self.times), np.float64)
        seconds = np.array([times.best for times in self.times.values()])
        slope, fixed = np.polyfit(lengths, seconds, 1, w=1.0 / seconds)
        return float(fixed), float(slope), float(np.max(np.abs(seconds / (fixed + slope * lengths) - 1.0)))

    def as_json(self) -> dict[str, Any]:
        fixed, slope, off = self.line()
        return {
            "benchmark": "segments",
            "machine": self.machine,
            "data": str(self.task.train),
            "features": self.task.features,
            "threads": self.threads,
            "seconds": {str(longest): times.as_json() for longest, times in self.times.items()},
            "fixed": fixed,
            "slope": slope,
            "departure": off,
        }


def bench_segments(
    task: Task,
    lengths: Sequence[int],
    threads: int = 1,
    repeat: int = 3,
    evaluations: int = 10,
    sentences: int | None = None,
    say: Say = lambda text: None,
) -> SegmentBench:
    """Some iterations of L-BFGS for each length, on sentences without a segment longer than the shortest of these."""
    check_counts(threads=threads, repeat=repeat, evaluations=evaluations, **{f"longest {n}": n for n in lengths})
    corpus = read_conll(task.train, columns=list(task.columns))
    corpus = _with_short_segments(corpus, task.target, min(lengths))
    corpus = corpus if sentences is None else corpus.slice(0, min(len(corpus), sentences))
    seconds = defaultdict[int, list[float]](list)
    for turn in range(repeat + 1):
        for longest in lengths:
            say(f"round {turn + 1} of {repeat + 1}, segments of up to {longest}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # after a few iterations
                model = SemiCRF(
                    task.target, task.features, "length", longest, optimizer="lbfgs", l2=task.l2, tol=1e-9,
                    max_iter=evaluations, threads=threads,
                ).fit(corpus)  # fmt: skip
            if turn:  # the first round compiles
                seconds[longest].append(model.seconds_ / model.evaluations_)
    return SegmentBench(task, machine(), threads, {n: Times(tuple(taken)) for n, taken in seconds.items()})


def _with_short_segments(corpus: Corpus, target: str, longest: int) -> Corpus:
    column = corpus[target]
    start, end, _ = segments(column.ids, list(column.strings), corpus.offsets)
    fits = np.ones(len(corpus), bool)
    fits[np.searchsorted(corpus.offsets, start[end - start > longest], side="right") - 1] = False
    if not fits.any():
        raise SettingError(f"every sentence has a segment of more than {longest} tokens; give larger lengths")
    lengths = np.diff(corpus.offsets)
    offsets = np.concatenate([[0], np.cumsum(lengths[fits])]).astype(np.int64)
    return corpus.rows(np.repeat(fits, lengths), offsets)
