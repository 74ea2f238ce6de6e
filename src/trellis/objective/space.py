"""Memory that is used up within one question: scores, rows of weights and their gradient.

The shards of an objective take turns, so they need this once for each thread, not once for each shard; and what was
just written is still in the cache.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.rows import empty_rows


class Space:
    """Matrices by name, with what they held last. `by_thread`: every thread has its own, for shards in turn; then
    `keeps_answers` says whether these have memory of their own all the same for what they answer."""

    def __init__(self, by_thread: bool = False):
        self.keeps_answers = not by_thread
        self._by_thread = threading.local() if by_thread else None
        self._of_all: list[dict[tuple[str, Any], NDArray[Any]]] = []  # threads, for who wants to know how much it is
        self._own: dict[tuple[str, Any], NDArray[Any]] = {}

    def rows(self, name: str, rows: int, width: int, kind: Any = np.float64) -> NDArray[Any]:
        """The same memory each time, unless more is wanted of it."""
        held = self._held
        size = rows * width
        if (name, kind) not in held or held[name, kind].size < size:
            held[name, kind] = empty_rows(1, max(1, size), kind)[0]
        out: NDArray[Any] = held[name, kind][:size].reshape(rows, width)
        return out

    def numbers(self, name: str, count: int, kind: Any = np.float64) -> NDArray[Any]:
        out: NDArray[Any] = self.rows(name, 1, count, kind)[0]
        return out

    @property
    def _held(self) -> dict[tuple[str, Any], NDArray[Any]]:
        if self._by_thread is None:
            return self._own
        if not hasattr(self._by_thread, "held"):
            self._by_thread.held = {}
            self._of_all.append(self._by_thread.held)
        mine: dict[tuple[str, Any], NDArray[Any]] = self._by_thread.held
        return mine
