"""Several values for one string: `each(feats)` the parts between bars, `ngrams(word, 3)` the character n-grams."""

from __future__ import annotations

from collections.abc import Sequence

from trellis.features.functions.checks import is_text, listed
from trellis.features.functions.contract import Arguments, Function, Resource, Row, one_count

NOTHING = "_"  # what CoNLL files write where there is no value


def _check_separator(arguments: Arguments) -> None:
    if arguments and (len(arguments) > 1 or not is_text(arguments[0])):
        raise ValueError(f'needs no argument or one separator in quotes, e.g. "|"; found {listed(arguments)}')


def _each(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[Row]:
    separator = str(arguments[0]) if arguments else "|"
    return [_row([part for part in s.split(separator) if part not in ("", NOTHING)]) for s in strings]


def _ngrams(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[Row]:
    n = int(arguments[0])
    rows = []
    for s in strings:
        marked = s if n == 1 else f"<{s}>"  # a mark alone says nothing
        rows.append(_row([marked[k : k + n] for k in range(len(marked) - n + 1)]))
    return rows


def _row(values: list[str]) -> Row:
    """Each value once, in order."""
    return tuple([(value, 1.0) for value in dict.fromkeys(values)])


EACH = Function("each", "the parts between separators, each a value", _check_separator, rows=_each)
NGRAMS = Function("ngrams", "every n characters in a row, the edges as < and >", one_count, rows=_ngrams, many=True)
