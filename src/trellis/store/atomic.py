"""Writing a file so that whoever reads it finds the old one or the new one, whole, whatever happens."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from trellis.errors import FileAccessError


def write_atomically(path: str | Path, data: bytes) -> None:
    """Temporary file in the same folder, write, fsync, rename, fsync the folder."""
    target = Path(path)
    temporary: str | None = None
    try:
        if target.is_dir():
            raise FileAccessError(f"{path}: is a directory; a file name is needed")
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
        temporary = None
        _sync_folder(target.parent)
    except FileAccessError:
        raise
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def check_writable(path: str | Path) -> None:
    """Fails now, not after an hour of training, when the file could not be written."""
    target = Path(path)
    if target.is_dir():
        raise FileAccessError(f"{path}: is a directory; a file name is needed")
    if not target.parent.is_dir():
        raise FileAccessError(f"{path}: the folder {target.parent} does not exist")
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be written: {error.strerror}") from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
