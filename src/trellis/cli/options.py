"""Options that several commands share."""

from __future__ import annotations

import click

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
