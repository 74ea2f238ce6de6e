"""Sums of what shards answer, in the order of the shards: the same bits for any number of threads.

Whoever has an answer waits for its turn and adds it, so that there is one vector as long as theta, and no answer has to
be kept once it has been added. (A tree over shards, each thread free to go on, took four such vectors for 16 shards and
one more answer for every shard.) Objectives with few weights have room for all answers, and take no turns.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

Part = TypeVar("Part")
Answer = TypeVar("Answer")


class Turns:
    """Numbers 0, 1, ... take turns."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._next = 0
        self._over = False

    def take(self, number: int, work: Callable[[], None]) -> None:
        """Waits until all before it have had their turns; does nothing once one of them has failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._next == number)
            if self._over:
                return
        work()
        with self._changed:
            self._next += 1
            self._changed.notify_all()

    def end(self) -> None:
        """Nobody is waited for any longer."""
        with self._changed:
            self._over = True
            self._changed.notify_all()


def asked_in_order(
    pool: Executor, parts: Sequence[Part], ask: Callable[[Part], Answer], add: Callable[[Part, Answer], None]
) -> None:
    """Asks all parts on the threads of the pool, which begins them in order, and adds the answers in order."""
    turns = Turns()

    def one(number: int) -> None:
        part = parts[number]
        try:
            answer = ask(part)
            turns.take(number, lambda: add(part, answer))
        except BaseException:
            turns.end()
            raise

    for _ in pool.map(one, range(len(parts))):
        pass
