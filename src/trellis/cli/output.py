"""Where results go, a file or standard output, and what is said beside them."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from trellis.cli.console import say
from trellis.errors import FileAccessError, SettingError
from trellis.files import check_writable, replacing, same_file, write_all, write_atomically


def write_output(path: str | None, data: bytes) -> None:
    """Into a file, whole or not at all; without a name, or with `-`, to standard output."""
    if path is not None and path != "-":
        write_atomically(path, data)
        return
    if sys.stdout is None:
        raise FileAccessError("standard output is closed")
    sys.stdout.flush()
    write_all(sys.stdout.buffer, data)


def open_sink(path: str | None, stack: ExitStack) -> BinaryIO:
    """To write to bit by bit: a file that takes its name when all is written, or standard output."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise FileAccessError("standard output is closed")
        sys.stdout.flush()
        return sys.stdout.buffer
    return stack.enter_context(replacing(path))


def check_outputs(written: dict[str, str | None], read: Sequence[str]) -> None:
    """Whatever is wrong with the names of files to write (by option) and to read is said before the work begins."""
    if list(read).count("-") > 1:
        raise SettingError("standard input (-) can be read only once")
    given = {option: path for option, path in written.items() if path is not None and path != "-"}
    for option, path in given.items():
        if any(same_file(path, other) for other in read if other != "-"):
            raise SettingError(f"{option} {path} would overwrite what is read; give another name")
        check_writable(path)
    if len({os.path.realpath(path) for path in given.values()}) < len(given):
        raise SettingError(f"{' and '.join(given)} are one file; give different names")


def check_json(json: bool, output: str | None) -> None:
    """Data and JSON in one stream could be read as neither."""
    if json and output in (None, "-"):
        raise SettingError("the JSON would follow the data in standard output; give --output FILE with --json")


@contextmanager
def saying_warnings() -> Iterator[None]:
    """What the library warns of is said when the work is done, each thing once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"trellis: warning: {message}")


def counted(many: int, what: str) -> str:
    """1 sentence, 2,000 sentences."""
    return f"{many:,} {what}{'' if many == 1 else 's'}"


def announced(text: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    """The same as `tell`, but that a line is said before its first call: when the work begins."""
    ahead = [text]

    def told(what: str) -> None:
        while ahead:
            say(ahead.pop())
        tell(what)

    return told
