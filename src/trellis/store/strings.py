"""Lists of strings as two tensors: UTF-8 bytes and offsets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from trellis.errors import DataError
from trellis.store.file import Tensors


def put_strings(tensors: Tensors, name: str, strings: Sequence[str]) -> None:
    """Adds NAME.bytes: U8[all] and NAME.offsets: I64[strings + 1]."""
    try:
        encoded = [s.encode("utf-8") for s in strings]
    except UnicodeEncodeError as error:
        raise DataError(f"{error.object!r} cannot be saved: it holds half of a surrogate pair") from None
    tensors[f"{name}.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
    tensors[f"{name}.offsets"] = np.concatenate([[0], np.cumsum([len(e) for e in encoded])]).astype(np.int64)


def get_strings(tensors: Tensors, name: str, distinct: bool = True) -> list[str]:
    """Takes the strings out again, all different if asked for. Raises ValueError or KeyError for anything else."""
    data, offsets = tensors.pop(f"{name}.bytes"), tensors.pop(f"{name}.offsets")
    if data.dtype != np.uint8 or offsets.dtype != np.int64 or data.ndim != 1 or offsets.ndim != 1:
        raise ValueError(f"{name} is no list of strings")
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(data) or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"the offsets of {name} are out of range")
    raw, cuts = data.tobytes(), offsets.tolist()
    strings = [raw[a:b].decode("utf-8") for a, b in itertools.pairwise(cuts)]
    if distinct and len(set(strings)) != len(strings):
        raise ValueError(f"{name} has a string twice")
    return strings
