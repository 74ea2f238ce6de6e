"""The rows of the tables that people read: for each quantity one row a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.studies.bench_tag import TagBench
from trellis.studies.bench_train import TrainBench
from trellis.studies.clock import Comparison
from trellis.studies.memory import Memory

Show = Callable[[float], str]
HEADINGS = ("", "", "best", "median", "ratio", "of medians")


@dataclass(frozen=True)
class Row:
    """Cells under HEADINGS; the first is empty but in the first row of a quantity."""

    quantity: str
    system: str
    best: str
    median: str = ""
    ratio: str = ""
    ratio_of_medians: str = ""


def train_rows(bench: TrainBench) -> list[Row]:
    rows = [
        *_rows("evaluation", bench.evaluation, _milliseconds, peer="CRFsuite (an iteration)"),
        *_rows("iteration", bench.iteration, _milliseconds),
        *_rows("prepare", bench.prepare, _milliseconds),
        *_rows("setup", bench.setup, _milliseconds),
        *_memory_rows(bench.memory),
    ]
    if bench.full is not None:
        ratio = bench.full["crfsuite"].seconds / bench.full["trellis"].seconds
        for name, side in (("CRFsuite", bench.full["crfsuite"]), ("Trellis", bench.full["trellis"])):
            what = f"{name}, objective {side.objective:,.2f} after {side.iterations} iterations"
            first = name == "CRFsuite"
            rows.append(Row("full" * first, what, f"{side.seconds:.1f} s", "", "" if first else _times(ratio)))
    return rows


def tag_rows(bench: TagBench) -> list[Row]:
    def speed(seconds: float) -> str:
        return f"{bench.tokens / seconds:,.0f} tokens/s"

    return [*_rows("tag", bench.tag, speed), *_memory_rows(bench.memory)]


def _rows(quantity: str, both: Comparison, show: Show, peer: str = "CRFsuite") -> list[Row]:
    rows = [Row(quantity, peer, show(both.crfsuite.best), show(both.crfsuite.median))]
    for n, times in both.trellis.items():
        ratio = both.ratio(n)
        name = f"Trellis, {n} thread" + "s" * (n > 1)
        rows.append(Row("", name, show(times.best), show(times.median), _times(ratio["best"]), _times(ratio["median"])))
    return rows


def _memory_rows(memory: Memory) -> list[Row]:
    return [
        Row("memory", "CRFsuite", _megabytes(memory.crfsuite.peak_bytes)),
        Row("", "Trellis", _megabytes(memory.trellis.peak_bytes), "", _times(memory.ratio["peak"])),
        Row("above import", "CRFsuite", _megabytes(memory.crfsuite_growth)),
        Row("", "Trellis", _megabytes(memory.trellis_growth), "", _times(memory.ratio["growth"])),
        Row("process", "CRFsuite", f"{memory.crfsuite.seconds:.2f} s"),
        Row("", "Trellis", f"{memory.trellis.seconds:.2f} s", "", _times(memory.ratio["seconds"])),
    ]


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:,.1f} ms"


def _megabytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 1e6:,.0f} MB"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"
