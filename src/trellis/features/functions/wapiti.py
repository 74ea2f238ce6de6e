r"""Wapiti's `%t` (is a pattern found?) and `%m` (which text matches?), with its small pattern language.

    .  any character             \d digit  \a letter  \w letter or digit  \l lower  \u upper  \p punctuation  \s space
    x  itself                    \D \A ...  the complement of the class    \x  any other character, itself
    ^  first: from the start     $  last: to the end
    x* as often as needed, the fewest first            x? once or not at all, once first

The first start from the left that matches is taken. Characters and their classes are Unicode's, where Wapiti has
bytes. Matching keeps note of what failed, so no pattern takes more than (its length) x (the word's length) steps.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from trellis.features.functions.checks import one_text
from trellis.features.functions.contract import Arguments, Function, Resource

MOST_PATTERN = 500  # characters; matching recurses once per * and ?

Test = Callable[[str], bool]


def _is_punctuation(c: str) -> bool:
    return c in string.punctuation or unicodedata.category(c)[0] in "PS"


_CLASSES: dict[str, Test] = {
    "a": str.isalpha,
    "d": str.isdigit,
    "l": str.islower,
    "p": _is_punctuation,
    "s": str.isspace,
    "u": str.isupper,
    "w": str.isalnum,
}


@dataclass(frozen=True)
class Item:
    """A character test and how often: `""` once, `*` or `?`."""

    test: Test
    repeat: str


@dataclass(frozen=True)
class Pattern:
    """A pattern, read."""

    items: tuple[Item, ...]
    from_start: bool
    to_end: bool

    def search(self, text: str) -> tuple[int, int] | None:
        """Start and end of the match, or None."""
        failed: set[tuple[int, int]] = set()
        for start in range(1 if self.from_start else len(text) + 1):
            end = self._end(text, 0, start, failed)
            if end >= 0:
                return start, end
        return None

    def _end(self, text: str, i: int, at: int, failed: set[tuple[int, int]]) -> int:
        """Where a match of items[i:] that begins at `at` ends; -1 if there is none.

        What fails at one place fails there whatever came before, so (item, place) is never tried again.
        """
        while i < len(self.items) and not self.items[i].repeat:
            if at == len(text) or not self.items[i].test(text[at]):
                return -1
            i, at = i + 1, at + 1
        if i == len(self.items):
            return at if at == len(text) or not self.to_end else -1
        item = self.items[i]
        if item.repeat == "?":
            if (i, at) in failed:
                return -1
            failed.add((i, at))
            if at < len(text) and item.test(text[at]):
                end = self._end(text, i + 1, at + 1, failed)
                if end >= 0:
                    return end
            return self._end(text, i + 1, at, failed)
        while (i, at) not in failed:
            failed.add((i, at))
            end = self._end(text, i + 1, at, failed)
            if end >= 0:
                return end
            if at == len(text) or not item.test(text[at]):
                break
            at += 1
        return -1


@lru_cache(maxsize=256)
def parse(pattern: str) -> Pattern:
    """Reads a pattern; ValueError with the position of what is wrong."""
    if len(pattern) > MOST_PATTERN:
        raise ValueError(f"a pattern of {len(pattern)} characters; at most {MOST_PATTERN} are possible")
    from_start = pattern.startswith("^")
    items: list[Item] = []
    to_end = False
    at = int(from_start)
    while at < len(pattern):
        begin, c = at, pattern[at]
        at += 1
        if c == "$" and at == len(pattern):
            to_end = True
            break
        if c in "*?":
            raise _wrong(pattern, begin, f"{c} has no character before it to repeat; write \\{c} for the character")
        if c == "\\":
            if at == len(pattern):
                raise _wrong(pattern, begin, "nothing follows the backslash; write \\\\ for a backslash")
            c = pattern[at]
            at += 1
            test = _class(c)
        else:
            test = _anything if c == "." else c.__eq__
        repeat = pattern[at] if at < len(pattern) and pattern[at] in "*?" else ""
        at += len(repeat)
        items.append(Item(test, repeat))
    return Pattern(tuple(items), from_start, to_end)


def _wrong(pattern: str, at: int, what: str) -> ValueError:
    return ValueError(f"'{pattern}' is no pattern: at character {at + 1}, {what}")


def _anything(c: str) -> bool:
    return True


def _class(c: str) -> Test:
    """What `\\c` stands for."""
    if c in _CLASSES:
        return _CLASSES[c]
    if c.lower() in _CLASSES and c.isascii():
        positive = _CLASSES[c.lower()]
        return lambda other: not positive(other)
    return c.__eq__


def _check(arguments: Arguments) -> None:
    parse(one_text(arguments, r'one pattern in quotes, e.g. "^\u"'))


def _found(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    search = parse(str(arguments[0])).search
    return ["false" if search(s) is None else "true" for s in strings]


def _matched(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    search = parse(str(arguments[0])).search
    spans = map(search, strings)
    return ["" if span is None else s[span[0] : span[1]] for s, span in zip(strings, spans, strict=True)]


# positions beyond the sentence are strings like any other for Wapiti
T = Function("t", "Wapiti's %t: whether a pattern is found, true or false", _check, of_type=_found, padded=True)
M = Function("m", "Wapiti's %m: the text that a pattern matches", _check, of_type=_matched, padded=True)
