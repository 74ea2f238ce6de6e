"""What threads find out is added up in the order of the parts, and a failure ends the waiting."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from trellis.engine.turns import asked_in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_answers_are_added_in_order_whoever_is_first(threads):
    order, delays = [], random.Random(0)

    def ask(part):
        time.sleep(delays.random() * 0.003)
        return part * part

    with ThreadPoolExecutor(threads) as pool:
        asked_in_order(pool, range(30), ask, lambda part, answer: order.append((part, answer)))
    assert order == [(n, n * n) for n in range(30)]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failure_is_raised_and_nobody_waits_for_it(threads):
    added = []

    def ask(part):
        if part == 4:
            raise ArithmeticError("four")
        return part

    with ThreadPoolExecutor(threads) as pool, pytest.raises(ArithmeticError, match="four"):
        asked_in_order(pool, range(20), ask, lambda part, answer: added.append(answer))
    assert added == list(range(4))


def test_a_failure_in_adding_is_raised_too():
    def add(part, answer):
        if part == 2:
            raise ArithmeticError("two")

    with ThreadPoolExecutor(2) as pool, pytest.raises(ArithmeticError, match="two"):
        asked_in_order(pool, range(9), lambda part: part, add)
