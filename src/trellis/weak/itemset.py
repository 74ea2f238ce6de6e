"""Items, texts for instance, that are classified as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.weak.votes import Votes

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Record = dict[str, Any]


@dataclass(frozen=True)
class Items:
    """`records`: all fields of each item but the votes, which are `votes` (None where no item has any); `gold
    I32[items]` into `labels`, -1 where unknown (None where all are). `text` is the field that holds the text."""

    records: list[Record]
    votes: Votes | None
    gold: I32 | None
    labels: tuple[str, ...]
    text: str | None = "text"
    path: str | Path | None = None
    lines: I64 | None = field(default=None, repr=False)
    named: frozenset[str] = frozenset()  # functions that items name, though they may all abstain

    def __len__(self) -> int:
        return len(self.records)

    @property
    def texts(self) -> list[str]:
        return [] if self.text is None else [record[self.text] for record in self.records]

    def line(self, item: int) -> int | None:
        """Where an item stands in its file, if it has a line of its own."""
        return None if self.lines is None else int(self.lines[item])
