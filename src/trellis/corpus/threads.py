"""Work that threads share. Results are in order, whoever did it.

Threads are started once and kept: starting them for each small piece of work would take as long as the work. The one
that asks works too, and does all of it where no other is free; so work may be within work. A fork starts threads of its
own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Generic, TypeVar

from trellis.jit import threads_available

Answer = TypeVar("Answer")


def on_threads(work: Callable[[int], Answer], count: int, threads: int) -> list[Answer]:
    """work(0), work(1), ... in order. Of several errors the first one is raised."""
    if threads <= 1 or count <= 1:
        return [work(n) for n in range(count)]
    job = _Job(work, count)
    helpers = [_asked(job) for _ in range(min(threads, count) - 1)]
    job.run()
    for helper in helpers:
        if helper is not None and not helper.cancel():
            helper.result()
    if job.errors:
        raise job.errors[min(job.errors)]
    return [job.answers[n] for n in range(count)]


class _Job(Generic[Answer]):
    """Numbers are given out in order, so that before one that fails all have been done."""

    def __init__(self, work: Callable[[int], Answer], count: int):
        self._work = work
        self._next = iter(range(count))
        self._giving = Lock()
        self.answers: dict[int, Answer] = {}
        self.errors: dict[int, BaseException] = {}

    def run(self) -> None:
        while not self.errors:
            with self._giving:
                n = next(self._next, None)
            if n is None:
                return
            try:
                self.answers[n] = self._work(n)
            except BaseException as error:
                self.errors[n] = error


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads_available())


if hasattr(os, "register_at_fork"):
    # a child has the pool but not its threads: work that is left there would never be taken out
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _asked(job: _Job[Answer]) -> Future[None] | None:
    try:
        return _pool().submit(job.run)
    except RuntimeError:  # the interpreter is about to end
        return None
