"""What sections of the page are made of, and how their numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from trellis.report.markdown import table

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """A plot beside the page: `paint(path)` draws it."""

    name: str
    what: str
    paint: Callable[[Path], None]


@dataclass(frozen=True)
class Section:
    """Text, tables and plots one after the other; `faster`: how many times as fast Trellis is, for the plot of all."""

    parts: Sequence[str | Picture]
    faster: Mapping[str, float]


def compared(rows: Mapping[str, Values], peer: str = "CRFsuite", key: str = "crfsuite") -> str:
    """A table of medians: the peer's, Trellis' by threads, and how many times as fast that is. rows: what -> a
    comparison as JSON."""
    counts = list(dict.fromkeys(n for row in rows.values() for n in row["trellis"]))
    headings = ["median", peer]
    for n in counts:
        headings += [f"Trellis, {threads(n)}", ""]
    cells = []
    for what, row in rows.items():
        line = [what, seconds(row[key]["median"])]
        for n in counts:
            there = n in row["trellis"]
            line += [seconds(row["trellis"][n]["median"]), times(row["ratio"][n]["median"])] if there else ["", ""]
        cells.append(line)
    return table(headings, cells)


def faster(rows: Mapping[str, Values]) -> dict[str, float]:
    """The ratios of such a table, named."""
    return {f"{what}, {threads(n)}": row["ratio"][n]["median"] for what, row in rows.items() for n in row["trellis"]}


def threads(count: str | int) -> str:
    return f"{count} thread{'' if str(count) == '1' else 's'}"


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value < 1e-3:
        return f"{1e6 * value:.0f} µs"
    if value < 1:
        return f"{1e3 * value:.3g} ms" if value < 0.0995 else f"{1e3 * value:.0f} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"


def times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.1f}x"


def megabytes(count: float | None) -> str:
    return "-" if count is None else f"{count / 1e6:,.0f} MB"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def middle(values: Sequence[float | None]) -> float | None:
    """The median, or None where one of them is."""
    known = [value for value in values if value is not None]
    return float(median(known)) if known and len(known) == len(values) else None


def data_of(given: Any) -> str:
    """Files by name and folder: where they are kept on a machine is nobody's business."""
    files = (
        [given] if isinstance(given, str) else given.get("files") or [given[k] for k in ("train", "test") if k in given]
    )
    return ", ".join("/".join(Path(file).parts[-2:]) for file in files)
