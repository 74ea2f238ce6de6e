"""Lines of the files that functions look things up in, one at a time, with errors that say file and line."""

from __future__ import annotations

from collections.abc import Iterator

from trellis.errors import DataError, FileAccessError
from trellis.files import open_bytes

MAX_LINE = 1 << 20  # bytes; a longer line is a binary file or a mistake
_BOM = b"\xef\xbb\xbf"


def numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that hold anything but white space, with their numbers from 1 on.

    As bytes, so that a reader decodes only what it keeps; memory is that of one line.
    """
    number = 0
    with open_bytes(path) as file:
        while True:
            try:
                line = file.readline(MAX_LINE + 1)
            except OSError as error:
                raise FileAccessError(f"{path}: cannot be read: {error.strerror or error}") from None
            if not line:
                return
            number += 1
            if len(line) > MAX_LINE:
                what = f"a line of more than {MAX_LINE:,} bytes; is this a text file with one entry a line?"
                raise DataError(what, path, number)
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.isspace() and line:
                yield number, line


def decoded(raw: bytes, path: str, line: int) -> str:
    """Bytes of a line as text."""
    if b"\0" in raw:
        raise DataError("a NUL byte; text in UTF-8 is expected (UTF-16 or a binary file?)", path, line)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"byte 0x{raw[error.start]:02x} is not valid UTF-8; convert the file (for example with iconv)"
        raise DataError(what, path, line) from None
