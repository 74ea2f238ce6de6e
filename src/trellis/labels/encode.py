"""Segments -> labels of tokens, in any of the encodings of `encoding`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.labels.encoding import OUTSIDE, PREFIXES, known
from trellis.labels.packed import first_tokens, ranges

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

_PREFIXES = {"bilou": {"S": "U", "E": "L"}}


def label_of(prefix: str, kind: str) -> str:
    """B, NP -> B-NP; types without a name have labels of one letter."""
    return f"{prefix}-{kind}" if kind else prefix


def labels_of(kinds: Sequence[str], encoding: str) -> list[str]:
    """All labels that segments of these types can have, O first."""
    return [OUTSIDE, *(label_of(prefix, kind) for kind in kinds for prefix in PREFIXES[known(encoding)])]


def encoded(
    start: I64, end: I64, kind: I64, kinds: Sequence[str], offsets: I64, encoding: str
) -> tuple[I32, list[str]]:
    """Segments [start, end) of type kind, all I64[segments], in order and apart -> ids I32[tokens] and the labels they
    are of. (In io, segments of one type that touch melt together.)"""
    tokens, labels = int(offsets[-1]), labels_of(kinds, encoding)
    number = {label: j for j, label in enumerate(labels)}
    lengths = end - start
    at = ranges(start, lengths)
    of, first, last = np.full(tokens, -1), np.zeros(tokens, bool), np.zeros(tokens, bool)
    of[at], first[start], last[end - 1] = np.repeat(kind, lengths), True, True
    begins = first_tokens(offsets)
    # whether a segment of the same type ends just before, and whether one begins just after
    after, before = np.zeros(tokens, bool), np.zeros(tokens, bool)
    touching = first[1:] & last[:-1] & (of[1:] == of[:-1]) & ~begins[1:]
    after[1:], before[:-1] = touching, touching
    letter = np.full(tokens, "I")
    if encoding in ("iob2", "bioes", "bilou"):
        letter[first] = "B"
    if encoding in ("ioe2", "bioes", "bilou"):
        letter[last] = "E"
    if encoding in ("bioes", "bilou"):
        letter[first & last] = "S"
    if encoding == "iob1":
        letter[after] = "B"
    if encoding == "ioe1":
        letter[before] = "E"
    other = _PREFIXES.get(encoding, {})
    table = np.array([[number.get(label_of(other.get(c, c), name), 0) for name in kinds] for c in "BIES"], np.int32)
    row = np.searchsorted(np.array(list("BEIS")), letter)
    ids = np.zeros(tokens, np.int32)
    inside = of >= 0
    ids[inside] = table[np.array([0, 2, 1, 3])[row[inside]], of[inside]]
    return ids, labels
