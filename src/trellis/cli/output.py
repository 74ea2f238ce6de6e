"""Where results go: a file, or standard output."""

from __future__ import annotations

import os
import sys

from trellis.errors import FileAccessError, SettingError
from trellis.files import check_writable, same_file, write_all, write_atomically


def write_output(path: str | None, data: bytes) -> None:
    """Into a file, whole or not at all; without a name, or with `-`, to standard output."""
    if path is not None and path != "-":
        write_atomically(path, data)
        return
    if sys.stdout is None:
        raise FileAccessError("standard output is closed")
    sys.stdout.flush()
    write_all(sys.stdout.buffer, data)


def check_outputs(written: dict[str, str | None], read: list[str]) -> None:
    """Whatever is wrong with the names of files to write (by option) is said before the work begins."""
    given = {option: path for option, path in written.items() if path is not None and path != "-"}
    for option, path in given.items():
        if any(same_file(path, other) for other in read if other != "-"):
            raise SettingError(f"{option} {path} would overwrite what is read; give another name")
        check_writable(path)
    if len({os.path.realpath(path) for path in given.values()}) < len(given):
        raise SettingError(f"{' and '.join(given)} are one file; give different names")
