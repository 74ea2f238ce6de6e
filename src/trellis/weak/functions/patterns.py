"""Regular expressions that vote: in the text of sentences, for the tokens of a match; in texts, for the whole item.

The text of a sentence is its words with one space between. Python's `re` takes exponential time for some patterns, such
as `(a+)+$`; that is the pattern's fault, and not caught here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from trellis.corpus import Corpus
from trellis.errors import SettingError, shown
from trellis.weak.functions.casts import SpanVotes, TokenVotes
from trellis.weak.functions.contract import LabelingFunction, check_label, column_of, made_up
from trellis.weak.votes import ABSTAINS

PARTS = ("ignore", "whole")


class Pattern(LabelingFunction):
    """As `pattern` says."""

    python = True

    def __init__(
        self, regex: re.Pattern[str], label: str, name: str | None, column: str | None, group: int | str, part: str
    ):
        super().__init__("spans", name, made_up("pattern", label))
        self.regex, self.column, self.group, self.part = regex, column, group, part
        self.label = check_label(label, f"the labeling function '{self.name}'", "spans")

    def on(self, data: Corpus, first: int = 0) -> SpanVotes:
        words = column_of(data, self.column, self.name).values()
        found: list[tuple[int, int, int]] = []
        for a, b in pairwise(data.offsets.tolist()):
            own = words[a:b]
            borders: tuple[list[int], list[int]] | None = None
            for match in self.regex.finditer(" ".join(own)):
                left, right = match.span(self.group)
                if left == right:  # nothing, or a group that is not there
                    continue
                borders = borders or _borders(own)
                start, end = self._tokens(left, right, *borders)
                if start < end:
                    found.append((a + start, a + end, 0))
        return SpanVotes.of_list(found, (self.label,))

    def _tokens(self, left: int, right: int, starts: list[int], ends: list[int]) -> tuple[int, int]:
        """Characters left to right -> the tokens they touch; none for a match that cuts one, if these are ignored."""
        start, end = bisect_right(ends, left), bisect_left(starts, right)
        if self.part == "ignore" and start < end and (starts[start] < left or ends[end - 1] > right):
            return 0, 0
        return start, end


def _borders(words: Sequence[str]) -> tuple[list[int], list[int]]:
    """At which characters tokens begin and end in the text of a sentence."""
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))[:-1]
    return starts, [start + len(word) for start, word in zip(starts, words, strict=True)]


class TextPattern(LabelingFunction):
    """As `text_pattern` says."""

    python = True

    def __init__(self, regex: re.Pattern[str], label: str, field: str, name: str | None):
        super().__init__("items", name, made_up("text_pattern", label))
        self.regex, self.field = regex, field
        if not isinstance(label, str) or not label:
            raise SettingError(f"the labeling function '{self.name}' votes {shown(label)}; expected a label, a text")
        self.label = label

    def on(self, data: Sequence[Any], first: int = 0) -> TokenVotes:
        ids = np.full(len(data), ABSTAINS, np.int32)
        for i, item in enumerate(data):
            text = self._text(item)
            if not isinstance(text, str):
                what = f"found no text in {shown(item)}; expected a text, or an item with one as its '{self.field}'"
                raise self.failed(what, data, first, i)
            if self.regex.search(text):
                ids[i] = 0
        return TokenVotes(ids, (self.label,))

    def _text(self, item: Any) -> Any:
        if isinstance(item, str):
            return item
        return item.get(self.field) if isinstance(item, Mapping) else getattr(item, self.field, None)


def pattern(
    regex: str | re.Pattern[str],
    label: str,
    name: str | None = None,
    column: str | None = None,
    flags: int = 0,
    group: int | str = 0,
    part: str = "ignore",
) -> Pattern:
    """Wherever a regular expression is found in a sentence, the tokens that the match covers are voted for as one span.

    column: whose words make the text; the first if None. group: the part of the match that counts. part: a match that
    cuts a token in two votes for nothing ("ignore"), or for all of the token ("whole").
    """
    if part not in PARTS:
        raise SettingError(f"part is {part!r}; expected one of {', '.join(PARTS)}")
    compiled = _compiled(regex, flags)
    known = [*range(compiled.groups + 1), *compiled.groupindex]
    if group not in known:
        raise SettingError(f"the regular expression has no group {group!r}; it has: {', '.join(map(str, known))}")
    return Pattern(compiled, label, name, column, group, part)


def text_pattern(
    regex: str | re.Pattern[str], label: str, field: str = "text", name: str | None = None, flags: int = 0
) -> TextPattern:
    """Items in which a regular expression is found are voted for. An item is a text, or has one: under `field` in a
    dictionary, or as an attribute of that name."""
    return TextPattern(_compiled(regex, flags), label, field, name)


def _compiled(regex: str | re.Pattern[str], flags: int) -> re.Pattern[str]:
    try:
        return re.compile(regex, flags)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        what = f"{shown(regex)} is no regular expression: {error.msg}{where}; see Python's module re"
        raise SettingError(what) from None
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise SettingError(f"{shown(regex)} cannot be used as a regular expression: {error}") from None
