"""The string itself, and in lower case."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.features.functions.contract import Arguments, Function, Resource, no_arguments


def _itself(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return list(strings)


def _lower(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return [s.lower() for s in strings]


ITSELF = Function("x", "the string itself", no_arguments, of_type=_itself, padded=True)
LOWER = Function("lower", "in lower case", no_arguments, of_type=_lower, padded=True)
