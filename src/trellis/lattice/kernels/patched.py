"""Forward-backward for patched transitions (see `patches`): the steps of `positional`, without a block a token.

Most tokens share what they add to the transitions with many others (all tokens with one part of speech, say). For
such a kind of token the matrix is made once and used often, and the marginals of its arcs are added up in one matrix,
out of which the weights' share is taken at the end. The rest change one matrix and change it back.

The transitions below the patches are finite, so the rule for exactness is R_t <= 600 and E_t <= 330, with the patches'
reach added to the spread of the transitions. It is checked before anything is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.patches import (
    gather_patches,
    gather_products,
    largest_patch,
    multiply_patches,
    reach_of,
    take_back,
)
from trellis.lattice.kernels.positional import (
    FARTHEST,
    FARTHEST_TRANSITIONS,
    enter_row,
    log_product,
    normalised,
    pull,
    push,
    spread_of,
)
from trellis.lattice.kernels.vector import exp_into

Array = Any


class Kinds(NamedTuple):
    """`kind: I32[tokens]`: which matrix of `factors: F64[kinds, width, width]` leads into a token, -1 if none does.
    Kind k stands for the patches of "token" k of `patches`; kind 0 is the one without. `sums`: room like factors."""

    kind: Array
    patches: Array
    factors: Array
    sums: Array


@kernel
def fill_factors(transitions: Array, kinds: Array) -> None:
    """factors[k] = exp(transitions - their maximum) with the patches of kind k; 0 in the padding."""
    factors, labels = kinds.factors, len(transitions)
    top, _, _ = spread_of(transitions)
    room = np.empty((2, largest_patch(kinds.patches)))
    factors[0] = 0.0
    for i in range(labels):
        exp_into(transitions[i], top, factors[0, i, :labels])
    for k in range(1, len(factors)):
        factors[k] = factors[0]
        multiply_patches(kinds.patches, k, factors[k], room)


@kernel
def patched_marginals(
    scores: Array,
    transitions: Array,
    offsets: Array,
    patches: Array,
    kinds: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    gradient: Array,
    log_z: Array,
    redo: Array,
) -> None:
    """scores: F64[tokens, width], labels rounded up to whole registers, -inf in the padding; transitions:
    F64[labels, labels], those that `kinds.factors` were filled from.

    Written: nodes F64[tokens, width] (may be the scores themselves); expected transitions are added to arcs
    F64[labels, labels] and the expected value of every patch's weight to gradient F64[weights], if wanted; log_z
    F64[sentences], redo BOOL[sentences]. The scores of flagged sentences are left as they are.
    """
    width, labels = scores.shape[1], len(transitions)
    top, bottom, forbidden = spread_of(transitions)
    spread = np.inf if forbidden else top - bottom
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    psi, alpha, scale = np.empty((longest, width)), np.empty((longest, width)), np.empty(longest)
    step, q, beta = np.empty(width), np.empty(width), np.empty(width)
    factors, sums = kinds.factors, kinds.sums
    changing = factors[0].copy()
    room = np.empty((2, largest_patch(patches)))
    sums[:] = 0.0
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        redo[s], log_z[s] = enter_patched(scores, a, length, patches, spread, psi)
        if redo[s]:
            continue
        log_z[s] += top * max(length - 1, 0)

        for t in range(length):
            if t == 0:
                step[:] = 1.0
            elif kinds.kind[a + t] >= 0:
                push(alpha[t - 1], factors[kinds.kind[a + t]], step)
            else:
                multiply_patches(patches, a + t, changing, room)
                push(alpha[t - 1], changing, step)
                take_back(patches, a + t, factors[0], changing)
            scale[t] = normalised(step, psi[t], alpha[t])
        log_z[s] -= log_product(scale, length)

        beta[:] = 1.0
        for t in range(length - 1, -1, -1):
            for j in range(width):
                nodes[a + t, j] = alpha[t, j] * beta[j]
                q[j] = psi[t, j] * scale[t] * beta[j]
            if t == 0:
                continue
            k = kinds.kind[a + t]
            if k >= 0:
                pull(factors[k], q, alpha[t - 1], sums[k], beta)
                continue
            multiply_patches(patches, a + t, changing, room)
            pull(changing, q, alpha[t - 1], sums[0], beta)
            if want_arcs:
                gather_products(patches, a + t, alpha[t - 1], changing, q, gradient)
            take_back(patches, a + t, factors[0], changing)
    if want_arcs:
        for k in range(len(sums)):
            gather_patches(kinds.patches, k, sums[k], gradient)
            for i in range(labels):
                for j in range(labels):
                    arcs[i, j] += sums[k, i, j]


@part
def enter_patched(scores: Array, a: int, length: int, patches: Array, spread: float, psi: Array) -> Array:
    """psi; whether scores or transitions of a position spread too far; the first part of log Z."""
    too_far, total = False, 0.0
    for t in range(length):
        apart = spread + reach_of(patches, a + t) if t > 0 else 0.0
        high, row = enter_row(scores[a + t], psi[t])
        too_far |= not (apart + row <= FARTHEST and apart <= FARTHEST_TRANSITIONS)  # NaN too
        total += high
    return too_far, total
