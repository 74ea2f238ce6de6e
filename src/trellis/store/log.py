"""The log of a run: one JSON object a line, each on disk as soon as it is known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from trellis.errors import FileAccessError
from trellis.files import write_all


class RunLog:
    """A file to read along with while a training runs. `append`: after what is there, for a run that goes on."""

    def __init__(self, path: str | Path, append: bool = False):
        self.path = path
        if str(path) == "-":
            raise FileAccessError("-: a log cannot go to standard output; give a file name")
        append = append and Path(path).is_file()
        try:
            # unbuffered: a line is written by one call, so that no kill leaves half of one
            self._file = open(path, "r+b" if append else "wb", buffering=0)  # noqa: SIM115  closed by `close`
            if append:
                self._to_the_end()
        except OSError as error:
            raise FileAccessError(f"{path}: cannot be written: {error.strerror or error}") from None

    def write(self, event: str, values: dict[str, Any]) -> None:
        """A line; what is no finite number is null."""
        line = json.dumps({"event": event, **_finite(values)}, ensure_ascii=False, allow_nan=False) + "\n"
        try:
            write_all(self._file, line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise FileAccessError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        self._file.close()

    def _to_the_end(self) -> None:
        """Behind the last whole line: a power cut may have left a part of one."""
        raw = self._file.read()
        self._file.seek(raw.rfind(b"\n") + 1)
        self._file.truncate()


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
