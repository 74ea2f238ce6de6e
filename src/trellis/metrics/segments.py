"""Segments that two labellings have in common, by type; how labels are read is said in `trellis.labels.reading`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trellis.labels import check_packed, detect, illegal, read_segments, segment_types
from trellis.labels.packed import occurring
from trellis.labels.reading import spelling_of

__all__ = ["Counts", "encoding_of", "segment_counts", "segment_types", "segments", "spelling_of"]

segments = read_segments


class Counts(NamedTuple):
    """Segments of one type: in the gold labels, in the predicted ones, in both with the same bounds."""

    gold: int
    predicted: int
    correct: int


def segment_counts(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    reading: str = "conlleval",
    encoding: str | None = None,
) -> dict[str, Counts]:
    """Counts by type, for the types that occur, sorted by name.

    gold, predicted: int [tokens] into labels, offsets: int64 [sentences + 1]. A predicted segment is correct
    when a gold one has the same start, end and type. The strict reading is of one encoding for both, that of the
    gold labels if it is not named.
    """
    types = segment_types(labels)
    if reading != "conlleval" and encoding is None:
        encoding = encoding_of(gold, labels, offsets)
    start, end, kind = segments(gold, labels, offsets, reading, encoding)
    start2, end2, kind2 = segments(predicted, labels, offsets, reading, encoding)
    # Segments of one labelling have distinct starts, so a look-up by start finds the only candidate.
    tokens = np.size(np.asarray(gold))
    end_from = np.zeros(tokens, dtype=np.int64)
    kind_from = np.zeros(tokens, dtype=np.int64)
    end_from[start2], kind_from[start2] = end2, kind2
    correct = (end_from[start] == end) & (kind_from[start] == kind)
    table = np.stack([np.bincount(k, minlength=len(types)) for k in (kind, kind2, kind[correct])], axis=1)
    return {name: Counts(*row) for name, row in zip(types, table.tolist(), strict=True) if row[0] or row[1]}


def encoding_of(gold: ArrayLike, labels: Sequence[str], offsets: ArrayLike) -> str | None:
    """The encoding that gold labels are of, when `labels` are those of gold and predicted ones together; None for none.

    gold: int [tokens] into labels, offsets: int64 [sentences + 1]. Prefixes that are predicted only are heeded where
    the gold labels are well-formed with them: gold ones without any B may still be iob1.
    """
    tokens, bounds = check_packed(gold, offsets, len(labels))
    of_all = detect(labels, tokens, bounds)
    if of_all is not None and not illegal(labels, tokens, bounds, of_all).size:
        return of_all
    own, names = occurring(tokens, labels)
    return detect(names, own, bounds)
