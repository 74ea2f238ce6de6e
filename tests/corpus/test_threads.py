"""Work that threads share."""

from __future__ import annotations

import threading

import pytest

from trellis.corpus import threads
from trellis.corpus.threads import on_threads


@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("many", [1, 2, 7])
def test_answers_are_in_order(count, many):
    assert on_threads(lambda n: n * n, count, many) == [n * n for n in range(count)]


@pytest.mark.skipif(threads.threads_available() < 2, reason="one processor only")
def test_two_work_at_a_time():
    both = threading.Barrier(2, timeout=60)
    assert on_threads(lambda n: both.wait() >= 0, 2, 2) == [True, True]


def test_of_several_errors_the_first_is_raised():
    def work(n):
        if n in (3, 5, 6):
            raise ValueError(n)

    for _ in range(20):
        with pytest.raises(ValueError, match=r"^3$"):
            on_threads(work, 9, 3)


def test_work_may_be_within_work():
    assert on_threads(lambda n: sum(on_threads(lambda m: m, 5, 8)) + n, 9, 8) == [10 + n for n in range(9)]


def test_without_other_threads_the_one_that_asks_does_all(monkeypatch):
    class Ended:
        def submit(self, work):
            raise RuntimeError("cannot schedule new futures after shutdown")

    monkeypatch.setattr(threads, "_pool", Ended)
    assert on_threads(lambda n: n, 5, 2) == list(range(5))
