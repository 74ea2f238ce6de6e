"""Tuples of labels: those of cells, and those on a path (see `kernels.windows`)."""

from __future__ import annotations

from typing import Any

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def list_tuples(sets: Array, base: Array, start: Array, labels: Array, out: Array) -> None:
    """out[cell] = its labels, I32[cells, order + 1], the oldest first; -1 before the sentence. sets: I32[patterns,
    order + 1]."""
    width = sets.shape[1]
    for p in range(len(sets)):
        for k in range(base[p], base[p + 1]):
            rest = k - base[p]
            for i in range(width - 1, -1, -1):
                if sets[p, i] < 0:
                    out[k, i] = -1
                    continue
                first, count = start[sets[p, i]], start[sets[p, i] + 1] - start[sets[p, i]]
                out[k, i] = labels[first + rest % count]
                rest //= count


@ordered_kernel
def cells_on_path(
    pattern: Array,
    base: Array,
    order: int,
    offsets: Array,
    counts: Array,
    numbers: Array,
    out: Array,
) -> None:
    """out[t] = the cell of a path at token t, I64[tokens]; -1 where one of its labels is not allowed. counts: how many
    labels each token may have; numbers: which of them the path has, -1 for none."""
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            cell, known = 0, True
            for u in range(max(offsets[s], t - order), t + 1):
                cell = cell * counts[u] + numbers[u]
                known &= numbers[u] >= 0
            out[t] = base[pattern[t]] + cell if known else -1
