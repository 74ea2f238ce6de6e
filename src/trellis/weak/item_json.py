"""JSON out of files that may hold anything: objects, or one clear error with file and line."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, cast

from trellis.errors import DataError, FileAccessError, TrellisError
from trellis.files import open_bytes
from trellis.weak.itemset import Record

MAX_LINE = 64 << 20  # bytes; what is longer is hardly an item, and would fill the memory before it is refused
BOM = b"\xef\xbb\xbf"


@contextmanager
def opened(path: str | Path) -> Iterator[io.BufferedReader]:
    file = open_bytes(path)
    with file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", file)) as buffered:
        try:
            yield buffered
        except OSError as error:
            if isinstance(error, TrellisError):
                raise
            raise FileAccessError(f"{path}: cannot be read: {error.strerror or error}") from None


def lines_of(file: io.BufferedReader) -> Iterator[bytes]:
    """Lines; of one that is longer than MAX_LINE, more than that at least."""
    return iter(lambda: file.readline(MAX_LINE + 1), b"")


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refused(digits)


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


def decoded(data: bytes, path: str | Path, line: int = 1) -> Any:
    """The JSON value in bytes that begin at a line of a file, or DataError."""
    if b"\0" in data:
        at = line + data[: data.index(b"\0")].count(b"\n")
        raise DataError("a NUL byte; JSON in UTF-8 is expected (UTF-16 or a binary file?)", path, at)
    try:
        value = _DECODER.decode(data.decode("utf-8"))
        if b"\\ud" in data or b"\\uD" in data:  # half of a pair of surrogates could never be written again
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        at, found = line + data[: error.start].count(b"\n"), data[error.start]
        what = f"byte 0x{found:02x} is not valid UTF-8; convert the file (for example with iconv)"
        raise DataError(what, path, at) from None
    except UnicodeEncodeError:
        raise DataError("half of a pair of surrogates (\\ud800 to \\udfff) is no character", path, line) from None
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg}; expected an object a line, or one of WRENCH's files"
        raise DataError(what, path, line + error.lineno - 1, error.colno) from None
    except RecursionError:
        raise DataError("the JSON is nested too deeply", path, line) from None
    except ValueError as error:  # NaN, or a number of thousands of digits
        raise DataError(f"the JSON cannot be read: {error}", path, line) from None
    return value


def records_of(lines: Iterable[bytes], path: str | Path, text: str | None) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise DataError(f"a line of more than {MAX_LINE:,} bytes; expected one item a line", path, number)
        if not line.strip():
            continue
        record = decoded(line.rstrip(b"\r\n"), path, number)
        if not isinstance(record, dict):
            raise DataError(f"{kind_of(record)}; expected an object a line: {{...}}", path, number)
        check_text(record, text, path, number, "the item")
        yield number, record


def check_text(record: Record, text: str | None, path: str | Path, line: int | None, whose: str) -> None:
    if text is not None and not isinstance(record.get(text), str):
        found = f"{text!r} is {kind_of(record[text])}" if text in record else f"there is no {text!r}"
        raise DataError(f"{found} in {whose}; expected a string: name the field that has the text", path, line)


def kind_of(value: object) -> str:
    """What was found, in JSON's words; not all of it, which may be long."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
