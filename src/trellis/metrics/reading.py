"""Segments of two labellings, read alike: by the scheme that a report names.

Scorers disagree by about half a point where labels are ill-formed, so whoever counts says how. `conlleval` reads every
sequence as the CoNLL script does; `strict` knows only segments that are well-formed in one encoding, that of the gold
labels unless another is named, as seqeval's strict mode does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import SettingError
from trellis.labels import detect
from trellis.metrics.segments import encoding_of, segments

I64 = NDArray[np.int64]

SCHEMES = ("conlleval", "strict")


class Spans(NamedTuple):
    """Segments of one labelling in order of the text: from start up to but not including end, positions in the whole
    corpus; kind is an index into `segment_types(labels)`. All [segments]."""

    start: I64
    end: I64
    kind: I64


def encoding_for(
    scheme: str, encoding: str | None, gold: ArrayLike, labels: Sequence[str], offsets: ArrayLike
) -> str | None:
    """The encoding that a scheme counts in, None where it needs none; SettingError for what does not go together.

    gold: int [tokens] into labels, those of gold and predicted ones together; offsets: int64 [sentences + 1].
    """
    if scheme not in SCHEMES:
        raise SettingError(f"scheme is {scheme!r}; expected one of {', '.join(SCHEMES)}")
    if encoding is not None:
        if scheme != "strict":
            raise SettingError(f"the encoding {encoding!r} is for scheme 'strict'; {scheme} reads all in the same way")
        return encoding
    return encoding_of(gold, labels, offsets) if scheme == "strict" and are_segments(labels) else None


def are_segments(labels: Sequence[str], encoding: str | None = None) -> bool:
    """Whether there are segments to count: the labels are an encoding of such, or one has been named."""
    return encoding is not None or detect(labels) is not None


def both_read(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> tuple[Spans, Spans]:
    """Gold segments and predicted ones.

    gold, predicted: int [tokens], both into the one list `labels`; offsets: int64 [sentences + 1].
    """
    name = encoding_for(scheme, encoding, gold, labels, offsets)
    first, second = (Spans(*segments(ids, labels, offsets, scheme, name)) for ids in (gold, predicted))
    return first, second
