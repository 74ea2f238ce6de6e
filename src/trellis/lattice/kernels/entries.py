"""The nodes and arcs of a chain that have some probability, as lists: most have next to none.

Token t has the labels `label[start[t]:start[t + 1]]`, and the transitions into it that are listed are from `before` to
`here`. P(i, j) is no more than P(y_(t-1) = i) or P(y_t = j): only pairs of listed labels are looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel
from trellis.lattice.kernels.patched_kept import arcs_at, room_for

Array = Any


@kernel
def list_nodes(rows: Array, labels: int, least: float) -> Any:
    """The cells of F64[tokens, at least labels] that are greater than `least`."""
    start = np.zeros(len(rows) + 1, np.int64)
    for t in range(len(rows)):
        count = 0
        for j in range(labels):
            count += rows[t, j] > least
        start[t + 1] = start[t] + count
    label, value = np.empty(start[-1], np.int32), np.empty(start[-1])
    for t in range(len(rows)):
        k = start[t]
        for j in range(labels):
            if rows[t, j] > least:
                label[k], value[k] = j, rows[t, j]
                k += 1
    return start, label, value


@kernel
def list_kept_arcs(
    alpha: Array,
    beta: Array,
    step: Array,
    across: Array,
    offsets: Array,
    order: Array,
    base: Array,
    start: Array,
    label: Array,
    least: float,
    out: Array,
    before: Array,
    here: Array,
    value: Array,
    fill: bool,
) -> None:
    """Arcs of a chain as `kept` has it that are more probable than `least`: their number at each token into out[t + 1],
    or with `fill`, once these are added up to I64[tokens + 1], the arcs themselves. start, label: the listed nodes.
    Sentences of `order` below zero are left out."""
    for n in range(len(order)):
        s = order[n]
        if s < 0:
            continue
        first, a = base[n // 4] + n % 4, offsets[s]
        for t in range(1, offsets[s + 1] - a):
            r, token = first + 4 * t, a + t
            k = out[token]
            found = 0
            for x in range(start[token - 1], start[token]):
                i = label[x]
                from_i = alpha[r - 4, i]
                for y in range(start[token], start[token + 1]):
                    j = label[y]
                    p = from_i * across[i, j] * step[r, j] * beta[r, j]
                    if p > least:
                        if fill:
                            before[k + found], here[k + found], value[k + found] = i, j, p
                        found += 1
            if not fill:
                out[token + 1] = found


@kernel
def list_patched_arcs(
    kept: Array,
    patches: Array,
    kinds: Array,
    start: Array,
    label: Array,
    least: float,
    out: Array,
    before: Array,
    here: Array,
    value: Array,
    fill: bool,
) -> None:
    """The same for a chain as `patched_kept` has it."""
    rows, apart, log_z, transitions, offsets = kept
    kind, factors = kinds.kind, kinds.factors
    room = room_for(transitions, patches, factors)
    pair = np.zeros((factors.shape[1], factors.shape[1]))
    for s in range(len(offsets) - 1):
        if log_z[s] == -np.inf:
            continue
        for t in range(offsets[s] + 1, offsets[s + 1]):
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            k = out[t]
            found = 0
            for x in range(start[t - 1], start[t]):
                i = label[x]
                for y in range(start[t], start[t + 1]):
                    j = label[y]
                    if pair[i, j] > least:
                        if fill:
                            before[k + found], here[k + found], value[k + found] = i, j, pair[i, j]
                        found += 1
            if not fill:
                out[t + 1] = found
