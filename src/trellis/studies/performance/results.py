"""Results of `trellis bench`, as they were saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.errors import DataError
from trellis.files import read_bytes


@dataclass(frozen=True)
class Result:
    """`name` of the benchmark and its JSON object."""

    name: str
    values: dict[str, Any]
    file: Path


def read_results(files: Sequence[Path]) -> list[Result]:
    """Of each file its last line, so that what a command printed may be kept whole."""
    return [_read(file) for file in files]


def _read(file: Path) -> Result:
    lines = read_bytes(file).decode("utf-8", "replace").rstrip().split("\n")
    try:
        values = json.loads(lines[-1])
    except ValueError:
        raise DataError("the last line is no JSON; save what `trellis bench ... --json` prints", file) from None
    name = values.get("benchmark") if isinstance(values, dict) else None
    if not isinstance(name, str):
        raise DataError("the last line is no result of `trellis bench ... --json`", file)
    return Result(name, values, file)


def machines(results: Sequence[Result]) -> list[str]:
    """What was measured on, each kind of machine once."""
    found = []
    for result in results:
        own = result.values["machine"]
        versions = [f"{name} {own[name]}" for name in ("python", "numpy", "numba", "python-crfsuite") if own.get(name)]
        wide = own.get("numbers in a register")
        found.append((own["cores"], own["platform"], tuple(versions), wide))
    widths = {(cores, platform): wide for cores, platform, _, wide in found if wide is not None}
    texts = []
    for cores, platform, programs, _ in found:
        wide = widths.get((cores, platform))
        register = "" if wide is None else f", {wide} numbers of double precision in a register"
        texts.append(f"{cores} cores{register}, {platform}; {', '.join(programs)}")
    return list(dict.fromkeys(texts))


def loads(results: Sequence[Result]) -> list[float]:
    """Of the machines, before each benchmark began, where that is known."""
    found = [result.values["machine"].get("load") for result in results]
    return [float(load) for load in found if load is not None]
