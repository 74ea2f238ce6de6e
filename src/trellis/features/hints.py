"""What to say of names that are not known, and how a column is written in an expression."""

from __future__ import annotations

from collections.abc import Iterable
from keyword import iskeyword


def near(name: str, known: Iterable[str]) -> str | None:
    """The known name that this is most likely a misspelling of."""
    from difflib import get_close_matches  # only needed when something is wrong

    folded = {one.casefold(): one for one in known}
    found = get_close_matches(name[:100].casefold(), folded, 1)
    return folded[found[0]] if found else None


def instead(name: str, what: str, known: Iterable[str]) -> str:
    """`did you mean 'suffix'?`, or all there are: `the functions are: ...`."""
    known = list(known)
    meant = near(name, known)
    return f"did you mean '{meant}'?" if meant else f"the {what} are: {', '.join(known)}"


def is_plain(column: str) -> bool:
    """Whether an expression can have a column's name as it is."""
    return column.isidentifier() and not iskeyword(column)


def written(column: str) -> str:
    """A column in an expression: `word`, `column("word-form")`."""
    return column if is_plain(column) else f'column("{column}")'
