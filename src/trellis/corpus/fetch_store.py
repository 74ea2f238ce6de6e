"""Where fetched corpora are kept, and how their files come and stay there whole."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from trellis.errors import FileAccessError, SettingError


def cache_folder() -> Path:
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


def corpus_folder(name: str) -> Path:
    """Where `fetch(name)` keeps a set unless told otherwise; it need not exist."""
    return cache_folder() / "corpora" / name


def has_digest(path: Path, sha256: str) -> bool:
    """Whether `path` is a file with that SHA-256. This, and no marker file, says that a file is complete."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError as error:
        raise FileAccessError(f"{path} cannot be read: {error.strerror or error}") from error


def read_at_most(path: Path, limit: int) -> bytes:
    """The first `limit` bytes of a file, and one more if there are more."""
    if not path.is_file():  # a pipe would wait for ever
        raise FileAccessError(f"{path} is not a file; move it away")
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise FileAccessError(f"{path} cannot be read: {error.strerror or error}") from error


def install(folder: Path, files: dict[str, bytes]) -> None:
    """Write `files` (name -> bytes) into `folder`: all under temporary names first, then renamed.

    Each name has its old or its new bytes at every moment, and a failure leaves no temporary behind. Two
    processes that install the same bytes do not disturb each other: their temporaries differ.
    """
    staged: dict[Path, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            temporary = folder / f".{name}.{secrets.token_hex(8)}.part"
            staged[temporary] = folder / name
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for temporary, final in staged.items():
            temporary.replace(final)
        _sync_folder(folder)
    except OSError as error:
        raise FileAccessError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        for temporary in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the renames outlast a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
