"""The passive-aggressive algorithms for sequences (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006).

    y* = argmax S(y);   loss = S(y*) - S(y) + margin(y*, y)
    theta <- theta + tau Delta,  Delta = F(y) - F(y*)
    PA: tau = loss / |Delta|^2    PA-I: min(C, PA's)    PA-II: loss / (|Delta|^2 + 1 / (2 C))

Nothing is done where y* is the gold path. With the margin WORST, y* is the path with the largest loss in place of that
with the highest score. The average over all steps comes as the perceptron's does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.objective.kernels.changes import gather, move_along, room_for_change, square
from trellis.objective.kernels.paths import best_path, mistakes, room_for_search

Array = Any

ONE, ROOT, COUNT, WORST = 0, 1, 2, 3  # margins: 1, the square root of the number of wrong labels, the number twice


@part
def margin_of(wrong: int, kind: int) -> float:
    if kind >= COUNT:
        return float(wrong)
    return np.sqrt(float(wrong)) if kind == ROOT else 1.0


@part
def rival(tokens: Array, s: int, theta: Array, margin: int, search: Array) -> Array:
    """y* into search.path; how many of its labels are wrong, and the loss against it."""
    excess = best_path(tokens, s, theta, 1.0 if margin == WORST else 0.0, search)
    wrong = mistakes(tokens, s, search.path)
    return wrong, excess + margin_of(wrong, margin)


@part
def step_size(loss: float, norm: float, variant: int, aggressiveness: float) -> float:
    """tau, for a norm |Delta|^2 > 0."""
    if variant == 2:
        return loss / (norm + 0.5 / aggressiveness)
    return loss / norm if variant == 0 else min(aggressiveness, loss / norm)


@kernel
def passive_aggressive_pass(
    tokens: Array, order: Array, theta: Array, late: Array, step: int, variant: int, aggressiveness: float,
    margin: int,
) -> Array:  # fmt: skip
    """As `perceptron_pass`, but for the value: losses, added up."""
    search, change = room_for_search(tokens, theta), room_for_change(tokens, theta)
    value, sentences, labels = 0.0, 0, 0
    for n in range(len(order)):
        s = order[n]
        wrong, loss = rival(tokens, s, theta, margin, search)
        if wrong > 0 and loss > 0.0:
            value, sentences, labels = value + loss, sentences + 1, labels + wrong
            gather(tokens, s, search.path, theta, change)
            norm = square(change)
            if norm > 0.0:
                tau = step_size(loss, norm, variant, aggressiveness)
                move_along(change, tau, float(step + n), theta, late)
    return value, sentences, labels
