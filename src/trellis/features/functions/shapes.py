"""What a word looks like: `shape` is `Xxxxxxxxx` for `Reykjavik`, `short_shape` is `Xx`; `3.14` gives `d.dd`, `d.d`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trellis.features.functions.contract import Arguments, Function, Resource, no_arguments

_RUN = re.compile(r"(.)\1+", re.DOTALL)


class _Kinds(dict[int, str]):
    """Code point -> X, x, d or the character itself, each looked at once."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        if c.isupper():
            kind = "X"
        elif c.isdigit():
            kind = "d"
        else:
            kind = "x" if c.islower() or c.isalpha() else c  # letters without case count as small
        self[code] = kind
        return kind


_KINDS = _Kinds()


def _shape(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    return [s.translate(_KINDS) for s in strings]


def _short_shape(strings: Sequence[str], _: Resource | None, arguments: Arguments) -> list[str | None]:
    shapes = [s.translate(_KINDS) for s in strings]
    short = {shape: _RUN.sub(r"\1", shape) for shape in set(shapes)}  # there are few shapes
    return [short[shape] for shape in shapes]


SHAPE = Function("shape", "upper case as X, other letters as x, digits as d", no_arguments, of_type=_shape)
SHORT_SHAPE = Function("short_shape", "the shape with runs of one sign made one", no_arguments, of_type=_short_shape)
