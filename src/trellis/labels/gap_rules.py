"""Which labels of the encoding with gaps (`gaps`) may follow each other, as far as two neighbours tell.

    label   may follow                                      may be last
    O B-X   O B I                                           yes
    I-X     B-X I-X; after a gap, that is after o b i       yes
    o b-X   B I; in the gap o b i                           no
    i-X     b-X i-X                                         no

What neighbours cannot tell is whether an I after a gap has the type of the span before it, unless the gap says so: an
`o` may have the type of the span that it interrupts, and then agrees with its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BOOL = NDArray[np.bool_]

GAPPY = "gappy"
GAPPY_PREFIXES = "BIobi"


def gappy_transitions(parts: Sequence[tuple[str, str]]) -> tuple[BOOL, BOOL, BOOL]:
    """(start [L], transition [L, L], end [L]) of labels given as (prefix, type)."""
    prefix = np.array([p for p, _ in parts], dtype="U1")
    kind = np.array([k for _, k in parts], dtype=np.str_)

    def having(letters: str) -> BOOL:
        return np.isin(prefix, list(letters))

    same = kind[:, None] == kind
    loose = having("o") & (kind == "")  # says nothing of the type around it
    agree = same | loose[:, None] | loose | having("bi")[:, None]
    before, here = having("BI")[:, None], having
    transition = having("OBI")[:, None] & here("OB")
    transition |= before & here("I") & same
    transition |= having("obi")[:, None] & here("I") & agree
    transition |= (before | having("obi")[:, None]) & here("o") & agree
    transition |= (before | having("obi")[:, None]) & here("b")
    transition |= having("bi")[:, None] & here("i") & same
    return having("OB"), transition, having("OBI")
