"""Where fetched corpora are kept, and how their files come and stay there whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

from trellis import files
from trellis.errors import FileAccessError


def corpus_folder(name: str) -> Path:
    """Where `fetch(name)` keeps a set unless told otherwise; it need not exist."""
    return files.cache_home() / "corpora" / name


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


def install(folder: Path, texts: dict[str, bytes]) -> None:
    """Writes texts (name -> bytes) into the folder, each whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files.install(folder, texts)
    except OSError as error:
        raise FileAccessError(f"{folder} cannot be written: {error.strerror or error}") from error
