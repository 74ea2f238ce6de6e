"""Downloaded bytes -> the bytes of one text file: gzip, one member of a zip, or plain. All in memory.

Nothing is written here, so no name inside an archive can become a path, and what comes out is never more
than `limit` bytes, however small the archive and whatever sizes its headers claim.
"""

from __future__ import annotations

import io

from trellis.errors import DownloadError

_GZIP = b"\x1f\x8b"


def unpack(data: bytes, member: str | None, limit: int) -> bytes:
    """The text file in `data`: a zip's `member` when one is named, else gzip if it looks it, else as is."""
    if member is not None:
        return _unzip(data, member, limit)
    if data.startswith(_GZIP):
        return _gunzip(data, limit)
    return _within(data, limit)


def _within(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise DownloadError(f"unpacks to more than {limit} bytes, the most allowed here")
    return data


def _gunzip(data: bytes, limit: int) -> bytes:
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            text = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DownloadError(f"a damaged gzip file: {error}") from error
    return _within(text, limit)


def _unzip(data: bytes, member: str, limit: int) -> bytes:
    import zipfile
    import zlib

    damaged = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, OverflowError)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            info = archive.getinfo(member)
            # The other methods cannot be stopped at a size, so a small archive could fill the memory.
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DownloadError(f"{member} is compressed in an unknown way in the zip archive")
            with archive.open(info) as stream:
                text = stream.read(limit + 1)
    except KeyError:
        raise DownloadError(f"the zip archive has no {member}") from None
    except damaged as error:
        raise DownloadError(f"a damaged zip archive: {error}") from error
    return _within(text, limit)
