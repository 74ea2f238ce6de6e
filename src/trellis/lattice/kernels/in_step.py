"""Forward-backward for a group of sentences that go in step: at each position one product of a few rows with a matrix.

The sentences of a group are ordered from the longest to the shortest, so that those which are still going at position t
are the first `active[t]`. Their rows lie one behind the other from row `first[t]` on, position after position, with no
row for a sentence that has ended.

The scales of `scaled` are applied a step late, where they cost nothing. With a_t for alpha_t before it is scaled, and
b_t = c_t beta_t, r_t = c_(t-1) q_t in place of beta_t and q_t:

    a_t[j] = psi_t[j] c_(t-1) sum_i a_(t-1)[i] E[i, j]        c_t = 1 / sum_j a_t[j]
    b_(t-1)[i] = sum_j E[i, j] r_t[j]                         r_t = c_(t-1) psi_t b_t
    P(y_t = j) = a_t[j] b_t[j]                                P(y_(t-1) = i, y_t = j) = a_(t-1)[i] E[i, j] r_t[j]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import part
from trellis.lanes import LANES, exp, highest, larger, load, splat, store, total, where_above, where_positive
from trellis.lattice.kernels.products import ROWS, add_outer, products

Array = Any


class Group(NamedTuple):
    """Room for a group: `start`, `length: I64[sentences]` of each sentence, `first`, `active: I64[positions]`, and by
    row its token `place: I64[rows]`, psi (later r), a and c. `step: F64[sentences, width]` is b of the position at
    hand. `far`: a score is too far from the largest of its position; `peaks`: sum of these largest scores."""

    start: Array
    length: Array
    first: Array
    active: Array
    place: Array
    psi: Array
    alpha: Array
    scale: Array
    step: Array
    far: Array
    peaks: Array


@part
def room_for_groups(sentences: int, positions: int, rows: int, width: int) -> Array:
    """For groups of so many sentences, of no more than so many positions, and so many tokens in all."""
    most = rows + ROWS  # products are made for whole ROWS
    return Group(
        np.zeros(sentences, np.int64), np.zeros(sentences, np.int64), np.zeros(positions + 1, np.int64),
        np.zeros(positions + 1, np.int64), np.zeros(most, np.int64), np.zeros((most, width)), np.zeros((most, width)),
        np.zeros(most), np.zeros((sentences + ROWS, width)), np.zeros(sentences, np.bool_), np.zeros(sentences),
    )  # fmt: skip


@part
def line_up(group: Array, count: int) -> int:
    """Fills in `first`, `active` and `place` for the first `count` sentences, the longest first; their positions."""
    longest, rows, going = 0 if count == 0 else group.length[0], 0, count
    for t in range(longest):
        while group.length[going - 1] <= t:
            going -= 1
        group.first[t], group.active[t] = rows, going
        for w in range(going):
            group.place[rows + w] = group.start[w] + t
        rows += going
    group.first[longest], group.active[longest] = rows, 0
    return longest


@part
def enter_group(group: Array, positions: int, scores: Array, limit: float) -> None:
    """psi = exp(score - largest of its position). Sentences with scores that are further apart than the limit are
    marked, and get a psi of 1."""
    width, psi = scores.shape[1], group.psi
    for w in range(len(group.far)):
        group.far[w] = False
        group.peaks[w] = 0.0
    for t in range(positions):
        for w in range(group.active[t]):
            r = group.first[t] + w
            token = group.place[r]
            high, low = splat(-np.inf), splat(-np.inf)  # the latter of what is turned round
            for j in range(0, width, LANES):
                v = load(scores, token, j)
                high = larger(high, v)
                low = larger(low, where_above(v, -np.inf, 0.0 - v, -np.inf))
            top = highest(high)
            if not top + highest(low) <= limit or top == -np.inf:
                group.far[w] = True
                top = 0.0 if top == -np.inf else top
            for j in range(0, width, LANES):
                store(psi, r, j, exp(load(scores, token, j) - top))
            group.peaks[w] += top
    for w in range(group.active[0] if positions else 0):
        if group.far[w]:
            fill_rows(group, w, group.psi, 1.0)


@part
def fill_rows(group: Array, w: int, rows: Array, value: float) -> None:
    """One value in all rows of a sentence."""
    for t in range(group.length[w]):
        for j in range(0, rows.shape[1], LANES):
            store(rows, group.first[t] + w, j, splat(value))


@part
def forward_group(group: Array, positions: int, across: Array) -> None:
    """a and c; across: E in panels. c is 0 where no path is left."""
    psi, alpha, scale, width = group.psi, group.alpha, group.scale, group.psi.shape[1]
    for t in range(positions):
        r, count = group.first[t], group.active[t]
        if t == 0:
            for w in range(count):
                for j in range(0, width, LANES):
                    store(alpha, w, j, splat(1.0))
        else:
            products(alpha, group.first[t - 1], count, across, alpha, r)
        for w in range(count):
            c = scale[group.first[t - 1] + w] if t > 0 else 1.0
            sums = splat(0.0)
            for j in range(0, width, LANES):
                v = load(alpha, r + w, j) * load(psi, r + w, j) * c
                store(alpha, r + w, j, v)
                sums = sums + v
            mass = total(sums)
            scale[r + w] = 1.0 / mass if mass > 0.0 else 0.0


@part
def step_back(group: Array, t: int, down: Array) -> None:
    """b of position t into `step`; down: E transposed, in panels."""
    step, width, going = group.step, group.psi.shape[1], group.active[t + 1]
    if going > 0:
        products(group.psi, group.first[t + 1], going, down, step, 0)
    for w in range(going, group.active[t]):
        c = group.scale[group.first[t] + w]
        for j in range(0, width, LANES):
            store(step, w, j, splat(c))


@part
def leave(group: Array, t: int, nodes: Array) -> None:
    """P(y_t = j) into nodes[token], and r_t in the place of psi_t. Labels with a_t = 0 are on no path; their r_t is 0,
    so that nothing that grows behind them spoils the rest."""
    psi, alpha, step, width = group.psi, group.alpha, group.step, group.psi.shape[1]
    for w in range(group.active[t]):
        r = group.first[t] + w
        token = group.place[r]
        before = group.scale[group.first[t - 1] + w] if t > 0 else 1.0
        for j in range(0, width, LANES):
            a, b = load(alpha, r, j), load(step, w, j)
            store(nodes, token, j, a * b)
            store(psi, r, j, where_positive(a, load(psi, r, j) * b * before))


@part
def add_arcs(group: Array, positions: int, sums: Array) -> None:
    """sums[i, j] += sum_t a_(t-1)[i] r_t[j] over all sentences: F64[width, width], without E."""
    for t in range(1, positions):
        add_outer(group.alpha, group.first[t - 1], group.psi, group.first[t], group.active[t], sums)


@part
def log_scales(group: Array, w: int) -> float:
    """sum_t log c_t of a sentence, with one logarithm for many factors."""
    found, product = 0.0, 1.0
    for t in range(group.length[w]):
        c = group.scale[group.first[t] + w]
        if c > 1e-100 and c < 1e100:
            product *= c
        else:
            found += np.log(c)
        if product < 1e-200 or product > 1e200:
            found += np.log(product)
            product = 1.0
    return found + np.log(product)  # type: ignore[no-any-return]
