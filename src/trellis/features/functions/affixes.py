"""Prefixes and suffixes: `prefix(word, 3)` is `the` for `therefore`; shorter words have none."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.features.functions.contract import Arguments, Function, Resource, one_count


def _prefix(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    n = int(arguments[0])
    return [s[:n] if len(s) >= n else None for s in strings]


def _suffix(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    n = int(arguments[0])
    return [s[-n:] if len(s) >= n else None for s in strings]


PREFIX = Function("prefix", "the first n characters", one_count, of_type=_prefix, many=True)
SUFFIX = Function("suffix", "the last n characters", one_count, of_type=_suffix, many=True)
