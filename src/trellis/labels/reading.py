"""Labels -> segments. One engine reads; what it asks of two neighbours is in three tables:

    starts    may a segment start between them?
    goes_on   does the segment that the left one is in go on to the right one?
    ends      is a segment well-formed that ends between them?

From left to right: a token that goes on with the segment before it belongs to it; otherwise that segment ends here, and
counts if it is well-formed, and if one may start here, it does. A sentence boundary is read as O.

`conlleval` asks of each pair of neighbours whether a chunk ends or starts between them (startOfChunk, endOfChunk).
Written out, its rules come to this: a token that is not O belongs to a segment, and it starts a new one exactly when

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

`strict` counts only segments that are well-formed in an encoding, as seqeval's strict mode does, number for number. In
ioe1 that one leaves out a segment that begins with E; `well-formed`, for our own use, does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import SettingError
from trellis.labels.encoding import PREFIXES, check_prefix, detect, known, split
from trellis.labels.packed import check_packed, first_tokens

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

READINGS = ("conlleval", "strict")

_PREFIXES = "O.BIESLU[]"  # by number; that of O is 0
_MANY = len(_PREFIXES)
_OUT = ("O", ".")
_STARTS, _GOES_ON = 1, 2


class _Rule(NamedTuple):
    """Pairs of prefixes, * for any; followed by = where of one type, by ! where of two."""

    starts: str
    goes_on: str
    ends: str = "**"


_STRICT = {
    "io": _Rule("*I", "II="),
    "iob1": _Rule("*I IB= BB=", "BI= II=", "I* BO BI BB="),
    "iob2": _Rule("*B", "BI= II="),
    "ioe1": _Rule("*I EE=", "II= IE=", "I* EI= EE="),
    "ioe2": _Rule("*I *E", "II= IE=", "E*"),
    "bioes": _Rule("*B *S", "BI= BE= II= IE=", "E* S*"),
    "bilou": _Rule("*B *U", "BI= BL= II= IL=", "L* U*"),
}
_WELL_FORMED = _STRICT | {"ioe1": _Rule("*I *E", "II= IE=", "I* EI= EE=")}


class _Tables(NamedTuple):
    """For neighbours by `type is the same, prefix before, prefix here`, in one number: `steps U8[2 * prefixes^2]` has
    the bits _STARTS and _GOES_ON, `ends BOOL[2 * prefixes^2]` is None when every segment is well-formed."""

    steps: U8
    ends: BOOL | None


def read_segments(
    ids: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    reading: str = "conlleval",
    encoding: str | None = None,
) -> tuple[I64, I64, I64]:
    """(start, end, type), each [segments], in order of the text.

    ids: int [tokens] into labels, offsets: int64 [sentences + 1]. A segment covers the tokens from start up
    to but not including end, positions in the whole corpus; type is an index into `segment_types(labels)`.
    The strict reading is of an encoding, of the one that `detect` finds if None; conlleval's is the same for all.
    """
    tokens, bounds = check_packed(ids, offsets, len(labels))
    if reading == "conlleval":
        return _read(tokens, bounds, _Meaning.of(labels), _conlleval())
    if reading not in (*READINGS, "well-formed"):
        raise SettingError(f"unknown reading {reading!r}: expected one of {', '.join(READINGS)}")
    name = detect(labels, tokens, bounds) if encoding is None else known(encoding)
    if name is None and len(labels):
        some = ", ".join(map(repr, labels[:3]))
        raise SettingError(f"the labels {some} ... are of no encoding that can be read strictly; name the encoding")
    name = name or "io"  # of no labels at all
    meaning = _Meaning.of(labels)
    check_prefixes(tokens, labels, name)
    return _read(tokens, bounds, meaning, _tables((_STRICT if reading == "strict" else _WELL_FORMED)[name]))


def segment_types(labels: Sequence[str]) -> list[str]:
    """The distinct types of the labels that are not O, sorted; [""] for labels without a type."""
    return sorted({kind for prefix, kind in map(split, labels) if prefix not in _OUT})


def spelling_of(labels: Sequence[str]) -> tuple[I64, BOOL]:
    """What labels say of segments as conlleval reads them: `kind [labels]`, an index into `segment_types(labels)`, -1
    for O; `starts [labels, labels]`, whether a segment starts between a label and the next."""
    prefix, kind = _Meaning.of(labels)
    same = (kind[:, None] == kind).astype(np.int64)
    steps = _conlleval().steps[(same * _MANY + prefix[:, None]) * _MANY + prefix]
    return np.where(prefix < len(_OUT), -1, kind).astype(np.int64), (steps & _STARTS) > 0


class _Meaning(NamedTuple):
    """What each label says; both [labels]. `kind` is an index into `segment_types`, of O it means nothing."""

    prefix: U8
    kind: NDArray[np.int32]

    @classmethod
    def of(cls, labels: Sequence[str]) -> _Meaning:
        parts = [split(label) for label in labels]
        for label, (prefix, _) in zip(labels, parts, strict=True):
            if len(prefix) != 1 or prefix not in _PREFIXES:
                expected = ", ".join(sorted(set(_PREFIXES) - set(".[]")))
                raise SettingError(
                    f"label {label!r} is not part of a segment encoding: expected O or one of the prefixes "
                    f"{expected}; labels without segments have an accuracy only"
                )
        number = {kind: i for i, kind in enumerate(segment_types(labels))}
        return cls(
            prefix=np.array([_PREFIXES.index(prefix) for prefix, _ in parts], dtype=np.uint8),
            kind=np.array([number.get(kind, -1) for _, kind in parts], dtype=np.int32),
        )


def _read(tokens: NDArray[np.integer[Any]], offsets: I64, meaning: _Meaning, tables: _Tables) -> tuple[I64, I64, I64]:
    """What the top of this file says, of all neighbours at once. (Gathers by `take` and by numbers, not by masks: that
    halves the time.)"""
    prefix, kind = meaning.prefix.take(tokens), meaning.kind.take(tokens)
    pair = prefix.copy()
    pair[1:] += _MANY * prefix[:-1]
    pair[1:] += np.uint8(_MANY * _MANY) * (kind[1:] == kind[:-1])
    first = offsets[:-1].compress(offsets[:-1] < offsets[1:])
    pair[first] = prefix[first]  # after an O
    steps = tables.steps.take(pair)
    # Where a segment merely goes on, nothing happens: elsewhere, one starts, ends, both, or there is none.
    at = np.append(np.flatnonzero(steps != _GOES_ON), tokens.size)  # behind the text there is an O
    steps = np.append(steps.take(at[:-1]), np.uint8(0))
    inside = (steps & _STARTS) > 0
    was_inside = np.append(False, inside[:-1])
    joined = was_inside & ((steps & _GOES_ON) > 0)
    start = at.take(np.flatnonzero(inside & ~joined)).astype(np.int64, copy=False)
    end = at.take(np.flatnonzero(was_inside & ~joined)).astype(np.int64, copy=False)
    if tables.ends is not None:
        before_o = np.append(first_tokens(offsets), True).take(end)
        after = np.where(before_o, _MANY * prefix.take(end - 1), np.append(pair, np.uint8(0)).take(end))
        good = np.flatnonzero(tables.ends.take(after))
        start, end = start.take(good), end.take(good)
    return start, end, kind.take(start).astype(np.int64)


def check_prefixes(tokens: NDArray[np.integer[Any]], labels: Sequence[str], encoding: str) -> None:
    """SettingError for a label that is not of the encoding; one that does not occur may be of another."""
    foreign = [j for j, label in enumerate(labels) if split(label)[0] not in ("O", *PREFIXES[encoding])]
    if foreign:
        occurs = np.isin(foreign, tokens)
        for j in np.array(foreign)[occurs].tolist():
            check_prefix(labels[j], encoding)


@cache
def _conlleval() -> _Tables:
    starts = _pairs("*B *S *U *[ *] O* .* E* L* S* U* [* ]* **!")
    goes_on = ~starts
    starts[..., : len(_OUT)] = goes_on[..., : len(_OUT)] = False
    return _packed(starts, goes_on, None)


@cache
def _tables(rule: _Rule) -> _Tables:
    return _packed(_pairs(rule.starts), _pairs(rule.goes_on), None if rule.ends == "**" else _pairs(rule.ends))


def _packed(starts: BOOL, goes_on: BOOL, ends: BOOL | None) -> _Tables:
    steps = starts.astype(np.uint8) * _STARTS + goes_on.astype(np.uint8) * _GOES_ON
    return _Tables(steps.ravel().astype(np.uint8), None if ends is None else ends.ravel())


def _pairs(text: str) -> BOOL:
    """BOOL[type is the same, prefix before, prefix here] from pairs as in `_Rule`."""
    table = np.zeros((2, _MANY, _MANY), np.bool_)
    for pair in text.split():
        before, here = (slice(None) if c == "*" else _PREFIXES.index(c) for c in pair[:2])
        table[{"=": 1, "!": 0}.get(pair[2:], slice(None)), before, here] = True
    return table
