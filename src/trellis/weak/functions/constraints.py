"""What single words are, and what they look like: constraints that vote. Each distinct string is looked at once.

`words` votes a label for each token of some words; `shape` votes one span for neighbours of some shapes. Shapes are
those of the features: `Xx` for Reykjavik, `d.d` for 3.14 (short, where runs of one sign are one), `Xxxxxxxxx` and
`d.dd` (full).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.features.functions.shapes import SHAPE, SHORT_SHAPE
from trellis.labels import first_tokens
from trellis.weak.functions.casts import Cast, SpanVotes, TokenVotes
from trellis.weak.functions.contract import LabelingFunction, check_label, column_of, made_up
from trellis.weak.votes import ABSTAINS

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]


class Words(LabelingFunction):
    """As `words` says."""

    def __init__(
        self,
        test: Callable[[str], object] | Collection[str],
        label: str,
        votes: str,
        least: int,
        name: str | None,
        column: str | None,
    ):
        super().__init__(votes, name, made_up("words", label))
        self.test, self.least, self.column = test, least, column
        self.label = check_label(label, f"the labeling function '{self.name}'", votes)

    def on(self, data: Corpus, first: int = 0) -> Cast:
        column = column_of(data, self.column, self.name)
        found = [self._is(string, k, data, column, first) for k, string in enumerate(column.strings)]
        hit = np.append(np.array(found, np.bool_), False)[column.ids]
        if self.votes == "tokens":
            return TokenVotes(np.where(hit, 0, ABSTAINS).astype(np.int32), (self.label,))
        start, end = _runs(hit, data.offsets, self.least)
        return SpanVotes(start, end, np.zeros(len(start), np.int64), (self.label,))

    def _is(self, string: str, number: int, data: Corpus, column: Column, first: int) -> bool:
        if not callable(self.test):
            return string in self.test
        try:
            return bool(self.test(string))
        except Exception as error:
            what = f"failed on the word {string!r}: {type(error).__name__}: {error}"
            where = np.flatnonzero(column.ids == number)[:1].tolist()
            if not where:
                raise DataError(f"the labeling function '{self.name}' {what}") from error
            at = int(np.searchsorted(data.offsets, where[0], side="right")) - 1
            raise self.failed(what, data, first, at, where[0] - int(data.offsets[at])) from error


class Shapes(LabelingFunction):
    """As `shape` says; patterns are lists of shapes."""

    def __init__(
        self,
        patterns: Sequence[Sequence[str]],
        label: str,
        least: int,
        short: bool,
        name: str | None,
        column: str | None,
    ):
        super().__init__("spans", name, made_up("shape", label))
        self.patterns, self.least, self.short, self.column = patterns, least, short, column
        self.label = check_label(label, f"the labeling function '{self.name}'", "spans")

    def on(self, data: Corpus, first: int = 0) -> SpanVotes:
        column = column_of(data, self.column, self.name)
        of_type = (SHORT_SHAPE if self.short else SHAPE).of_type
        assert of_type is not None
        shapes = of_type(column.strings, None, ())

        def having(wanted: Collection[str]) -> BOOL:
            return np.append(np.array([shape in wanted for shape in shapes], np.bool_), False)[column.ids]

        runs = {pattern[0] for pattern in self.patterns if len(pattern) == 1}
        found = [_runs(having(runs), data.offsets, self.least)] if runs else []
        for pattern in self.patterns:
            if len(pattern) > 1:
                found.append(_in_order([having({one}) for one in pattern], data.offsets))
        start, end = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return SpanVotes.apart(start, end, np.zeros(len(start), np.int64), (self.label,))


def _runs(hit: BOOL, offsets: I64, least: int) -> tuple[I64, I64]:
    """Start and end of the longest runs of marked neighbours in a sentence, of those of at least so many tokens."""
    goes_on = hit & np.append(False, hit[:-1])[: len(hit)] & ~first_tokens(offsets)
    start = np.flatnonzero(hit & ~goes_on)
    end = np.flatnonzero(hit & ~np.append(goes_on[1:], False)[: len(hit)]) + 1
    long = end - start >= least
    return start[long], end[long]


def _in_order(hits: Sequence[BOOL], offsets: I64) -> tuple[I64, I64]:
    """Where the first kind of token is followed by the second, and so on, within a sentence."""
    start = np.flatnonzero(hits[0])
    limit = offsets[np.searchsorted(offsets, start, side="right")]
    for k, hit in enumerate(hits[1:], 1):
        on = start + k < limit
        on[on] = hit[start[on] + k]
        start, limit = start[on], limit[on]
    return start, start + len(hits)


def words(
    test: Callable[[str], object] | Iterable[str],
    label: str,
    votes: str = "tokens",
    least: int = 1,
    name: str | None = None,
    column: str | None = None,
) -> Words:
    """Tokens that are one of some words, or of which a function says so, are voted for.

    test: words, or a function of one, called once for each distinct word. votes: "tokens", one label for each; "spans",
    one span for neighbours, if there are at least `least` of them. column: where to look; the first if None.
    """
    if votes not in ("tokens", "spans"):
        raise SettingError(f"votes is {shown(votes)}; expected 'tokens' or 'spans'")
    _check_least(least)
    if isinstance(test, str):
        raise SettingError(f"words are {test!r}; expected a list of words, or a function of one: [{test!r}]")
    if not callable(test) and not isinstance(test, Iterable):
        raise SettingError(f"words are {shown(test)}; expected a list of words, or a function of one")
    if not callable(test):
        test = frozenset(test)
        for one in test:
            if not isinstance(one, str):
                raise SettingError(f"a word is {shown(one)}; expected text")
        phrases = sorted(one for one in test if " " in one)
        if phrases:
            raise SettingError(f"{phrases[0]!r} is no word but a phrase, which no token is; use gazetteer for these")
    return Words(test, label, votes, least, name, column)


def shape(
    pattern: str | Iterable[str],
    label: str,
    least: int = 1,
    short: bool = True,
    name: str | None = None,
    column: str | None = None,
) -> Shapes:
    """Neighbours of given shapes vote one span: `shape("Xx", "PER", least=2)` is for two or more capitalised tokens in
    a row, `shape("Xx X. Xx", "PER")` for three tokens of these shapes, one after the other.

    pattern: a shape, or several in a row with spaces between; or a list of such: each of them counts, and a row of
    tokens may mix the single ones. least: of how many tokens a row of single shapes is at least. short: whether shapes
    are short. column: where to look; the first if None.
    """
    _check_least(least)
    given = [pattern] if isinstance(pattern, str) else list(pattern)
    patterns = [one.split() if isinstance(one, str) else [] for one in given]
    for one, cut in zip(given, patterns, strict=True):
        if not cut:
            raise SettingError(f"{shown(one)} is no shape; expected one such as 'Xx', or several with spaces between")
        if short and any(a == b for single in cut for a, b in pairwise(single)):
            raise SettingError(f"{one!r} is no short shape, which has no sign twice in a row; give short=False")
    if not patterns:
        raise SettingError("no shape is given; expected one such as 'Xx'")
    return Shapes(patterns, label, least, short, name, column)


def _check_least(least: object) -> None:
    if not isinstance(least, int) or least < 1:
        raise SettingError(f"least is {shown(least)}; expected a whole number >= 1")
