"""Labels of one encoding -> labels of another; of the same one, where they are ill-formed: repair.

Segments are read out of the labels and written anew. How ill-formed labels are read is named:

    conlleval   as conlleval reads them: I-X after O starts a segment, no token that is not O gets lost
    discard     not at all: only well-formed segments stay, what else there is becomes O
    strict      the first one is an error

From io to another encoding nothing is lost; the other way round, segments of one type that touch melt together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError, SettingError
from trellis.labels.encode import encoded
from trellis.labels.encoding import detect, illegal, known
from trellis.labels.gaps import is_gappy
from trellis.labels.packed import check_packed, occurring, place_in
from trellis.labels.reading import check_prefixes, read_segments, segment_types

I32 = NDArray[np.int32]

REPAIRS = ("conlleval", "discard", "strict")


@dataclass(frozen=True)
class Converted:
    """`ids I32[tokens]` into `labels`; the encoding they were of, how many segments there are, and how many labels were
    not as these segments are spelt in it."""

    ids: I32
    labels: list[str]
    encoding: str
    segments: int
    repaired: int


def convert(
    ids: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    to: str,
    repair: str = "conlleval",
    encoding: str | None = None,
) -> tuple[I32, list[str]]:
    """(ids I32[tokens], labels) of the same segments in the encoding `to`: O first, then all labels of each type that
    the given labels have, in order of the types' names.

    ids: int [tokens] into labels, offsets: int64 [sentences + 1]; `encoding` is theirs, detected if None.
    """
    found = converted(ids, labels, offsets, to, repair, encoding)
    return found.ids, found.labels


def converted(
    ids: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    to: str,
    repair: str = "conlleval",
    encoding: str | None = None,
) -> Converted:
    """As `convert`, and what there was to do."""
    tokens, bounds = check_packed(ids, offsets, len(labels))
    known(to)
    if repair not in REPAIRS:
        raise SettingError(f"unknown repair {repair!r}: expected one of {', '.join(REPAIRS)}")
    source = encoding_in(tokens, labels, bounds, encoding)
    if repair == "strict":
        own, used = occurring(tokens, labels)
        for token in illegal(used, own, bounds, source)[:1].tolist():
            raise DataError(f"{place_in(bounds, token)}: {ill_formed(labels[tokens[token]], source)}")
    segments = read_segments(tokens, labels, bounds, "conlleval" if repair == "conlleval" else "well-formed", source)
    kinds = segment_types(labels)
    mended, names = encoded(*segments, kinds, bounds, source)
    number = {name: j for j, name in enumerate(names)}
    before = np.array([number.get(label, -1) for label in labels], np.int64).take(tokens)
    written, written_labels = encoded(*segments, kinds, bounds, to)
    return Converted(written, written_labels, source, len(segments[0]), int(np.count_nonzero(before != mended)))


def encoding_in(
    tokens: NDArray[np.integer[Any]],
    labels: Sequence[str],
    offsets: NDArray[np.int64],
    encoding: str | None,
    whose: str = "the labels",
) -> str:
    """The encoding that labels are of: the one named, if they can be, or the one detected. SettingError for none, with
    `whose` labels they are."""
    found = detect(labels, tokens, offsets) if encoding is None else known(encoding)
    if found is None:
        if is_gappy(labels):
            raise SettingError(f"{whose} are of spans with gaps (gappy), which no other encoding can hold")
        some = ", ".join(map(repr, labels[:3]))
        raise SettingError(f"{whose} ({some}, ...) are of no segment encoding such as B-X, I-X, O; convert others")
    check_prefixes(tokens, labels, found)
    return found


def ill_formed(label: str, encoding: str) -> str:
    """What to say of a label that may not stand where it does."""
    return f"the label {label!r} may not stand there in {encoding}; mend it, or choose a repair: conlleval or discard"
