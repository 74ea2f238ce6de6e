"""Yes-or-no questions about spelling: the value is `true`, or there is none. And `initial`, the kind of the first
character; `length`, how long the word is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from trellis.features.functions.contract import Arguments, Function, Resource, no_arguments

_HYPHENS = frozenset("-\u2010\u2011")
_LEAST = [1, 2, 3, 4, 5, 7, 10, 15]
_LENGTHS = ["1", "2", "3", "4", "5-6", "7-9", "10-14", "15+"]


def _all_caps(s: str) -> bool:
    # str.isupper alone passes over letters without case
    return s.isupper() and all(c.isupper() for c in s if c.isalpha())


def _all_lower(s: str) -> bool:
    return s.islower() and all(c.islower() for c in s if c.isalpha())


def _has_digit(s: str) -> bool:
    return not s.isalpha() and any(map(str.isdigit, s))  # most words are letters only


def _has_hyphen(s: str) -> bool:
    return not s.isalpha() and not _HYPHENS.isdisjoint(s)


def _has_upper(s: str) -> bool:
    return any(map(str.isupper, s[1:]))


def _is_punctuation(s: str) -> bool:
    return s != "" and not any(map(str.isalnum, s))


def _initial(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return [_kind(s[0]) if s else None for s in strings]


def _kind(c: str) -> str:
    return "upper" if c.isupper() else "lower" if c.islower() else "digit" if c.isdigit() else "other"


def _length(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return [_LENGTHS[bisect_right(_LEAST, len(s)) - 1] if s else None for s in strings]


def _test(name: str, summary: str, holds: Callable[[str], bool]) -> Function:
    def of_type(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
        return ["true" if holds(s) else None for s in strings]

    return Function(name, summary, no_arguments, of_type=of_type)


IS_CAPITALIZED = _test("is_capitalized", "whether the first character is upper case", lambda s: s[:1].isupper())
ALL_CAPS = _test("all_caps", "whether there are letters and all are upper case", _all_caps)
ALL_LOWER = _test("all_lower", "whether there are letters and all are lower case", _all_lower)
ALL_DIGITS = _test("all_digits", "whether all characters are digits", str.isdigit)
HAS_DIGIT = _test("has_digit", "whether there is a digit", _has_digit)
HAS_HYPHEN = _test("has_hyphen", "whether there is a hyphen", _has_hyphen)
HAS_DOT = _test("has_dot", "whether there is a dot", lambda s: "." in s)
HAS_UPPER = _test("has_upper", "whether there is upper case after the first character", _has_upper)
IS_PUNCTUATION = _test("is_punctuation", "whether there is neither letter nor digit", _is_punctuation)
# (Bikel et al. 1999, Altun et al. 2003): abbreviated names and titles
CAPS_DOT = _test("caps_dot", "whether it is capitalised and has a dot", lambda s: s[:1].isupper() and "." in s)
INITIAL = Function("initial", "the first character: upper, lower, digit or other", no_arguments, of_type=_initial)
LENGTH = Function("length", "how many characters: 1, 2, 3, 4, 5-6, 7-9, 10-14, 15+", no_arguments, of_type=_length)
