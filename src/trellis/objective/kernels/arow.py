"""Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009), for sequences, with a diagonal covariance.

    loss = S(y*) - S(y) + margin(y*, y);            beta = 1 / (Delta' Sigma Delta + gamma)
    theta <- theta + loss beta Sigma Delta;         1 / Sigma_k <- 1 / Sigma_k + Delta_k^2 / gamma

Often-seen weights get small variances, and move little; a weight that is seen for the first time moves at once.
"""

from __future__ import annotations

from typing import Any

from trellis.jit import kernel, part
from trellis.objective.kernels.changes import KINDS, flat, gather, room_for_change
from trellis.objective.kernels.passive_aggressive import rival
from trellis.objective.kernels.paths import room_for_search

Array = Any


@part
def scale_by_variance(change: Array, variance: Array) -> float:
    """Delta' Sigma Delta."""
    spread, total = flat(variance), 0.0
    for kind in range(KINDS):
        own = spread[kind]
        for n in range(change.count[kind]):
            total += change.amount[kind, n] ** 2 * own[change.place[kind, n]]
    return total


@part
def move_by_variance(
    change: Array, amount: float, step: float, gamma: float, theta: Array, late: Array, variance: Array
) -> None:
    """theta += amount Sigma Delta, late += step times that, and the new variances."""
    here, sums, spread = flat(theta), flat(late), flat(variance)
    for kind in range(KINDS):
        weights, late_weights, own = here[kind], sums[kind], spread[kind]
        for n in range(change.count[kind]):
            p, delta = change.place[kind, n], change.amount[kind, n]
            by = amount * own[p] * delta
            weights[p] += by
            late_weights[p] += step * by
            own[p] = own[p] / (1.0 + own[p] * delta * delta / gamma)


@kernel
def arow_pass(
    tokens: Array, order: Array, theta: Array, late: Array, variance: Array, step: int, gamma: float, margin: int
) -> Array:
    """As `passive_aggressive_pass`; the variances are changed, too."""
    search, change = room_for_search(tokens, theta), room_for_change(tokens, theta)
    value, sentences, labels = 0.0, 0, 0
    for n in range(len(order)):
        s = order[n]
        wrong, loss = rival(tokens, s, theta, margin, search)
        if wrong > 0 and loss > 0.0:
            value, sentences, labels = value + loss, sentences + 1, labels + wrong
            gather(tokens, s, search.path, theta, change)
            amount = loss / (scale_by_variance(change, variance) + gamma)
            move_by_variance(change, amount, float(step + n), gamma, theta, late, variance)
    return value, sentences, labels
