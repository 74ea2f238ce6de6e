"""Answers on disk, so that no text is asked about, and paid for, twice: an SQLite file, one row a text.

A row is committed before the next answer is looked at, so what was answered outlasts `kill -9`; several processes may
use one file. Each row has a digest of its own, as SQLite does not see a changed byte. No key of any service is in it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from trellis.errors import DataError, FileAccessError

_OURS = 0x7472_7077  # application_id: whose file it is
_VERSION = 1
_PATIENCE = 60.0  # seconds to wait for another process
_AT_ONCE = 500  # keys in one question


def key_of(parts: object) -> str:
    """SHA-256 over everything that determines an answer."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Cache:
    """A file of answers, `key -> any JSON`; nothing is kept where there is no path."""

    def __init__(self, path: str | Path | None):
        self.path = path
        self._file: sqlite3.Connection | None = None

    def __enter__(self) -> Cache:
        if self.path is not None:
            path = Path(self.path).absolute()  # so that no name means something else to SQLite
            if not _can_be_file(path):
                raise FileAccessError(f"{self.path!r} cannot be the cache; expected a file in a folder that exists")
            with self._failing():
                self._file = sqlite3.connect(path, _PATIENCE, isolation_level=None)
            try:
                self._prepare(self._file)
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _prepare(self, file: sqlite3.Connection) -> None:
        with self._failing():
            file.execute("BEGIN IMMEDIATE")  # of several processes one makes the table
            whose = file.execute("PRAGMA application_id").fetchone()[0]
            version = file.execute("PRAGMA user_version").fetchone()[0]
            empty = not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if empty and not whose:
                file.execute(f"PRAGMA application_id = {_OURS}")
                file.execute(f"PRAGMA user_version = {_VERSION}")
                file.execute("CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT, digest TEXT) WITHOUT ROWID")
            file.execute("COMMIT")
        if not (empty and not whose) and (whose, version) != (_OURS, _VERSION):
            raise DataError("no cache of answers of this version; give another name", self.path)

    def check(self) -> None:
        """That it can be written to, before there is something to lose."""
        if self._file is not None:
            with self._failing():
                self._file.execute(f"PRAGMA user_version = {_VERSION}")

    def get(self, keys: Iterable[str], read: Callable[[Any], Any] = lambda answer: answer) -> dict[str, Any]:
        """The answers to those of the keys that have one, as `read` reads them (ValueError: it cannot)."""
        every = list(dict.fromkeys(keys))
        found: dict[str, Any] = {}
        if self._file is None:
            return found
        for a in range(0, len(every), _AT_ONCE):
            some = every[a : a + _AT_ONCE]
            wanted = f"SELECT key, answer, digest FROM answers WHERE key IN ({','.join('?' * len(some))})"
            with self._failing():
                rows = self._file.execute(wanted, some).fetchall()
            for key, answer, digest in rows:
                if not isinstance(answer, str) or digest != _digest(key, answer):
                    raise self._damaged("an answer is not as it was written")
                try:
                    found[key] = read(json.loads(answer))
                except ValueError:
                    raise self._damaged("an answer is of another kind") from None
        return found

    def put(self, answers: Mapping[str, Any]) -> None:
        """Keeps answers; when this returns they are on disk."""
        if self._file is None or not answers:
            return
        spelt = [(key, json.dumps(answer)) for key, answer in answers.items()]
        rows = [(key, answer, _digest(key, answer)) for key, answer in spelt]
        with self._failing():
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            self._file.execute("COMMIT")

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.OperationalError) and not _of_content(error):
                what = f"{self.path}: the cache cannot be used: {error}"
                raise FileAccessError(
                    f"{what}; it has to be a file to write to, in a folder to write to, that nobody else holds for long"
                ) from None
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise DataError(
                    f"no cache of answers, or one whose beginning is damaged ({error}); give another name, or remove "
                    "it if it was a cache",
                    self.path,
                ) from None
            raise self._damaged(str(error)) from None
        except (UnicodeDecodeError, ValueError) as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, what: str) -> DataError:
        return DataError(f"the cache is damaged ({what}); remove it, and all is asked anew", self.path)


def _can_be_file(path: Path) -> bool:
    try:
        return path.parent.is_dir() and not path.is_dir()
    except (OSError, ValueError):  # no name that a file may have
        return False


def _of_content(error: sqlite3.OperationalError) -> bool:
    """Whether it is the content of the file that does not fit, not the access to it."""
    said = str(error)
    return any(
        part in said for part in ("no such", "malformed", "decode", "has ", "values for", "syntax", "unsupported")
    )


def _digest(key: str, answer: str) -> str:
    return hashlib.sha256(f"{key} {answer}".encode()).hexdigest()[:32]
