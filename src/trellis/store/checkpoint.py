"""The checkpoint of a training: one file in a folder, in the format of model files but of a kind of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trellis.errors import DamagedModelError, FileAccessError, NewerModelError
from trellis.files import check_writable
from trellis.store.file import CHECKPOINT, Tensors, read_model, write_model

_NAME = "training.checkpoint"
_VERSION = 1


class CheckpointFile:
    """`training.checkpoint` in a folder, which is made if it is not there."""

    def __init__(self, folder: str | Path):
        self.path = Path(folder) / _NAME

    def prepare(self) -> None:
        """Fails now, not after the first hour, when it could not be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileAccessError(
                f"{self.path.parent}: cannot be a folder for checkpoints: {error.strerror or error}"
            ) from None
        check_writable(self.path)

    def write(self, description: dict[str, Any], tensors: Tensors) -> None:
        """Replaces the checkpoint, atomically."""
        write_model(self.path, {**description, CHECKPOINT: _VERSION}, tensors)

    def read(self) -> tuple[dict[str, Any], Tensors] | None:
        """What was written; None when there is no checkpoint."""
        if not self.path.exists():
            return None
        description, tensors = read_model(self.path, CHECKPOINT)
        version = description.pop(CHECKPOINT)
        if type(version) is not int or version < 1:
            raise DamagedModelError(f"{self.path}: the version of the checkpoint is no number; delete it")
        if version > _VERSION:
            raise NewerModelError(f"{self.path}: written by a newer trellis; update it, or delete the checkpoint")
        del description["format"]
        return description, tensors
