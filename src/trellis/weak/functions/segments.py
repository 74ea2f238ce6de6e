"""Votes of any kind as segments: what label spaces, linking and consistency of documents ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.labels import detect, read_segments, segment_types
from trellis.labels.encoding import OUTSIDE
from trellis.labels.packed import ranges
from trellis.weak.functions.casts import Cast, SpanVotes, TokenVotes

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]


def spells_segments(labels: Sequence[str]) -> bool:
    """Whether labels of tokens, and O, can spell segments."""
    return detect([*labels, OUTSIDE]) is not None


def types_of(cast: SpanVotes | TokenVotes) -> list[str]:
    """The types that are voted for."""
    if isinstance(cast, TokenVotes):
        return segment_types(cast.labels)
    return [label for label in cast.labels if label != OUTSIDE]


def spans_asked_for(cast: Cast, offsets: I64, asked: str, whose: str, does: str) -> SpanVotes:
    """The spans that the function `asked` votes for, to a function that `does` something with them, or an error."""
    assert isinstance(cast, SpanVotes | TokenVotes)
    if isinstance(cast, TokenVotes) and not spells_segments(cast.labels):
        raise SettingError(
            f"the labeling function '{whose}' {does} spans of '{asked}', which votes labels such as "
            f"{cast.labels[0]!r}; expected spans, or labels such as B-X"
        )
    return as_spans(cast, offsets)[0]


def as_spans(cast: SpanVotes | TokenVotes, offsets: I64) -> tuple[SpanVotes, BOOL]:
    """The segments that are voted for, labels being types, and the tokens voted to be in none, BOOL[tokens].

    Labels of tokens are read as conlleval reads them, an abstention like an O.
    """
    outside = np.zeros(int(offsets[-1]), np.bool_)
    if isinstance(cast, SpanVotes):
        if OUTSIDE not in cast.labels:
            return cast, outside
        nothing = cast.label == cast.labels.index(OUTSIDE)
        outside[ranges(cast.start[nothing], (cast.end - cast.start)[nothing])] = True
        kept = ~nothing
        return SpanVotes(cast.start[kept], cast.end[kept], cast.label[kept], cast.labels), outside
    labels = [*cast.labels, OUTSIDE]  # the last one for those who abstain, whose number is -1
    ids = np.where(cast.ids < 0, len(labels) - 1, cast.ids)
    start, end, kind = read_segments(ids, labels, offsets)
    if OUTSIDE in cast.labels:
        outside = cast.ids == cast.labels.index(OUTSIDE)
    return SpanVotes(start, end, kind, tuple(segment_types(labels))), outside
