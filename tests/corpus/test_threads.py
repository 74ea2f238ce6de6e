"""Work that threads share."""

from __future__ import annotations

import multiprocessing
import threading
import time

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


def _in_child(answers):
    done = sum(len(on_threads(lambda n: n, 40, 2)) for _ in range(20))
    for _ in range(500):  # its threads take out what was left to nobody
        if not threads._pool()._work_queue.qsize():
            break
        time.sleep(0.02)
    answers.put((done, threads._pool()._work_queue.qsize()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.skipif(threads.threads_available() < 2, reason="one processor only")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_has_threads_of_its_own_and_leaves_no_work_behind():
    both = threading.Barrier(2, timeout=60)
    on_threads(lambda n: both.wait(), 2, 2)  # its threads are there
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(answers,))
    child.start()
    done, left = answers.get(timeout=60)
    child.join(60)
    assert (done, left) == (800, 0)
