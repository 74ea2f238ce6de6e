"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trellis.errors import SettingError

# Paths are plain strings here; whoever opens a file says what is wrong with it. `-` is standard input.
columns = click.option(
    "--columns", metavar="NAMES", help="Names of the columns from left to right, `_` to leave one out."
)
comments = click.option("--comments", is_flag=True, help="Lines that begin with `#` are not tokens.")
threads = click.option("--threads", type=int, metavar="N", help="Threads; all if not given. The result is the same.")
as_json = click.option("--json", "json", is_flag=True, help="Print one JSON object as the last line.")


def names_of(columns: str | None) -> list[str] | None:
    """`word,pos,chunk` -> a list."""
    return None if columns is None else columns.split(",")


_WORDS = {"true": True, "false": False, "none": None}


class Joined(click.Option):
    """With `multiple`: may be given several times; values are joined by commas. In a file it is one text."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        return value if isinstance(value, str) else ",".join(value or ())

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        found = super().process_value(ctx, value)
        return None if found in ("", (), {}) else found


class Table(Joined):
    """Of pairs NAME=VALUE, which in a file may be a table, too; some options may be a number as well."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        return value if isinstance(value, dict | int | float) else super().type_cast_value(ctx, value)


def pairs(name: str, metavar: str, text: str, kind: type[Joined] = Table) -> Callable[[Any], Any]:
    """An option with commas between its values, in one place or several."""
    return click.option(name, cls=kind, multiple=True, metavar=metavar, help=text)


once = pairs("--at-most-once", "TYPES", "Types of segments of which a sentence has one at most: NP,VP.", Joined)
penalties = pairs("--penalties", "L=X,...", "Added to the scores of labels, or of 'A -> B'; -inf forbids.")


def constraints_of(kind: type, at_most_once: str | None, penalties: str | None) -> dict[str, Any]:
    """What to tell a model of that kind beside its data."""
    if at_most_once is None and penalties is None:
        return {}
    from trellis.models import Constraints
    from trellis.models.probable import ProbableTagger

    if not issubclass(kind, ProbableTagger):
        raise SettingError(f"a {kind.__name__} knows no constraints; leave --at-most-once and --penalties out")
    kinds = [name.strip() for name in (at_most_once or "").split(",") if name.strip()]
    if at_most_once is not None and not kinds:
        raise SettingError(f"--at-most-once is '{at_most_once}'; expected types of segments with commas between")
    table: Any = table_of(penalties, "--penalties") or {}  # of whatever kind: constraints are checked later
    return {"constraints": Constraints(penalties=table, at_most_once=kinds)}


def table_of(text: object, option: str) -> dict[str, object] | None:
    """`name=value,name=value` -> a dict; numbers, true, false and none are taken as such."""
    if text is None or isinstance(text, dict):
        return text
    table: dict[str, object] = {}
    for pair in str(text).split(","):
        name, equals, value = pair.rpartition("=")
        if not (equals and name.strip()):
            raise SettingError(f"{option} {text}: found '{pair}', expected NAME=VALUE with commas between")
        if name.strip() in table:
            raise SettingError(f"{option} {text}: '{name.strip()}' is given twice")
        table[name.strip()] = _plain_value(value.strip())
    return table


def costs_of(text: object, option: str) -> object:
    """One number for all labels, or a table."""
    value = _plain_value(text.strip()) if isinstance(text, str) else text
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and "=" not in value:
        raise SettingError(f"{option} {text}: expected a number, or LABEL=NUMBER with commas between")
    return table_of(text, option)


def _plain_value(text: str) -> object:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
