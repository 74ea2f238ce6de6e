"""Python's regular expressions: `regex(word, "-.*-")` asks whether one is found, `find(word, "^Mc(.)")` what it finds.

A pattern is tried on every word type with `re.search`. Nested repetitions such as `(a+)+$` can take Python's matcher
exponential time on some words; that is the pattern's fault, and not caught here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trellis.features.functions.checks import one_text
from trellis.features.functions.contract import Arguments, Function, Resource


def _check(arguments: Arguments) -> None:
    _compiled(one_text(arguments, 'one regular expression in quotes, e.g. "[0-9]$"'))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        raise ValueError(f"'{pattern}' is no regular expression: {error.msg}{where}; see Python's module re") from None
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"a regular expression too large to use: {error}; make it smaller") from None


def _regex(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    search = _compiled(str(arguments[0])).search
    return ["true" if search(s) else None for s in strings]


def _find(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    pattern = _compiled(str(arguments[0]))
    group = min(pattern.groups, 1)
    matches = map(pattern.search, strings)
    # text that is empty says nothing, and would make an attribute without a value
    return [None if match is None else match.group(group) or None for match in matches]


REGEX = Function("regex", "whether a regular expression is found", _check, of_type=_regex)
FIND = Function("find", "what a regular expression finds, or its first group", _check, of_type=_find)
