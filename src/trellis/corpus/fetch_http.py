"""One URL -> its bytes, within a size, a silence and a time limit. Every failure is one DownloadError.

Only http and https are spoken: a redirect, or a mirror somebody set, cannot make this read a local file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from trellis.errors import DownloadError, SettingError

if TYPE_CHECKING:
    import http.client
    import urllib.request

Progress = Callable[[int, "int | None", str], object]
"""Called as progress(bytes so far, bytes in all or None when unknown, what is downloaded)."""

TIMEOUT = 30.0  # seconds without a byte
DEADLINE = 900.0  # seconds for one file, against servers that drip
CHUNK = 1 << 16


def download(url: str, limit: int, label: str, progress: Progress | None = None) -> bytes:
    """The body at `url`, at most `limit` bytes; `label` is what `progress` is told."""
    end = time.monotonic() + DEADLINE
    body = bytearray()
    with closing(_open(url)) as response:
        total = response.length
        if total is not None and total > limit:
            raise DownloadError(f"{total} bytes, more than the {limit} allowed here")
        if progress is not None:
            progress(0, total, label)
        while total is None or len(body) < total:
            chunk = _read(response)
            if not chunk:
                break
            body += chunk
            if progress is not None:
                progress(len(body), total, label)
            if len(body) > limit:
                raise DownloadError(f"more than the {limit} bytes allowed here")
            if time.monotonic() > end:
                raise DownloadError(f"not finished after {DEADLINE:.0f} seconds")
    if total is not None and len(body) < total:
        raise DownloadError(f"the connection closed after {len(body)} of {total} bytes")
    return bytes(body)


def through_mirror(url: str, mirror: str | None) -> str:
    """`url` with its scheme and host replaced by `mirror`, which may end in a path of its own."""
    from urllib.parse import urlsplit

    if not mirror:
        return url
    base = urlsplit(mirror)
    if base.scheme not in ("http", "https") or not base.netloc or "@" in base.netloc:
        raise SettingError("the mirror must be an address like https://host/path, without user or password")
    path = urlsplit(url)._replace(scheme="", netloc="").geturl()
    return f"{base.scheme}://{base.netloc}{base.path.rstrip('/')}{path}"


def _opener() -> urllib.request.OpenerDirector:
    """What urllib would use, less the handlers for files, ftp and data URLs."""
    import urllib.request as request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    opener.addheaders = [("User-Agent", "trellis-data-get")]
    return opener


def _open(url: str) -> http.client.HTTPResponse:
    import http.client
    import urllib.error

    try:
        response: http.client.HTTPResponse = _opener().open(url, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadError(f"the server answered {error.code} {_line(error.reason)}") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"no connection: {_line(error.reason)}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DownloadError(f"no connection: {_line(error)}") from error
    return response


def _read(response: http.client.HTTPResponse) -> bytes:
    """What has arrived, at most one chunk; empty at the end."""
    import http.client

    try:
        return response.read1(CHUNK)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DownloadError(f"the connection broke: {_line(error)}") from error


def _line(reason: object) -> str:
    """Somebody else's words on one short line."""
    text = str(reason) or type(reason).__name__
    return "".join(c if c.isprintable() else " " for c in text)[:200].strip()
