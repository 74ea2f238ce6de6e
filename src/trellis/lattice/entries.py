"""Numbers on some of the nodes and arcs of a chain, as lists that kernels read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any


class NodeEntries(NamedTuple):
    """Labels of tokens and a number for each, ascending within a token."""

    start: Array  # I64[tokens + 1]
    label: Array  # I32[entries]
    value: Array  # F64[entries]


class ArcEntries(NamedTuple):
    """Transitions into tokens and a number for each, ascending by label before, then label here."""

    start: Array  # I64[tokens + 1]
    before: Array  # I32[entries]
    here: Array  # I32[entries]
    value: Array  # F64[entries]


class EntriesH(NamedTuple):
    """h on arcs: the same everywhere, `matrix: F64[labels, labels]`, and more on some."""

    matrix: Array
    entries: Array


def no_arcs(tokens: int) -> ArcEntries:
    """None at any of so many tokens."""
    none = np.zeros(0, np.int32)
    return ArcEntries(np.zeros(tokens + 1, np.int64), none, none, np.zeros(0))
