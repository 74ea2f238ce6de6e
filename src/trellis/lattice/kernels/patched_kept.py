"""Forward-backward for patched transitions (see `patches`) that is kept, so that more can be asked later.

Most sentences are kept as `kept` says: alpha_t, beta_t and k_t = c_t psi_t in the probability domain, so that with M_t
the factors of the transitions into token t

    P(y_t = j) = alpha_t[j] beta_t[j]        P(y_(t-1) = i, y_t = j) = alpha_(t-1)[i] M_t[i, j] k_t[j] beta_t[j]

Those for which that is not exact (see `patched`) have log alpha_t, log beta_t and their scores in the same places. What
is asked later, is asked of the marginals of one token's arcs at a time, which can be had from either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, ordered_part, part
from trellis.lattice.kernels.logdomain import arc_marginals, node_marginals
from trellis.lattice.kernels.patched import enter_patched
from trellis.lattice.kernels.patched_log import patched_backward_step, patched_forward
from trellis.lattice.kernels.patches import add_patches, largest_patch, multiply_patches, take_back
from trellis.lattice.kernels.positional import log_product, normalised, push, spread_of

Array = Any


class Kept(NamedTuple):
    """A chain without its patches and kinds, its `log_z: F64[sentences]` and what is kept."""

    rows: Array  # F64[3, tokens, width]: alpha, beta and k; or log alpha, log beta and the scores
    apart: Array  # BOOL[sentences]: in the log domain
    log_z: Array
    transitions: Array  # F64[labels, labels]
    offsets: Array  # I64[sentences + 1]


class Room(NamedTuple):
    """Room for one token's transitions: the matrix that patches are added to, the factors they are multiplied to."""

    block: Array  # F64[1, labels, labels], as the transitions between two uses
    changing: Array  # F64[width, width], as the factors of kind 0 between two uses
    powers: Array  # F64[2, weights of the largest patch]
    row: Array  # F64[width]


@part
def room_for(transitions: Array, patches: Array, factors: Array) -> Any:
    labels, width = len(transitions), factors.shape[1]
    block = np.empty((1, labels, labels))
    block[0] = transitions
    return Room(block, factors[0].copy(), np.empty((2, largest_patch(patches))), np.empty(width))


@kernel
def keep(scores: Array, patches: Array, kinds: Array, kept: Array) -> None:
    """Fills what is kept, `apart` and `log_z`, from scores F64[tokens, width] with -inf in the padding."""
    rows, apart, log_z, transitions, offsets = kept
    top, bottom, forbidden = spread_of(transitions)
    spread = np.inf if forbidden else top - bottom
    room = room_for(transitions, patches, kinds.factors)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    scale = np.empty(longest)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        apart[s], log_z[s] = enter_patched(scores, a, b - a, patches, spread, rows[2, a:b])
        if apart[s]:
            rows[2, a:b] = scores[a:b]
            log_z[s] = _keep_logarithms(rows, a, b, transitions, patches, room)
        else:
            _keep_scaled(rows, a, b, patches, kinds.kind, kinds.factors, room, scale)
            log_z[s] += top * max(b - a - 1, 0) - log_product(scale, b - a)


@part
def _keep_scaled(
    rows: Array, a: int, b: int, patches: Array, kind: Array, factors: Array, room: Array, scale: Array
) -> None:
    """Tokens a..b, whose psi is in the place of k."""
    alpha, beta, step, row = rows[0], rows[1], rows[2], room.row
    for t in range(a, b):
        if t == a:
            row[:] = 1.0
        else:
            push(alpha[t - 1], _changed(patches, t, kind[t], factors, room), row)
            _put_back(patches, t, kind[t], factors, room)
        c = normalised(row, step[t], alpha[t])
        scale[t - a] = c
        for j in range(len(row)):
            step[t, j] *= c
    for t in range(b - 1, a - 1, -1):
        if t == b - 1:
            beta[t] = 1.0
            continue
        for j in range(len(row)):
            row[j] = step[t + 1, j] * beta[t + 1, j]
        factor = _changed(patches, t + 1, kind[t + 1], factors, room)
        for i in range(len(row)):
            total = 0.0
            for j in range(len(row)):
                total += factor[i, j] * row[j]
            beta[t, i] = total
        _put_back(patches, t + 1, kind[t + 1], factors, room)


@ordered_part
def _keep_logarithms(rows: Array, a: int, b: int, transitions: Array, patches: Array, room: Array) -> float:
    """Tokens a..b, whose scores are there; returns log Z."""
    labels, block = len(transitions), room.block[0]
    alpha, beta, scores, ahead = rows[0, a:b, :labels], rows[1, a:b, :labels], rows[2, a:b], room.row[:labels]
    log_z = patched_forward(scores, transitions, patches, a, block, alpha)
    if log_z == -np.inf:
        return log_z
    beta[b - a - 1 :] = 0.0
    for t in range(b - a - 1, 0, -1):
        for j in range(labels):
            ahead[j] = scores[t, j] + beta[t, j]
        add_patches(patches, a + t, block)
        patched_backward_step(block, ahead, beta[t - 1])
        take_back(patches, a + t, transitions, block)
    return log_z


@part
def nodes_at(rows: Array, t: int, apart: bool, labels: int, out: Array) -> None:
    """out: F64[width], P(y_t = j) of token t, in a sentence that has a path."""
    if apart:
        node_marginals(rows[0, :, :labels], rows[1, :, :labels], t, out)
        return
    for j in range(len(out)):
        out[j] = rows[0, t, j] * rows[1, t, j]


@part
def arcs_at(
    rows: Array,
    t: int,
    apart: bool,
    transitions: Array,
    patches: Array,
    kind: int,
    factors: Array,
    room: Array,
    out: Array,
) -> None:
    """out: F64[width, width], 0 in the padding; P(y_(t-1) = i, y_t = j) of token t, which is of that kind and not the
    first, in a sentence that has a path.

    Arrays go one by one: to take one out of a tuple at every token counts its references, which costs more than this.
    """
    if apart:
        block = room.block
        add_patches(patches, t, block[0])
        arc_marginals(rows[2], block, 0, rows[0], rows[1], t, out)
        take_back(patches, t, transitions, block[0])
    elif kind >= 0:
        _products(rows, t, factors[kind], room.row, out)
    else:
        _products(rows, t, _changed(patches, t, kind, factors, room), room.row, out)
        _put_back(patches, t, kind, factors, room)


@part
def _products(rows: Array, t: int, factor: Array, q: Array, out: Array) -> None:
    for j in range(len(q)):
        q[j] = rows[2, t, j] * rows[1, t, j]
    for i in range(len(q)):
        a = rows[0, t - 1, i]
        for j in range(len(q)):
            out[i, j] = a * (factor[i, j] * q[j])


@part
def _changed(patches: Array, t: int, kind: int, factors: Array, room: Array) -> Any:
    """The factors of the transitions into token t, F64[width, width]; to be put back after use."""
    if kind >= 0:
        return factors[kind]
    multiply_patches(patches, t, room.changing, room.powers)
    return room.changing


@part
def _put_back(patches: Array, t: int, kind: int, factors: Array, room: Array) -> None:
    if kind < 0:
        take_back(patches, t, factors[0], room.changing)
