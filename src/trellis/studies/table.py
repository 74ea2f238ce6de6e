"""The rows of the tables that people read: for each quantity one row a system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trellis.studies.bench_features import FeatureBench
from trellis.studies.bench_tag import TagBench
from trellis.studies.bench_train import TrainBench, Trained
from trellis.studies.clock import Comparison
from trellis.studies.memory import Memory

Show = Callable[[float], str]
HEADINGS = ("", "", "best", "median", "ratio", "(median)")


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
    """Rows of `trellis bench train`."""
    rows = [
        *_rows("evaluation", bench.evaluation, _seconds, peer="CRFsuite *"),
        *_rows("iteration", bench.iteration, _seconds),
        *_rows("prepare", bench.prepare, _seconds),
        *_rows("setup", bench.setup, _seconds),
        *_memory_rows(bench.memory),
    ]
    return rows if bench.full is None else [*rows, *_full_rows(bench.full["crfsuite"], bench.full["trellis"])]


def tag_rows(bench: TagBench) -> list[Row]:
    """Rows of `trellis bench tag`."""

    def speed(seconds: float) -> str:
        return f"{bench.tokens / seconds:,.0f}"

    return [*_rows("tokens/second", bench.tag, speed), *_memory_rows(bench.memory)]


def feature_rows(bench: FeatureBench) -> list[Row]:
    """Rows of `trellis bench features`."""
    return [
        *_rows(bench.task.features, bench.prepare, _seconds),
        *_rows(f"ner, {bench.ner_templates} templates", bench.ner, _seconds, peer="Python strings"),
    ]


def _full_rows(peer: Trained, own: Trained) -> list[Row]:
    return [
        Row("objective", "CRFsuite", f"{peer.objective:,.2f}"),
        Row("", "Trellis", f"{own.objective:,.2f}"),
        Row("iterations", "CRFsuite", str(peer.iterations)),
        Row("", "Trellis", str(own.iterations)),
        Row("evaluations", "CRFsuite", str(peer.evaluations)),
        Row("", "Trellis", str(own.evaluations)),
        Row("optimisation", "CRFsuite", _seconds(peer.optimisation)),
        Row("", "Trellis", _seconds(own.optimisation), "", _times(peer.optimisation / own.optimisation)),
        Row("file to model", "CRFsuite", _seconds(peer.seconds)),
        Row("", "Trellis", _seconds(own.seconds), "", _times(peer.seconds / own.seconds)),
    ]


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
        Row("process", "CRFsuite", _seconds(memory.crfsuite.seconds)),
        Row("", "Trellis", _seconds(memory.trellis.seconds), "", _times(memory.ratio["seconds"])),
    ]


def _seconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _megabytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 1e6:,.0f} MB"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"
