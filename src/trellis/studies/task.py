"""What both systems are given: files, columns, target, features and prior."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from trellis.corpus.fetch_store import corpus_folder
from trellis.errors import FileAccessError, SettingError
from trellis.features import templates_for
from trellis.studies.crfsuite import Pattern


@dataclass(frozen=True)
class Task:
    """`columns` name those of the files from left to right. The objective is CRFsuite's: loss + c2 * |theta|^2."""

    train: Path
    columns: tuple[str, ...] = ("word", "pos", "chunk")
    target: str = "chunk"
    features: str = "chunking"
    c2: float = 1.0

    def __post_init__(self) -> None:
        if not self.train.is_file():
            raise FileAccessError(f"{self.train}: no such file; give a column file to train on")
        if self.target not in self.columns:
            raise SettingError(f"unknown target '{self.target}'; the columns are: {', '.join(self.columns)}")
        if not (math.isfinite(self.c2) and self.c2 >= 0):
            raise SettingError(f"c2 is {self.c2}; expected a number >= 0")

    @property
    def l2(self) -> float:
        """The same prior in Trellis' terms, l2 / 2 * |theta|^2."""
        return 2.0 * self.c2

    def patterns(self) -> list[Pattern]:
        """The templates as CRFsuite's side needs them: literal text around columns at offsets."""
        names = [name for name in self.columns if name != "_"]
        out: list[Pattern] = []
        for template in templates_for(self.features, names, self.target):
            if any(part.view.function != "x" or part.absolute for part in template.parts):
                raise SettingError(f"'{template.text}': the comparison knows templates of %x only")
            parts = [(part.row, self.columns.index(part.view.column)) for part in template.parts]
            out.append((list(template.literals), parts))
        return out


def check_counts(**counts: int) -> None:
    """Refuses numbers, of runs or of threads, with which nothing would be run."""
    for name, count in counts.items():
        if count < 1:
            raise SettingError(f"{name} is {count}; expected a whole number >= 1")


def default_file(name: str) -> Path:
    """CoNLL-2000's `train.txt` or `test.txt`, where it is kept on this machine."""
    home = os.environ.get("TRELLIS_DATA")
    for folder in [*([Path(home) / "conll2000"] if home else []), corpus_folder("conll2000")]:
        if (folder / name).is_file():
            return folder / name
    raise SettingError(
        f"no data given, and CoNLL-2000's {name} is not in $TRELLIS_DATA/conll2000; name the files, or get them "
        "with `trellis data get conll2000`"
    )
