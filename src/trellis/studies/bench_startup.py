"""`trellis bench startup`: seconds until a fresh process has done its first small thing, and what the very first run
after installation compiles.

Every run is a process of its own; what is compared takes turns. Files are in the machine's cache after the first round,
which is not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trellis.corpus import Corpus, sample_corpus, write_conll
from trellis.errors import ConvergenceWarning, TrellisError
from trellis.jit import SMALL
from trellis.models import CRF
from trellis.studies.clock import Times, by_turns, timed
from trellis.studies.growing import of_tokens
from trellis.studies.machine import machine
from trellis.studies.task import check_counts

Say = Callable[[str], None]

PYTHON, NUMPY, OURS, PEER, TAG = "python", "import numpy", "import trellis", "import pycrfsuite", "tag one sentence"
_TARGET = "chunk"
_ENOUGH = SMALL + 1000  # tokens of which compiled kernels are used
_SENTENCE = "The DT\ncat NN\nsat VBD\n. .\n\n"


@dataclass(frozen=True)
class FirstRun:
    """A command on an empty cache of kernels, and once more on what that left there; medians of all runs."""

    empty: Times
    filled: Times

    @property
    def compiling(self) -> float:
        """Seconds more that it takes on an empty cache."""
        return self.empty.median - self.filled.median

    def as_json(self) -> dict[str, Any]:
        return {"empty": self.empty.as_json(), "filled": self.filled.as_json(), "compiling_seconds": self.compiling}


@dataclass(frozen=True)
class StartupBench:
    """`times`: of small processes, by name; `first`: of `train` and `tag`, empty if not asked for; `kernels`: files of
    compiled kernels that both leave in the cache, and how many of these the runs on the filled cache added: none, if
    every kernel was found there."""

    machine: dict[str, Any]
    times: dict[str, Times]
    tokens: int
    first: dict[str, FirstRun]
    kernels: tuple[int, int]

    @property
    def ratio(self) -> float:
        """The time of importing Trellis over that of importing NumPy, by the medians; Python's own is in both."""
        return self.times[OURS].median / self.times[NUMPY].median

    @property
    def compiling(self) -> float | None:
        """Seconds that training and tagging compile for, together; None if not asked for."""
        return sum(run.compiling for run in self.first.values()) if self.first else None

    def as_json(self) -> dict[str, Any]:
        """The JSON object of `trellis bench startup --json`."""
        return {
            "benchmark": "startup",
            "machine": self.machine,
            "seconds": {name: times.as_json() for name, times in self.times.items()},
            "ratio": {"import trellis / import numpy": self.ratio},
            "first_run": {name: run.as_json() for name, run in self.first.items()},
            "first_run_tokens": self.tokens,
            "compiling_seconds": self.compiling,
            "kernels": self.kernels[0],
            "kernels_compiled_again": self.kernels[1],
        }


def bench_startup(
    repeat: int = 7,
    first_runs: int = 1,
    tokens: int = _ENOUGH,
    iterations: int = 3,
    say: Say = lambda text: None,
) -> StartupBench:
    """`repeat` rounds of small processes, then `first_runs` times training for so many iterations, and tagging, on so
    many tokens of the corpus that ships; 0 leaves these out, which take the longest."""
    check_counts(repeat=repeat, tokens=tokens, iterations=iterations)
    here, corpus = machine(), of_tokens(sample_corpus(), tokens)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say(f"small processes, {repeat} rounds")
        times = by_turns(_small(folder, corpus), repeat)
        first, kernels = _first_runs(folder, corpus, first_runs, iterations, say) if first_runs > 0 else ({}, (0, 0))
    return StartupBench(here, times, corpus.tokens, first, kernels)


def _small(folder: Path, corpus: Corpus) -> dict[str, Callable[[], None]]:
    """What is run in processes, by name."""
    model = str(folder / "small")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        CRF(_TARGET, max_iter=3).fit(corpus.slice(0, 100)).save(model)
    works: dict[str, Callable[[], None]] = {
        PYTHON: partial(_run, ["-c", "pass"]),
        NUMPY: partial(_run, ["-c", "import numpy"]),
        OURS: partial(_run, ["-c", "import trellis"]),
    }
    if find_spec("pycrfsuite") is not None:
        works[PEER] = partial(_run, ["-c", "import pycrfsuite"])
    columns = ["--columns", "word,pos"]
    works[TAG] = partial(_run, ["-m", "trellis", "tag", model, *columns], text=_SENTENCE)
    return works


def _first_runs(
    folder: Path, corpus: Corpus, runs: int, iterations: int, say: Say
) -> tuple[dict[str, FirstRun], tuple[int, int]]:
    """Training and tagging, each on an empty cache and on a filled one, so many times; files of kernels in the end, and
    those that the filled caches got."""
    file, model = folder / "train.txt", folder / "model"
    file.write_bytes(write_conll(corpus))
    columns = ["--columns", ",".join(corpus.columns)]
    commands = {
        "train": ["train", file, "--model", model, "--target", _TARGET, "--max-iter", iterations, *columns],
        "tag": ["tag", model, file, "--output", folder / "tagged.txt"],
    }
    taken: dict[tuple[str, str], list[float]] = {}
    kernels = []
    for k in range(runs):
        cache = folder / f"cache-{k}"
        for state in ("empty", "filled"):
            for name, command in commands.items():
                say(f"{name}, {state} cache, run {k + 1} of {runs}")
                work = partial(_run, ["-m", "trellis", *map(str, command)], cache=cache)
                taken.setdefault((name, state), []).append(timed(work)[1])
            kernels.append(len(list(cache.rglob("*.nbc"))))
    both = {name: [Times(tuple(taken[name, state])) for state in ("empty", "filled")] for name in commands}
    again = sum(after - before for before, after in zip(kernels[::2], kernels[1::2], strict=True))
    return {name: FirstRun(*times) for name, times in both.items()}, (kernels[-1], again)


def _run(arguments: Sequence[str], text: str = "", cache: Path | None = None) -> None:
    """A fresh interpreter with these arguments, to its end."""
    more = {} if cache is None else {"TRELLIS_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, *arguments],
        input=text,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise TrellisError(f"`python {' '.join(arguments)}` ended with status {done.returncode}: {last}")
