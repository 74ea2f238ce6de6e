"""Memory after each phase of a process: what it holds just then, and the most it has held.

A process that is measured writes a JSON line for each phase into a file that it is told; who started it reads them.
Like `crfsuite`, this file imports nothing large: it is in all processes that are compared.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.studies.process import peak_bytes, run_apart


@dataclass(frozen=True)
class Phase:
    """At its end: bytes held, and the most that were held so far; None where the platform does not tell."""

    name: str
    held: int | None
    peak: int | None


@dataclass(frozen=True)
class Phases:
    """Of one process, in order; growth is counted from `base`, the last one without data."""

    phases: Sequence[Phase]
    base: str

    @property
    def growth(self) -> int | None:
        """How far the peak rises above that of the base."""
        return self.grown(self.phases[-1])

    def grown(self, phase: Phase) -> int | None:
        """How far the peak has risen by the end of a phase."""
        base = next(p.peak for p in self.phases if p.name == self.base)
        return None if base is None or phase.peak is None else max(0, phase.peak - base)

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"phase": p.name, "held_bytes": p.held, "peak_bytes": p.peak, "growth_bytes": self.grown(p)}
            for p in self.phases
        ]


class Marks:
    """The file that phases are written to."""

    def __init__(self, file: str):
        self.file = file
        self.most: int | None = None

    def end_of(self, name: str) -> None:
        peak = peak_bytes()
        if peak is not None:  # the kernel's counters are not exact: its peak may be a little lower than before
            self.most = max(peak, self.most or 0)
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, held_bytes(), self.most]) + "\n")


def run_in_phases(function: str, base: str, *arguments: Any) -> Phases:
    """Runs `module:function` in a fresh interpreter; its first argument is the file of its marks."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "phases"
        run_apart(function, str(file), *arguments)
        return Phases([Phase(*json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()], base)


def held_bytes() -> int | None:
    """The memory this process holds now; None where the platform does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:")), None)
