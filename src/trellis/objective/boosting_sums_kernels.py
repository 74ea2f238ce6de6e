"""What every sentence adds to the sums U and W of boosting, which are there to be changed by differences.

Of each token the weight of its sentence times P(y_t = j) is kept, or for the gold label times 1 - P, and the same of
transitions: so a sentence that has changed need not be known as it was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part

Array = Any


class Text(NamedTuple):
    """The sentences, by length. Occurrences of token t, `start[t]:start[t + 1]`, have `count` cells each."""

    offsets: Array  # I64[sentences + 1]
    gold: Array  # I64[tokens]
    arc: Array  # I64[tokens]: the transition into the token that the labels have; -1 where it has no weight
    arc_cell: Array  # I64[sentences]: the first cell of transitions
    arc_number: Array  # I64[labels, labels]: of transitions, -1 for those without a weight
    log_weight: Array  # F64[sentences]
    start: Array  # I64[tokens + 1]
    unit: Array  # I32[occurrences]
    cell: Array  # I32[occurrences]
    count: Array  # I32[occurrences]
    value: Array  # F64[occurrences]; empty when all are 1
    label: Array  # I32[cells]: of cells of pairs


class Running(NamedTuple):
    """What changes from round to round."""

    scores: Array  # F64[tokens, width], -inf in the padding
    transitions: Array  # F64[labels, labels]
    excess: Array  # F64[sentences]: log Z - S(y)
    loss: Array  # F64[sentences]
    mass: Array  # F64[sentences]: the sentence's weight times the probability of wrong paths
    nodes: Array  # F64[tokens, width]: what is in the sums
    arcs: Array  # F64[sentences, transitions]: the same of transitions, at tokens where the labels have others
    gold_arcs: Array  # F64[tokens]: and of those that the labels have
    sums: Array  # F64[cells, 2]: U and W
    stale: Array  # U8[units]: whose sums have changed


@part
def gold_score(text: Array, now: Array, s: int) -> float:
    total = 0.0
    for t in range(text.offsets[s], text.offsets[s + 1]):
        total += now.scores[t, text.gold[t]]
        if t > text.offsets[s]:
            total += now.transitions[text.gold[t - 1], text.gold[t]]
    return total


@part
def loss_at(excess: float, log_weight: float, straight_from: float) -> Array:
    """The loss, the sentence's weight, and that times the probability of wrong paths."""
    weight = np.exp(log_weight + min(excess, straight_from))
    mass = -weight * np.expm1(-excess)
    loss = mass
    if excess >= straight_from:
        loss = weight * (excess - straight_from) + (weight - np.exp(log_weight))
    return loss, weight, mass


@part
def account(
    text: Array,
    now: Array,
    s: int,
    log_z: float,
    straight_from: float,
    shift: float,
    ignored: float,
    nodes: Array,
    arcs: Array,
    gold_arcs: Array,
    change: Array,
) -> None:
    """The sentence's loss, and its part of the sums in the place of the part that it had."""
    a, b = text.offsets[s], text.offsets[s + 1]
    excess = max(log_z - gold_score(text, now, s), 0.0)
    now.loss[s], weight, now.mass[s] = loss_at(excess, text.log_weight[s] - shift, straight_from)
    now.excess[s] = excess
    first, kept = text.arc_cell[s], now.arcs[s]
    for i in range(len(now.transitions)):
        for j in range(len(now.transitions)):
            k = text.arc_number[i, j]
            if k >= 0:
                new = weight * arcs[i, j]
                if abs(new - kept[k]) > ignored:
                    now.sums[first + k, 0] += new - kept[k]
                    kept[k] = new
    for t in range(b - a):
        k, new = text.arc[a + t], weight * gold_arcs[t]
        if k >= 0 and abs(new - now.gold_arcs[a + t]) > ignored:
            now.sums[first + k, 1] += new - now.gold_arcs[a + t]
            now.gold_arcs[a + t] = new
        _account_token(text, now, a + t, weight, nodes[t], ignored, change)


@part
def _account_token(text: Array, now: Array, t: int, weight: float, node: Array, ignored: float, change: Array) -> None:
    g, kept = text.gold[t], now.nodes[t]
    node[g] = 0.0
    wrong = 0.0
    for j in range(len(node)):
        wrong += node[j]
    node[g] = wrong
    largest = 0.0
    for j in range(len(node)):
        change[j] = weight * node[j] - kept[j]
    for j in range(len(node)):
        largest = max(largest, abs(change[j]))
    if not largest > ignored:
        return
    for j in range(len(node)):
        kept[j] = weight * node[j]
    for n in range(text.start[t], text.start[t + 1]):
        x = text.value[n] if len(text.value) else 1.0
        now.stale[text.unit[n]] = 1
        for c in range(text.cell[n], text.cell[n] + text.count[n]):
            j = text.label[c]
            # a gold label that is missed makes u negative, unless x is
            now.sums[c, int((j == g) != (x < 0.0))] += abs(x) * change[j]
