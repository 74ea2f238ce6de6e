"""Transitions that change from token to token, as patches on one matrix.

    block_t[i, j] = transitions[i, j] + sum over token t's patches a of value * weight_a[i, j]

A patch has weights for some pairs (i, j) only. So no block is ever kept: one matrix is changed at the few places
that a token touches, used, and put back. Patches of first tokens are not read: no transition leads into them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trellis.jit import part
from trellis.lattice.kernels.vector import exp_into

Array = Any


class Patches(NamedTuple):
    """Token t has patches `ids[indptr[t]:indptr[t + 1]]`; patch a has weights `start[a]:start[a + 1]` for the pairs
    (source, target) there, in ascending order. A run of tokens has a part of `indptr` and all the rest."""

    indptr: Array  # I64[tokens + 1]
    ids: Array  # I32[occurrences], none unknown
    values: Array  # F64[occurrences]; empty when all are 1
    start: Array  # I64[patches + 1]
    source: Array  # U16[weights]
    target: Array  # U16[weights]
    weights: Array  # F64[weights]
    powers: Array  # F64[weights]: exp of the weights; may be infinite where `reach` is too large to use them
    reach: Array  # F64[patches]: how far apart the patch's weights, and 0, are


@part
def value_of(patches: Array, k: int) -> float:
    return patches.values[k] if len(patches.values) else 1.0


@part
def add_patches(patches: Array, t: int, block: Array) -> None:
    """block[i, j] += what token t adds to the score of (i, j)."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a, v = patches.ids[k], value_of(patches, k)
        for p in range(patches.start[a], patches.start[a + 1]):
            block[patches.source[p], patches.target[p]] += v * patches.weights[p]


@part
def multiply_patches(patches: Array, t: int, block: Array, room: Array) -> None:
    """block[i, j] *= exp of what token t adds to the score of (i, j). room: F64[2, weights of the largest patch]."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a = patches.ids[k]
        first, last = patches.start[a], patches.start[a + 1]
        if len(patches.values):
            v, n = patches.values[k], last - first
            for p in range(n):
                room[0, p] = v * patches.weights[first + p]
            exp_into(room[0, :n], 0.0, room[1, :n])
            for p in range(n):
                block[patches.source[first + p], patches.target[first + p]] *= room[1, p]
        else:
            for p in range(first, last):
                block[patches.source[p], patches.target[p]] *= patches.powers[p]


@part
def take_back(patches: Array, t: int, original: Array, block: Array) -> None:
    """The places of the block that token t has changed, as they were."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a = patches.ids[k]
        for p in range(patches.start[a], patches.start[a + 1]):
            i, j = patches.source[p], patches.target[p]
            block[i, j] = original[i, j]


@part
def gather_patches(patches: Array, t: int, pair: Array, gradient: Array) -> None:
    """The transpose of add_patches: pair[i, j] goes to every weight that was added to that place."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a, v = patches.ids[k], value_of(patches, k)
        for p in range(patches.start[a], patches.start[a + 1]):
            gradient[p] += v * pair[patches.source[p], patches.target[p]]


@part
def gather_squares(patches: Array, t: int, pair: Array, out: Array) -> None:
    """The same with the square of the value."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a, v = patches.ids[k], value_of(patches, k)
        for p in range(patches.start[a], patches.start[a + 1]):
            out[p] += v * v * pair[patches.source[p], patches.target[p]]


@part
def gather_products(patches: Array, t: int, before: Array, factor: Array, after: Array, gradient: Array) -> None:
    """As `gather_patches` for pair[i, j] = before[i] factor[i, j] after[j], which need not be there for all i and j."""
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        a, v = patches.ids[k], value_of(patches, k)
        for p in range(patches.start[a], patches.start[a + 1]):
            i, j = patches.source[p], patches.target[p]
            gradient[p] += v * (before[i] * (factor[i, j] * after[j]))


@part
def reach_of(patches: Array, t: int) -> float:
    """A bound on how far token t's patches move any two transitions apart, and any one."""
    total = 0.0
    for k in range(patches.indptr[t], patches.indptr[t + 1]):
        total += abs(value_of(patches, k)) * patches.reach[patches.ids[k]]
    return total


@part
def find_weight(patches: Array, a: int, i: int, j: int) -> int:
    """The number of patch a's weight for (i, j), or -1."""
    first, last = patches.start[a], patches.start[a + 1]
    while first < last:
        middle = (first + last) // 2
        s, t = patches.source[middle], patches.target[middle]
        if s < i or (s == i and t < j):
            first = middle + 1
        else:
            last = middle
    if first < patches.start[a + 1] and patches.source[first] == i and patches.target[first] == j:
        return first  # type: ignore[no-any-return]
    return -1


@part
def largest_patch(patches: Array) -> int:
    most = 0
    for a in range(len(patches.start) - 1):
        most = max(most, patches.start[a + 1] - patches.start[a])
    return most
