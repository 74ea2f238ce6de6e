"""The structured perceptron (Collins 2002; Altun et al. 2003, Algorithm 1), one sentence after the other.

    y* = argmax S(y);   theta <- theta + F(y_i) - F(y*)   if y* != y_i

The average of theta after each of the steps c = 0 ... C - 1 comes from a sum that is only touched at mistakes: with u
the sum of c times the change made at step c, it is theta - u / C.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel
from trellis.objective.kernels.paths import best_path, mistakes, move, room_for_search

Array = Any


@kernel
def perceptron_pass(tokens: Array, order: Array, theta: Array, late: Array, step: int) -> Array:
    """Sentences `order: I64[...]`, none empty; `late` is u, and `step` counts the sentences before. theta and late are
    changed. Returns the sum of S(y*) - S(y), before each update, and the numbers of wrong sentences and labels."""
    search = room_for_search(tokens, theta)
    value, sentences, labels = 0.0, 0, 0
    for n in range(len(order)):
        s = order[n]
        excess = best_path(tokens, s, theta, 0.0, search)
        wrong = mistakes(tokens, s, search.path)
        if wrong > 0:
            value, sentences, labels = value + excess, sentences + 1, labels + wrong
            move(tokens, s, search.path, 1.0, float(step + n), theta, late)
    return value, sentences, labels
