"""Real-valued columns: `number(score)` is one attribute whose value is the number in the column, negative ones too."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trellis.features.functions.contract import Arguments, BadString, Function, Resource, Row, no_arguments
from trellis.features.functions.parts import NOTHING


def _number(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[Row]:
    return [() if s == NOTHING else (("", _finite(s)),) for s in strings]


def _finite(s: str) -> float:
    try:
        # Python reads 1_000 as a number, no other program does
        value = float(s) if "_" not in s else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadString(f"'{s}' is not a number; expected one such as -0.5 or 3e2, or _ for no value", s)
    return value


NUMBER = Function("number", "the number in the column as the attribute's value", no_arguments, rows=_number)
