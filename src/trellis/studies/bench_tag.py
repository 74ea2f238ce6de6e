"""`trellis bench tag`: from a text file to labels as strings, and the memory that takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trellis.errors import DataError, FileAccessError
from trellis.models import load
from trellis.studies import crfsuite, ours
from trellis.studies.bench_train import Say, check_rounds
from trellis.studies.clock import Comparison, Times, timed
from trellis.studies.machine import machine
from trellis.studies.memory import Memory
from trellis.studies.process import run_apart
from trellis.studies.task import Task

Labels = list[list[str]]
_PEER = 0  # where the peer stands among numbers of threads


@dataclass(frozen=True)
class TagBench:
    """`tag`: seconds to tag the file once; `agreement`: share of tokens that both label alike."""

    task: Task
    test: Path
    machine: dict[str, Any]
    sentences: int
    tokens: int
    tag: Comparison
    agreement: float
    memory: Memory

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench tag --json`; ratios are CRFsuite's time over Trellis'."""
        speeds = {"crfsuite": self._speed(self.tag.crfsuite)}
        speeds["trellis"] = {str(n): self._speed(times) for n, times in self.tag.trellis.items()}
        return {
            "benchmark": "tag",
            "against": "crfsuite",
            "data": {
                "train": str(self.task.train), "test": str(self.test),
                "sentences": self.sentences, "tokens": self.tokens,
            },
            "machine": self.machine,
            "features": self.task.features,
            "tag": self.tag.as_json(),
            "tokens_per_second": speeds,
            "agreement": self.agreement,
            "memory": self.memory.as_json(),
        }  # fmt: skip

    def _speed(self, times: Times) -> dict[str, Any]:
        return {"best": self.tokens / times.best, "median": self.tokens / times.median}


def bench_tag(
    task: Task,
    test: Path,
    threads: Sequence[int] = (1, 2),
    repeat: int = 7,
    iterations: int = 20,
    say: Say = lambda text: None,
) -> TagBench:
    """Trains both for some iterations, then tags the test file by turns, `repeat` times each."""
    crfsuite.require_pycrfsuite()
    check_rounds(threads, repeat, iterations)
    if not test.is_file():
        raise FileAccessError(f"{test}: no such file; give a column file to tag")
    here = machine()
    ours.warm_up(task.columns, task.target, task.features)
    with tempfile.TemporaryDirectory() as folder:
        own, peer = str(Path(folder) / "own"), str(Path(folder) / "peer")
        say("training both models")
        ours.fit(task, max(threads), iterations).save(own)
        target = task.columns.index(task.target)
        crfsuite.train(str(task.train), task.patterns(), target, task.c2, iterations, peer)
        runs = _runs(task, test, own, peer, threads)
        labels = {n: run() for n, run in runs.items()}  # outside the clock: lookup tables are made at first use
        say("memory, in processes of their own")
        memory = _memory(task, test, own, peer, max(threads))
        seconds: dict[int, list[float]] = {n: [] for n in runs}
        for k in range(repeat):
            say(f"tagging, round {k + 1} of {repeat}")
            for n, run in runs.items():
                seconds[n].append(timed(run)[1])
    times = {n: Times(tuple(each)) for n, each in seconds.items()}
    tokens, agreement = _agreement(labels[threads[0]], labels[_PEER], test)
    sentences = len(labels[_PEER])
    return TagBench(task, test, here, sentences, tokens, Comparison(times.pop(_PEER), times), agreement, memory)


def _runs(task: Task, test: Path, own: str, peer: str, threads: Sequence[int]) -> dict[int, Callable[[], Labels]]:
    """What is timed: the peer, and Trellis by number of threads."""
    tagger, build = crfsuite.open_tagger(peer), crfsuite.string_builder(task.patterns())
    crf = load(own)

    def trellis(n: int) -> Labels:
        return ours.tag(crf.set_params(threads=n), test, task.columns)

    return {
        _PEER: lambda: crfsuite.tag(tagger, str(test), build),
        **{n: partial(trellis, n) for n in threads},
    }


def _memory(task: Task, test: Path, own: str, peer: str, threads: int) -> Memory:
    return Memory(
        run_apart("trellis.studies.crfsuite:tag_file", peer, str(test), task.patterns()),
        run_apart("trellis.studies.crfsuite:import_only"),
        run_apart("trellis.studies.ours:tag_apart", own, str(test), task.columns, threads),
        run_apart("trellis.studies.ours:warm_up", task.columns, task.target, task.features),
    )


def _agreement(own: Labels, peer: Labels, test: Path) -> tuple[int, float]:
    """How many tokens there are, and the share with the same label on both sides."""
    if [len(sentence) for sentence in own] != [len(sentence) for sentence in peer]:
        raise DataError("the two readers find different sentences; are there other blanks than spaces and tabs?", test)
    pairs = [pair for a, b in zip(own, peer, strict=True) for pair in zip(a, b, strict=True)]
    if not pairs:
        raise DataError("there is no token to tag", test)
    return len(pairs), sum(a == b for a, b in pairs) / len(pairs)
