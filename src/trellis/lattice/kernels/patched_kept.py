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
    """A patched chain, its `log_z: F64[sentences]` and what is kept; `apart: BOOL[sentences]`: in the log domain."""

    alpha: Array  # F64[tokens, width]
    beta: Array  # F64[tokens, width]
    step: Array  # F64[tokens, width]: k, or scores
    apart: Array
    log_z: Array
    transitions: Array  # F64[labels, labels]
    offsets: Array  # I64[sentences + 1]
    patches: Array
    kinds: Array


class Room(NamedTuple):
    """Room for one token's transitions: the matrix that patches are added to, the factors they are multiplied to."""

    block: Array  # F64[1, labels, labels], as the transitions between two uses
    changing: Array  # F64[width, width], as the factors of kind 0 between two uses
    powers: Array  # F64[2, weights of the largest patch]
    row: Array  # F64[width]


@part
def room_for(kept: Array) -> Any:
    block = np.empty((1, len(kept.transitions), len(kept.transitions)))
    block[0] = kept.transitions
    changing = kept.kinds.factors[0].copy()
    return Room(block, changing, np.empty((2, largest_patch(kept.patches))), np.empty(kept.alpha.shape[1]))


@kernel
def keep(scores: Array, kept: Array) -> None:
    """Fills all of `kept` that is not given, from scores F64[tokens, width] with -inf in the padding."""
    top, bottom, forbidden = spread_of(kept.transitions)
    spread = np.inf if forbidden else top - bottom
    room = room_for(kept)
    offsets, longest = kept.offsets, 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    scale = np.empty(longest)
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        kept.apart[s], kept.log_z[s] = enter_patched(scores, a, b - a, kept.patches, spread, kept.step[a:b])
        if kept.apart[s]:
            kept.step[a:b] = scores[a:b]
            kept.log_z[s] = _keep_logarithms(kept, a, b, room.block, room.row[: len(kept.transitions)])
        else:
            _keep_scaled(kept, a, b, room, scale)
            kept.log_z[s] += top * max(b - a - 1, 0) - log_product(scale, b - a)


@part
def _keep_scaled(kept: Array, a: int, b: int, room: Array, scale: Array) -> None:
    """Tokens a..b, whose psi is in the place of k."""
    alpha, beta, step, row = kept.alpha, kept.beta, kept.step, room.row
    for t in range(a, b):
        if t == a:
            row[:] = 1.0
        else:
            push(alpha[t - 1], _factors(kept, t, room), row)
            _put_back(kept, t, room)
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
        factors = _factors(kept, t + 1, room)
        for i in range(len(row)):
            total = 0.0
            for j in range(len(row)):
                total += factors[i, j] * row[j]
            beta[t, i] = total
        _put_back(kept, t + 1, room)


@ordered_part
def _keep_logarithms(kept: Array, a: int, b: int, block: Array, ahead: Array) -> float:
    """Tokens a..b, whose scores are there; returns log Z. ahead: room, F64[labels]."""
    labels = len(ahead)
    alpha, beta = kept.alpha[a:b, :labels], kept.beta[a:b, :labels]
    log_z = patched_forward(kept.step[a:b], kept.transitions, kept.patches, a, block[0], alpha)
    if log_z == -np.inf:
        return log_z
    beta[b - a - 1 :] = 0.0
    for t in range(b - a - 1, 0, -1):
        for j in range(labels):
            ahead[j] = kept.step[a + t, j] + beta[t, j]
        add_patches(kept.patches, a + t, block[0])
        patched_backward_step(block[0], ahead, beta[t - 1])
        take_back(kept.patches, a + t, kept.transitions, block[0])
    return log_z


@part
def nodes_at(kept: Array, s: int, t: int, out: Array) -> None:
    """out: F64[width], P(y_t = j) of token t, in sentence s, which has a path."""
    if kept.apart[s]:
        labels = len(kept.transitions)
        node_marginals(kept.alpha[:, :labels], kept.beta[:, :labels], t, out)
    else:
        for j in range(len(out)):
            out[j] = kept.alpha[t, j] * kept.beta[t, j]


@part
def arcs_at(kept: Array, s: int, t: int, room: Array, out: Array) -> None:
    """out: F64[width, width], 0 in the padding; P(y_(t-1) = i, y_t = j) of token t, not the first of sentence s, which
    has a path."""
    if kept.apart[s]:
        add_patches(kept.patches, t, room.block[0])
        arc_marginals(kept.step, room.block, 0, kept.alpha, kept.beta, t, out)
        take_back(kept.patches, t, kept.transitions, room.block[0])
        return
    q, factors = room.row, _factors(kept, t, room)
    for j in range(len(q)):
        q[j] = kept.step[t, j] * kept.beta[t, j]
    for i in range(len(q)):
        a = kept.alpha[t - 1, i]
        for j in range(len(q)):
            out[i, j] = a * (factors[i, j] * q[j])
    _put_back(kept, t, room)


@part
def _factors(kept: Array, t: int, room: Array) -> Any:
    """The factors of the transitions into token t, F64[width, width]; to be put back after use."""
    kind = kept.kinds.kind[t]
    if kind >= 0:
        return kept.kinds.factors[kind]
    multiply_patches(kept.patches, t, room.changing, room.powers)
    return room.changing


@part
def _put_back(kept: Array, t: int, room: Array) -> None:
    if kept.kinds.kind[t] < 0:
        take_back(kept.patches, t, kept.kinds.factors[0], room.changing)
