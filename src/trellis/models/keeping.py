"""Where the trainings of a model that has several are written down, and who hears of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trellis.models.fitting import Fitting
from trellis.training import Progress


@dataclass(frozen=True)
class Keeping:
    """Where trainings are written down, and who hears of them: see `CRF.fit`."""

    checkpoint: str | Path | None = None
    resume: bool = False
    every: int | None = None
    log: str | Path | None = None
    progress: Callable[[Progress], None] | None = None

    def fitting(self, settings: Any, name: str, kind: type[Fitting] = Fitting) -> Fitting:
        """For one of the trainings, with a folder and a file of its own."""
        name = quote(name, safe=" ").replace("..", "%2E%2E")  # a target may be anything
        folder = None if self.checkpoint is None else Path(self.checkpoint) / name
        log = None if self.log is None else Path(self.log).with_name(f"{Path(self.log).stem}.{name}.jsonl")
        return kind(settings, folder, self.resume, self.every, log, self.progress)

    def only(self, settings: Any) -> Fitting:
        """For a training that is the only one."""
        return Fitting(settings, self.checkpoint, self.resume, self.every, self.log, self.progress)
