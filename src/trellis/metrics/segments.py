"""Segments as CoNLL's conlleval counts them, for well-formed and ill-formed sequences alike.

conlleval asks of each pair of neighbours whether a chunk ends or starts between them (startOfChunk,
endOfChunk; a sentence boundary is an O). Written out, its rules come to this: a token that is not O belongs
to a segment, and it starts a new one exactly when

    it is the first of its sentence, or
    the token before it is O or has another type, or
    its own prefix is B or S, or
    the prefix before it is E or S;

a segment ends where the next one starts, at an O, or with the sentence. So I-X after O starts a segment, and
I-Y after B-X ends one of type X and starts one of type Y.

Over the prefixes B I O, and over I E O, this is the Perl script of 2004 number for number. That script has no
rule for S, nor for E before B: given BIOES it melts `S-X S-X` or `E-X B-X` into one segment. The rules above
are those of its Python ports and of seqeval, which count such neighbours as the two segments they are. L and
U (BILOU) are read as E and S. Bracket tags are segments of one token each, and their `.` is O.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import SettingError
from trellis.labels import check_packed, first_tokens, split

_OUTSIDE = ("O", ".")
_OPENS = ("B", "S", "U", "[", "]")
_CLOSES = ("E", "L", "S", "U", "[", "]")
_KNOWN = {"I", *_OUTSIDE, *_OPENS, *_CLOSES}


class Counts(NamedTuple):
    """Segments of one type: in the gold labels, in the predicted ones, in both with the same bounds."""

    gold: int
    predicted: int
    correct: int


def segment_types(labels: Sequence[str]) -> list[str]:
    """The distinct types of the labels that are not O, sorted; [""] for labels without a type."""
    return sorted({kind for prefix, kind in map(split, labels) if prefix not in _OUTSIDE})


def segments(
    ids: ArrayLike, labels: Sequence[str], offsets: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(start, end, type), each [segments], in order of the text.

    ids: int [tokens] into labels, offsets: int64 [sentences + 1]. A segment covers the tokens from start up
    to but not including end, positions in the whole corpus; type is an index into `segment_types(labels)`.
    """
    tokens, bounds = check_packed(ids, offsets, len(labels))
    meaning = _Meaning.of(labels)
    inside = meaning.inside[tokens]
    kinds = meaning.kind[tokens]
    starts = meaning.opens[tokens] | first_tokens(bounds)
    starts[1:] |= meaning.closes[tokens[:-1]] | (kinds[1:] != kinds[:-1])
    starts &= inside
    # One more step to the right than starts: the token after the last one counts as O.
    ends = inside.copy()
    ends[:-1] &= starts[1:] | ~inside[1:]
    start = np.flatnonzero(starts).astype(np.int64, copy=False)
    end = np.flatnonzero(ends).astype(np.int64, copy=False) + 1
    return start, end, kinds[start].astype(np.int64)


def segment_counts(
    gold: ArrayLike, predicted: ArrayLike, labels: Sequence[str], offsets: ArrayLike
) -> dict[str, Counts]:
    """Counts by type, for the types that occur, sorted by name.

    gold, predicted: int [tokens] into labels, offsets: int64 [sentences + 1]. A predicted segment is correct
    when a gold one has the same start, end and type.
    """
    types = segment_types(labels)
    start, end, kind = segments(gold, labels, offsets)
    start2, end2, kind2 = segments(predicted, labels, offsets)
    # Segments of one labelling have distinct starts, so a look-up by start finds the only candidate.
    tokens = np.size(np.asarray(gold))
    end_from = np.zeros(tokens, dtype=np.int64)
    kind_from = np.zeros(tokens, dtype=np.int64)
    end_from[start2], kind_from[start2] = end2, kind2
    correct = (end_from[start] == end) & (kind_from[start] == kind)
    table = np.stack([np.bincount(k, minlength=len(types)) for k in (kind, kind2, kind[correct])], axis=1)
    return {name: Counts(*row) for name, row in zip(types, table.tolist(), strict=True) if row[0] or row[1]}


def spelling_of(labels: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What labels say of segments, as above: `kind [labels]`, an index into `segment_types(labels)`, -1 for O; `starts
    [labels, labels]`, whether a segment starts between a label and the next."""
    meaning = _Meaning.of(labels)
    starts = meaning.opens | meaning.closes[:, None] | (meaning.kind[:, None] != meaning.kind)
    return np.where(meaning.inside, meaning.kind, -1).astype(np.int64), starts & meaning.inside


class _Meaning(NamedTuple):
    """What each label says about segments; all [labels]."""

    inside: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]  # nothing before this point goes on: true of O too
    kind: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Sequence[str]) -> _Meaning:
        parts = [split(label) for label in labels]
        for label, (prefix, _) in zip(labels, parts, strict=True):
            if prefix not in _KNOWN:
                known = ", ".join(sorted(_KNOWN - {"[", "]", "."}))
                raise SettingError(
                    f"label {label!r} is not part of a segment encoding: expected O or one of the prefixes "
                    f"{known}; labels without segments have an accuracy only"
                )
        number = {kind: i for i, kind in enumerate(segment_types(labels))}
        prefixes = [prefix for prefix, _ in parts]
        return cls(
            inside=np.array([p not in _OUTSIDE for p in prefixes], dtype=np.bool_),
            opens=np.array([p in _OPENS for p in prefixes], dtype=np.bool_),
            closes=np.array([p in _CLOSES or p in _OUTSIDE for p in prefixes], dtype=np.bool_),
            kind=np.array([number.get(kind, -1) for _, kind in parts], dtype=np.int32),
        )
