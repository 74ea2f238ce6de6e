"""The model file: one valid safetensors file that trusts nothing.

    8 bytes   length of the header, little-endian
    header    JSON in one canonical form, filled with spaces to a multiple of eight bytes: {"__metadata__":
              {"sha256": ..., "trellis": ...}, NAME: {"data_offsets": [a, b], "dtype": ..., "shape": [...]}, ...}
    data      the tensors without gaps, those of the largest items first

`sha256` is the digest of the whole file with 64 zeros in its place. `trellis` is the model's description, itself JSON
in canonical form, with the format's version. On reading, the header is rebuilt from what it says and must be the same
bytes; so every changed byte is seen, and nothing is left for a reader to be lenient about. The files are written and
read here rather than by the safetensors package, which does neither of the two; a test reads them with it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.errors import CheckpointError, DamagedModelError, FileAccessError, NewerModelError
from trellis.files import read_bytes, replacing, write_all

FORMAT = 3
MODEL = "model"
CHECKPOINT = "checkpoint"
_REMEDIES = {MODEL: "restore it or train it again", CHECKPOINT: "delete it and train from the beginning"}
_INSTEAD = {
    MODEL: "to go on from its weights use warm_start (--warm-start)",
    CHECKPOINT: "finish the training with --resume to get a model",
}
_MOST_HEADER = 16 << 20
_ZEROS = "0" * 64
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U16": "<u2", "U8": "|u1"}
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}

Tensors = dict[str, NDArray[Any]]


def to_bytes(description: dict[str, Any], tensors: Tensors) -> bytes:
    """A model's description and tensors -> the bytes of its file."""
    return b"".join(_laid_out(description, tensors))


def from_bytes(raw: bytes, path: str | Path = "model", kind: str = MODEL) -> tuple[dict[str, Any], Tensors]:
    """The bytes of a file -> description and tensors, or one typed error."""

    def damaged(what: str) -> DamagedModelError:
        return DamagedModelError(f"{path}: not a whole Trellis {kind}: {what}; {_REMEDIES[kind]}")

    if len(raw) < 8:
        raise damaged("it is shorter than a header")
    length = int.from_bytes(raw[:8], "little")
    if length > min(_MOST_HEADER, len(raw) - 8):
        raise damaged("its header is cut off or is none")
    # in memory that can be written: a kernel would be compiled once more for arrays that cannot
    head, data = raw[: 8 + length], bytearray(memoryview(raw)[8 + length :])
    try:
        entries = json.loads(head[8:].decode("ascii"))
        metadata = entries.pop("__metadata__")
        text, found = metadata["trellis"], metadata["sha256"]
        description = json.loads(text)
        version = description["format"]
        if type(version) is not int or version < 1:
            raise damaged("its format version is no number")
        if version > FORMAT:
            raise NewerModelError(
                f"{path}: format version {version} is newer than this program knows ({FORMAT}); update trellis"
            )
        canonical = _header(text, found, entries) == head and _canonical(description) == text
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise damaged("its header cannot be read") from None
    if not canonical or len(metadata) != 2:
        raise damaged("its header is not in canonical form")
    if _digest(_header(text, _ZEROS, entries), [data]) != found:
        raise damaged("its checksum does not match its content")
    try:
        tensors = _tensors(entries, data)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise damaged("its tensors do not fit its data") from None
    return description, tensors


def write_model(path: str | Path, description: dict[str, Any], tensors: Tensors) -> None:
    """Saves atomically: killed at any moment, the old or the new file is there, whole."""
    with replacing(path) as file:
        for part in _laid_out(description, tensors):
            write_all(file, part)


def read_model(path: str | Path, kind: str = MODEL) -> tuple[dict[str, Any], Tensors]:
    """Loads and checks a file of this kind."""
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise FileAccessError(f"{path}: is not a file; a {kind} file is needed")
    description, tensors = from_bytes(read_bytes(path), path, kind)
    found = CHECKPOINT if CHECKPOINT in description else MODEL
    if found != kind:
        raise CheckpointError(f"{path}: is a {found}, not a {kind}; {_INSTEAD[found]}")
    return description, tensors


def _laid_out(description: dict[str, Any], tensors: Tensors) -> list[bytes | memoryview]:
    """The header, and the data of each tensor where it is: a checkpoint may be as large as all else in memory."""
    ordered = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    entries, parts, at = {}, [], 0
    for name in ordered:
        values = np.ascontiguousarray(tensors[name])
        little = values.astype(values.dtype.newbyteorder("<"), copy=False)
        parts.append(little.reshape(-1).view(np.uint8).data)
        entries[name] = {
            "dtype": _NAMES[values.dtype],
            "shape": list(tensors[name].shape),
            "data_offsets": [at, at + values.nbytes],
        }
        at += values.nbytes
    text = _canonical({"format": FORMAT, **description})
    return [_header(text, _digest(_header(text, _ZEROS, entries), parts), entries), *parts]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _header(text: str, digest: str, entries: dict[str, Any]) -> bytes:
    body = _canonical({"__metadata__": {"sha256": digest, "trellis": text}, **entries}).encode("ascii")
    body += b" " * (-len(body) % 8)
    return len(body).to_bytes(8, "little") + body


def _digest(head: bytes, parts: Sequence[bytearray | memoryview]) -> str:
    digest = hashlib.sha256(head)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _tensors(entries: dict[str, Any], data: bytearray) -> Tensors:
    tensors: Tensors = {}
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1]["data_offsets"], item[0])):
        first, last = entry["data_offsets"]
        dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), entry["shape"]
        numbers = (first, last, *shape)
        if len(entry) != 3 or len(shape) > 8 or not all(type(n) is int and 0 <= n < 1 << 48 for n in numbers):
            raise ValueError
        if first != at or last - first != math.prod(shape) * dtype.itemsize or last > len(data):
            raise ValueError
        tensors[name] = np.frombuffer(data, dtype, math.prod(shape), first).reshape(shape)
        at = last
    if at != len(data):
        raise ValueError
    return tensors
