"""Model files put together by hand, byte by byte, from the description of the format."""

from __future__ import annotations

import hashlib
import json


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def take_apart(raw):
    """The file's parts: description, entries of the header, data."""
    length = int.from_bytes(raw[:8], "little")
    entries = json.loads(raw[8 : 8 + length])
    return json.loads(entries.pop("__metadata__")["trellis"]), entries, raw[8 + length :]


def put_together(description, entries, data, write=canonical, upper=False):
    """A file whose digest is right. `write` makes the header's JSON; `upper` spells the digest in capitals."""
    text = description if isinstance(description, str) else canonical(description)

    def header(digest):
        body = write({"__metadata__": {"sha256": digest, "trellis": text}, **entries}).encode()
        body += b" " * (-len(body) % 8)
        return len(body).to_bytes(8, "little") + body

    digest = hashlib.sha256(header("0" * 64) + data).hexdigest()
    return header(digest.upper() if upper else digest) + data
