"""The margin-infused relaxed algorithm (Crammer & Singer 2003) with the k best paths (McDonald et al. 2005).

    theta <- argmin |theta' - theta|^2   such that   theta' Delta_p >= wrong labels of p,  for the k best paths p

by Hildreth's algorithm, coordinate ascent in the dual: theta' = theta + sum of alpha_p Delta_p, 0 <= alpha_p <= C,
where C is what a constraint may cost at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, part
from trellis.objective.kernels.changes import KINDS, Change, gather, move_along, room_for_change
from trellis.objective.kernels.kbest import k_best_paths, room_for_k
from trellis.objective.kernels.paths import mistakes

Array = Any

_SWEEPS = 10_000  # paths that differ by a small feature value alone make slow progress
_EXACT = 1e-9  # of the largest margin: what a constraint may be off by


@part
def products(changes: Array, p: int, paths: int, spread: Array, gram: Array) -> None:
    """gram[p, q] = Delta_p' Delta_q for all q; `spread`, zeros as long as a vector, is left as it was."""
    place, amount, count = changes
    for kind in range(KINDS):
        for n in range(count[p, kind]):
            spread[kind][place[p, kind, n]] = amount[p, kind, n]
    for q in range(paths):
        total = 0.0
        for kind in range(KINDS):
            own = spread[kind]
            for n in range(count[q, kind]):
                total += amount[q, kind, n] * own[place[q, kind, n]]
        gram[p, q] = total
    for kind in range(KINDS):
        for n in range(count[p, kind]):
            spread[kind][place[p, kind, n]] = 0.0


@part
def hildreth(gram: Array, short: Array, paths: int, most: float, alpha: Array) -> None:
    """alpha for constraints that are not met by `short: F64[k]`, which is used up."""
    largest = 0.0
    for p in range(paths):
        alpha[p] = 0.0
        largest = max(largest, abs(short[p]))
    for _ in range(_SWEEPS):
        moved = 0.0
        for p in range(paths):
            if gram[p, p] > 0.0:
                new = min(most, max(0.0, alpha[p] + short[p] / gram[p, p]))
                by = new - alpha[p]
                alpha[p] = new
                moved = max(moved, abs(by) * gram[p, p])
                for q in range(paths):
                    short[q] -= by * gram[q, p]
        if moved <= _EXACT * largest:
            break


@kernel
def mira_pass(tokens: Array, order: Array, theta: Array, late: Array, step: int, k: int, most: float) -> Array:
    """As `passive_aggressive_pass`, for k paths a sentence, and C = `most`; its loss is the largest of theirs."""
    search, change = room_for_k(tokens, theta, k), room_for_change(tokens, theta)
    room = change.place.shape[1]
    place, amount, count = (
        np.zeros((k, KINDS, room), np.int64),
        np.zeros((k, KINDS, room)),
        np.zeros((k, KINDS), np.int64),
    )
    spread = (
        np.zeros(theta.rows.size), np.zeros(len(theta.singles)), np.zeros(theta.transitions.size),
        np.zeros(len(theta.arcs)),
    )  # fmt: skip
    gram, short, alpha = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    value, sentences, labels = 0.0, 0, 0
    for n in range(len(order)):
        s = order[n]
        paths, gold_score = k_best_paths(tokens, s, theta, search)
        length = tokens.offsets[s + 1] - tokens.offsets[s]
        loss = 0.0
        for p in range(paths):
            wrong = mistakes(tokens, s, search.path[p])
            short[p] = wrong + search.value[length, 0, p] - gold_score if wrong > 0 else 0.0
            loss = max(loss, short[p])
            labels += wrong if p == 0 else 0
        if loss > 0.0:
            value, sentences = value + loss, sentences + 1
            for p in range(paths):
                gather(tokens, s, search.path[p], theta, Change(place[p], amount[p], count[p], change.at))
            for p in range(paths):
                products((place, amount, count), p, paths, spread, gram)
            hildreth(gram, short, paths, most, alpha)
            for p in range(paths):
                if alpha[p] > 0.0:
                    now = Change(place[p], amount[p], count[p], change.at)
                    move_along(now, alpha[p], float(step + n), theta, late)
    return value, sentences, labels
