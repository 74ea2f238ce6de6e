"""The log of a run: one JSON object a line, each on disk as soon as it is known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

from trellis.errors import FileAccessError
from trellis.files import check_writable, write_all


class RunLog:
    """A file to read along with while a training runs. `append`: after what is there, for a run that goes on; else
    the first line takes the place of all that was there."""

    def __init__(self, path: str | Path, append: bool = False):
        self.path = Path(path)
        self._append = append
        self._file: BinaryIO | None = None
        if self.path.is_file() or self.path.is_dir() or not self.path.exists():  # no pipe and no device
            check_writable(path)

    def write(self, event: str, values: dict[str, Any]) -> None:
        """A line; what is no finite number is null."""
        line = json.dumps({"event": event, **_finite(values)}, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            self._file = self._file or self._opened()
            write_all(self._file, line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise FileAccessError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO:
        # unbuffered: a line is written by one call, so that no kill leaves half of one
        if not (self._append and self.path.is_file()):
            return self.path.open("wb", buffering=0)
        file = self.path.open("r+b", buffering=0)
        # behind the last whole line: a power cut may have left a part of one
        file.seek(file.read().rfind(b"\n") + 1)
        file.truncate()
        return file


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
