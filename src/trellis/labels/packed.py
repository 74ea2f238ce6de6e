"""Sentences laid end to end: one integer per token and the offsets of the sentences.

    ids      int   [tokens]          index into a list of labels
    offsets  int64 [sentences + 1]   sentence s is ids[offsets[s]:offsets[s + 1]]; may be empty

An id out of range would wrap around or crash far from its cause, so every public function that takes
such arrays checks them here first. The check reads each array once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError


def check_packed(
    ids: ArrayLike, offsets: ArrayLike, labels: int, name: str = "ids"
) -> tuple[NDArray[np.integer[Any]], NDArray[np.int64]]:
    """`ids` [tokens] and `offsets` [sentences + 1] as arrays, or DataError when they do not fit together.

    `labels` is the number of labels, `name` what the message calls `ids`. Nothing is copied unless a
    conversion needs it.
    """
    checked, bounds = _integers(ids, name), check_offsets(offsets)
    if bounds[-1] != checked.size:
        raise DataError(f"{name} has {checked.size} tokens but offsets end at {bounds[-1]}: these must be equal")
    if checked.size and (checked.min() < 0 or checked.max() >= labels):
        raise DataError(
            f"{name} runs from {checked.min()} to {checked.max()}, but there are {labels} labels: "
            f"expected 0 to {labels - 1}"
        )
    return checked, bounds


def check_offsets(offsets: ArrayLike) -> NDArray[np.int64]:
    """[sentences + 1] as an array, or DataError."""
    bounds = _integers(offsets, "offsets").astype(np.int64, copy=False)
    if bounds.size == 0 or bounds[0] != 0:
        raise DataError("offsets do not start with 0: pass [0] for no sentence, else one more than sentences")
    if np.any(bounds[1:] < bounds[:-1]):
        raise DataError("offsets go backwards: each must be at least the one before it")
    return bounds


def occurring(ids: NDArray[np.integer[Any]], labels: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The same with only those labels that occur, in their order; `ids` [tokens] already checked."""
    used = np.bincount(ids, minlength=len(labels)) > 0
    return (np.cumsum(used) - 1).take(ids), [label for label, occurs in zip(labels, used, strict=True) if occurs]


def runs(offsets: NDArray[np.int64], tokens: int) -> list[tuple[int, int]]:
    """Cuts sentences into consecutive runs (first, last) of about so many tokens, at least one sentence each."""
    out, first = [], 0
    while first < len(offsets) - 1:
        goal = int(offsets[first]) + tokens
        last = max(first + 1, int(np.searchsorted(offsets, goal, side="right")) - 1)
        out.append((first, last))
        first = last
    return out


def by_sentence(rows: NDArray[Any], offsets: NDArray[np.int64]) -> list[NDArray[Any]]:
    """The rows of each sentence, in the memory of all."""
    return [rows[a:b] for a, b in pairwise(offsets.tolist())]


def place_in(offsets: NDArray[np.int64], token: int) -> str:
    """Where a token is, for people: its sentence, and which of its tokens it is, both counted from 1."""
    s = int(np.searchsorted(offsets, token, side="right"))
    return f"sentence {s}, token {token - int(offsets[s - 1]) + 1}"


def first_tokens(offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool [tokens], True at the first token of each sentence; `offsets` [sentences + 1] already checked."""
    first = np.zeros(int(offsets[-1]), dtype=np.bool_)
    starts = offsets[:-1]
    # An empty sentence shares its offset with its successor; empty ones at the end point past the tokens.
    first[starts[starts < first.size]] = True
    return first


def ranges(start: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, ... of each, as many as its length says: [sum of lengths]."""
    return np.repeat(start - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))


def _integers(values: ArrayLike, name: str) -> NDArray[np.integer[Any]]:
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise DataError(f"{name} is no list of numbers: expected one dimension of integers") from None
    if array.size == 0:  # an empty list arrives as float64
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(f"{name} has shape {array.shape} and type {array.dtype}: expected one dimension of integers")
    return array
