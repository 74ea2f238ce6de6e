"""Files: opened with one clear error, written so that the old one or the new one is there, whole."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trellis.errors import FileAccessError, SettingError, TrellisError


def cache_home() -> Path:
    """$TRELLIS_CACHE, else `trellis` in the XDG cache folder ($XDG_CACHE_HOME or ~/.cache)."""
    ours = os.environ.get("TRELLIS_CACHE")
    if ours:
        return Path(ours).expanduser()
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg.is_absolute():  # the XDG specification: relative paths are to be ignored
        return xdg / "trellis"
    try:
        return Path.home() / ".cache" / "trellis"
    except RuntimeError:
        raise SettingError("there is no home folder for the cache; set TRELLIS_CACHE to a folder") from None


def open_bytes(path: str | Path) -> BinaryIO:
    """A file to read (`-`: standard input, unbuffered), or one clear error for whatever prevents it."""
    if str(path) == "-":
        if sys.stdin is None:
            raise FileAccessError("standard input is closed")
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    try:
        # what comes from a pipe is to be had as it comes
        return open(path, "rb", buffering=-1 if Path(path).is_file() else 0)
    except IsADirectoryError:
        raise FileAccessError(f"{path}: is a directory; a file is needed") from None
    except FileNotFoundError:
        raise FileAccessError(f"{path}: no such file") from None
    except ValueError:  # a NUL in the name
        raise FileAccessError(f"{str(path)!r} cannot be the name of a file") from None
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be read: {error.strerror or error}") from None


def write_all(file: BinaryIO, data: bytes | memoryview) -> None:
    """Writes every byte, also where one write may take only a part (an unbuffered file, a full disk)."""
    view = memoryview(data)
    while view:
        written = file.write(view)
        if not written:
            raise FileAccessError("the output takes nothing more just now")
        view = view[written:]
    file.flush()


def read_bytes(path: str | Path) -> bytes:
    """All bytes of a file or of standard input."""
    with open_bytes(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise FileAccessError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write that takes the name `path` when all is written and on disk, and leaves no trace otherwise.

    Temporary file in the same folder, write, fsync, rename, fsync the folder. Two processes that replace one
    file do not disturb each other: their temporaries differ.
    """
    target = Path(path)
    _check_target(target)
    final = target.resolve()  # through a link, so that what it points to is replaced and the link stays
    temporary = final.with_name(f".{final.name}.{secrets.token_hex(8)}.part")
    try:
        if final.exists() and not final.is_file():  # a pipe or a device is written to, never replaced
            with final.open("wb", buffering=0) as file:
                yield file
            return
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if final.exists():
            temporary.chmod(final.stat().st_mode & 0o777)
        temporary.replace(final)
        _sync_folder(final.parent)
    except OSError as error:
        if isinstance(error, TrellisError | BrokenPipeError):
            raise
        raise FileAccessError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_atomically(path: str | Path, data: bytes) -> None:
    """Replaces a file's content; killed at any moment, the old or the new file is there, whole."""
    with replacing(path) as file:
        write_all(file, data)


def install(folder: Path, texts: Mapping[str, bytes]) -> None:
    """Writes files (name -> bytes) into a folder; all are written before the first is renamed."""
    with ExitStack() as stack:
        for name, data in texts.items():
            write_all(stack.enter_context(replacing(folder / name)), data)


def same_file(a: str | Path, b: str | Path) -> bool:
    """Whether two names stand for one existing file."""
    try:
        return os.path.samefile(a, b)
    except (OSError, ValueError):  # ValueError: what can be no name of a file
        return False


def check_writable(path: str | Path) -> None:
    """Fails now, not after an hour of training, when the file could not be written."""
    target = Path(path)
    _check_target(target)
    try:
        with tempfile.TemporaryFile(dir=target.resolve().parent):
            pass
    except OSError as error:
        raise FileAccessError(f"{path}: cannot be written: {error.strerror or error}") from None


def _check_target(target: Path) -> None:
    if str(target) == "-":
        raise FileAccessError("-: standard output cannot be written to here; give a file name")
    if target.is_dir():
        raise FileAccessError(f"{target}: is a directory; a file name is needed")
    if not target.resolve().parent.is_dir():
        raise FileAccessError(f"{target}: the folder {target.parent} does not exist")


def _sync_folder(folder: Path) -> None:
    """Makes the renames outlast a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
