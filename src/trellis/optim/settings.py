"""Hyperparameters that know what they may be: a field says its range, and a value outside is refused by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, get_type_hints

from trellis.errors import SettingError, shown


@dataclass(frozen=True)
class Range:
    """What a hyperparameter may be, besides its type."""

    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    below: float = math.inf
    choices: tuple[str, ...] = ()

    def holds(self, value: float) -> bool:
        return self.least <= value <= self.most and self.above < value < self.below

    def __str__(self) -> str:
        bounds = {">=": self.least, ">": self.above, "<=": self.most, "<": self.below}
        return " and".join(f" {sign} {bound:g}" for sign, bound in bounds.items() if math.isfinite(bound))


def setting(
    default: Any,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field with a default and a range: least <= value <= most, above < value < below, or one
    of the choices."""
    return field(default=default, metadata={"range": Range(least, above, most, below, choices)})


def check_settings(optimizer: Any) -> None:
    """Refuses values of the wrong type or out of range, with the name of the hyperparameter."""
    types = get_type_hints(type(optimizer))
    for each in fields(optimizer):
        value, allowed = getattr(optimizer, each.name), each.metadata["range"]
        if not _fits(value, types[each.name], allowed):
            raise SettingError(f"{each.name} is {shown(value)}; expected {_expected(types[each.name], allowed)}")


def check_names(kind: type, name: str, options: dict[str, Any]) -> None:
    """Refuses options that an optimiser does not have, and lists those it has with their defaults."""
    there = {each.name: each.default for each in fields(kind)}
    for option in options:
        if option not in there:
            own = {key: value for key, value in there.items() if key not in ("tol", "seed")}  # settings of their own
            known = ", ".join(f"{key}={value!r}" for key, value in own.items())
            raise SettingError(f"optimizer '{name}' has no option '{option}'; it has: {known}")


def _fits(value: object, kind: Any, allowed: Range) -> bool:
    if kind is bool:
        return isinstance(value, bool)
    if isinstance(value, str):
        return kind in (str, int | str) and value in allowed.choices
    if kind is str:
        return False
    if kind in (float | None, int | None) and value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, Integral if kind in (int, int | str, int | None) else Real):
        return False
    try:
        return math.isfinite(value) and allowed.holds(float(value))
    except OverflowError:  # a whole number that no float can hold
        return False


def _expected(kind: Any, allowed: Range) -> str:
    if kind is bool:
        return "True or False"
    choices = " or ".join(f"'{choice}'" for choice in allowed.choices)
    if kind is str:
        return choices
    noun = "a whole number" if kind in (int, int | str, int | None) else "a number"
    more = ", or None" if kind in (float | None, int | None) else f", or {choices}" if choices else ""
    return f"{noun}{allowed}{more}"
