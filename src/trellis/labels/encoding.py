"""Segment encodings: how labels such as B-NP, I-NP, O spell out segments, and which sequences are legal.

    name   a segment of type X, by length           where B or E is special
    io     I / I I / I I I                          adjacent segments of one type melt together
    iob1   I / I I / I I I                          B-X only where a segment of type X ends just before
    iob2   B / B I / B I I
    ioe1   I / I I / I I I                          E-X only where a segment of type X begins just after
    ioe2   E / I E / I I E
    bioes  S / B E / B I E
    bilou  U / B L / B I L

(Tjong Kim Sang and Veenstra 1999, section 2; Ratinov and Roth 2009, section 3.1.)

What counts as an encoding. All labels must have one of two forms; O belongs to both:

- typed: one capital of B I E S L U, a hyphen, a type with at least one letter in it. So `I-95` is no label
  of a segment, nor are Penn's `-LRB-` and `NN`.
- bare: that capital alone. As single letters are also part-of-speech tags, a bare set must say more: it
  has O, or it has B with one of I, E, L.

One label of another form and the set is no encoding: {O, NN} is not, nor is any tag set of Penn or UD. The
label O alone is an encoding (`io`) with nothing in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import SettingError
from trellis.labels.gap_rules import GAPPY, GAPPY_PREFIXES, gappy_transitions
from trellis.labels.packed import check_packed, first_tokens

OUTSIDE = "O"


class _Rule(NamedTuple):
    """Prefixes of an encoding, and the pairs of neighbours it speaks about.

    A label of `open_` must have a successor, a label of `going_on` a predecessor, such that the left one is
    of `left`, the right one of `right`, and both have the same type. All other neighbours are free.
    """

    prefixes: str
    left: str = ""
    right: str = ""
    open_: str = ""
    going_on: str = ""


_RULES = {
    "io": _Rule("I"),
    "iob1": _Rule("BI", left="BI", right="B", going_on="B"),
    "iob2": _Rule("BI", left="BI", right="I", going_on="I"),
    "ioe1": _Rule("IE", left="E", right="IE", open_="E"),
    "ioe2": _Rule("IE", left="I", right="IE", open_="I"),
    "bioes": _Rule("BIES", left="BI", right="IE", open_="BI", going_on="IE"),
    "bilou": _Rule("BILU", left="BI", right="IL", open_="BI", going_on="IL"),
}
ENCODINGS = tuple(_RULES)
PATH_ENCODINGS = (*ENCODINGS, GAPPY)  # whose neighbours `legal_transitions` and `illegal` know
PREFIXES = {name: rule.prefixes for name, rule in _RULES.items()} | {GAPPY: GAPPY_PREFIXES}

# Tried in this order; the first that knows all prefixes wins. Of two rivals the first is the default.
_CANDIDATES = (("io",), ("iob2", "iob1"), ("ioe2", "ioe1"), ("bioes",), ("bilou",))


def known(encoding: str, names: Sequence[str] = ENCODINGS) -> str:
    """The same name; SettingError when there is no such encoding."""
    if encoding not in names:
        raise SettingError(f"unknown encoding {encoding!r}: expected one of {', '.join(names)}")
    return encoding


def check_prefix(label: str, encoding: str) -> None:
    """SettingError when the label has a prefix that the encoding does not use."""
    prefix, _ = split(label)
    if prefix not in (OUTSIDE, *PREFIXES[encoding]):
        expected = ", ".join([*PREFIXES[encoding], OUTSIDE])
        raise SettingError(f"label {label!r} is not {encoding}: expected one of the prefixes {expected}")


def split(label: str) -> tuple[str, str]:
    """(prefix, type) at the first hyphen: B-ART-X -> (B, ART-X), O -> (O, ""), NN -> (NN, "")."""
    prefix, _, kind = label.partition("-")
    return prefix, kind


def detect(labels: Sequence[str], ids: ArrayLike | None = None, offsets: ArrayLike | None = None) -> str | None:
    """Name of the encoding of a label set, None when it is none (see the top of this file).

    ids: int [tokens] into labels, offsets: int64 [sentences + 1]. The label set alone cannot tell iob1 from
    iob2 (nor ioe1 from ioe2); with sequences the one with fewer illegal tokens is chosen, so that a few
    annotation errors do not change the answer. Without them, or on a tie, it is iob2 (ioe2).
    """
    prefixes = _segment_prefixes(labels)
    if prefixes is None:
        return None
    for names in _CANDIDATES:
        if prefixes <= set(_RULES[names[0]].prefixes):
            if len(names) == 1 or ids is None or offsets is None:
                return names[0]
            errors = [illegal(labels, ids, offsets, name).size for name in names]
            return names[errors.index(min(errors))]
    return None


def legal_transitions(
    labels: Sequence[str], encoding: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """(start [L], transition [L, L], end [L]): may a sentence start with, go from i to j, end with a label?

    SettingError when the encoding is unknown or a label has a prefix it does not use. `gappy` (see `gaps`) is an
    encoding here, too, as far as two neighbours tell.
    """
    known(encoding, PATH_ENCODINGS)
    parts = [split(label) for label in labels]
    for label in labels:
        check_prefix(label, encoding)
    if encoding == GAPPY:
        return gappy_transitions(parts)
    rule = _RULES[encoding]

    def having(prefixes: str) -> NDArray[np.bool_]:
        return np.array([prefix in prefixes for prefix, _ in parts], dtype=np.bool_)

    number = {kind: i for i, kind in enumerate(dict.fromkeys(kind for _, kind in parts))}
    kinds = np.array([number[kind] for _, kind in parts], dtype=np.int64)
    joined = having(rule.left)[:, None] & having(rule.right) & (kinds[:, None] == kinds)
    start, end = ~having(rule.going_on), ~having(rule.open_)
    return start, joined | (end[:, None] & start), end


def illegal(labels: Sequence[str], ids: ArrayLike, offsets: ArrayLike, encoding: str) -> NDArray[np.int64]:
    """Ascending positions [errors] of the tokens whose label is not allowed where it stands.

    ids: int [tokens] into labels, offsets: int64 [sentences + 1]. A token is named when its label may not
    follow the one before it or may not start the sentence, and, for the last token, may not end it.
    """
    start, transition, end = legal_transitions(labels, encoding)
    tokens, bounds = check_packed(ids, offsets, len(labels))
    first = first_tokens(bounds)
    bad = np.zeros(tokens.size, dtype=np.bool_)
    bad[1:] = ~transition[tokens[:-1], tokens[1:]]
    bad[first] = ~start[tokens[first]]
    last = np.append(first[1:], True)[: tokens.size]  # a sentence ends before the next, or at the very end
    bad[last] |= ~end[tokens[last]]
    return np.flatnonzero(bad).astype(np.int64, copy=False)


def _segment_prefixes(labels: Sequence[str]) -> set[str] | None:
    """The prefixes in use without O, or None when the labels are no segment encoding."""
    parts = [split(label) for label in labels if label != OUTSIDE]
    prefixes = {prefix for prefix, _ in parts}
    if len(labels) == 0 or not prefixes <= set("BIESLU"):
        return None
    if all(any(letter.isalpha() for letter in kind) for _, kind in parts):
        return prefixes
    bare = not any("-" in label for label in labels)
    telling = OUTSIDE in labels or ("B" in prefixes and not prefixes.isdisjoint("IEL"))
    return prefixes if bare and telling else None
