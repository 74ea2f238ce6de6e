"""What is asked of patched chains that have been kept (see `patched_kept`), the arcs of one token at a time.

With P_t[i, j] = P(y_(t-1) = i, y_t = j) and H that adds up h_t on nodes and g_t on arcs (MATH section 4):

    A_t[j] = h_t[j] + sum_i P_t[i, j] (A_(t-1)[i] + g_t[i, j]) / sum_i P_t[i, j]
    B_(t-1)[i] = sum_j P_t[i, j] (g_t[i, j] + h_t[j] + B_t[j]) / sum_j P_t[i, j]
    Cov[H, 1_(t,j)] = P(y_t = j) (A_t[j] + B_t[j] - E[H])
    Cov[H, 1_(i,j)] = P_t[i, j] (A_(t-1)[i] + g_t[i, j] + h_t[j] + B_t[j] - E[H])

Each token's arcs are added to those of its kind, out of which the weights' share is taken at the end; without a kind,
at once. Sentences without a path have no part in any answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, part
from trellis.lattice.kernels.patched_kept import arcs_at, nodes_at, room_for
from trellis.lattice.kernels.patches import add_patches, gather_patches, gather_squares, take_back

Array = Any

_NEVER = 1e-290  # probabilities below are those of what no answer can notice, and of no use as a divisor


class PatchedH(NamedTuple):
    """h on arcs: `matrix: F64[labels, labels]`, and at each token what its patches add, with weights of their own in
    place of the chain's. Powers and reach are not read."""

    matrix: Array
    patches: Array


@kernel
def patched_nodes(kept: Array, nodes: Array) -> None:
    """P(y_t = j) into nodes: F64[tokens, width]."""
    rows, apart, log_z, transitions, offsets = kept
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            if log_z[s] == -np.inf:
                nodes[t] = 0.0
            else:
                nodes_at(rows, t, apart[s], len(transitions), nodes[t])


@kernel
def patched_sums(
    kept: Array,
    patches: Array,
    kinds: Array,
    weights: Array,
    variances: bool,
    nodes: Array,
    arcs: Array,
    by_patch: Array,
) -> None:
    """weights[s] P, or weights[s] P (1 - P): of nodes into nodes F64[tokens, width], of arcs added up over tokens to
    arcs F64[labels, labels], and times the patches' values (or their squares) to by_patch F64[weights of the patches],
    unless that is empty."""
    rows, apart, log_z, transitions, offsets = kept
    kind, factors, sums = kinds.kind, kinds.factors, kinds.sums
    width, labels, room = nodes.shape[1], len(transitions), room_for(transitions, patches, factors)
    pair = np.zeros((width, width))
    sums[:] = 0.0
    for s in range(len(weights)):
        a, b, weight = offsets[s], offsets[s + 1], weights[s]
        if weight == 0.0 or log_z[s] == -np.inf:
            nodes[a:b] = 0.0
            continue
        for t in range(a, b):
            nodes_at(rows, t, apart[s], labels, nodes[t])
            for j in range(width):
                p = nodes[t, j]
                nodes[t, j] = weight * (p * (1.0 - p) if variances else p)
            if t == a:
                continue
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            for i in range(width):
                for j in range(width):
                    p = pair[i, j]
                    pair[i, j] = weight * (p * (1.0 - p) if variances else p)
            hand_out(patches, t, kind[t], pair, variances, sums, by_patch)
    collect(kinds.patches, sums, arcs, by_patch)


@kernel
def patched_covariance(
    kept: Array,
    patches: Array,
    kinds: Array,
    h: Array,
    weights: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    by_patch: Array,
    expectation: Array,
) -> None:
    """weights[s] Cov[H, 1_node] in the place of node_h, nodes: F64[tokens, width]; the same of arcs, if wanted, where
    `patched_sums` has them; h: a PatchedH; E[H] into expectation: F64[sentences]."""
    rows, apart, log_z, transitions, offsets = kept
    kind, factors, sums, matrix, patches_h = kinds.kind, kinds.factors, kinds.sums, h.matrix, h.patches
    width, labels, room = nodes.shape[1], len(transitions), room_for(transitions, patches, factors)
    longest = 0
    for s in range(len(weights)):
        longest = max(longest, offsets[s + 1] - offsets[s])
    left, right = np.empty((longest, width)), np.empty(width)  # A_t for all t, and B_t
    node, ahead = np.empty(width), np.empty(width)
    pair, g = np.zeros((width, width)), np.zeros((width, width))
    g[:labels, :labels] = matrix
    sums[:] = 0.0
    for s in range(len(weights)):
        a, b, weight = offsets[s], offsets[s + 1], weights[s]
        expectation[s] = 0.0
        if a == b or log_z[s] == -np.inf:
            nodes[a:b] = 0.0
            continue
        left[0] = nodes[a]
        for t in range(a + 1, b):
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(patches_h, t, g)
            _from_the_left(pair, g, left[t - a - 1], nodes[t], node, left[t - a])
            take_back(patches_h, t, matrix, g)
        nodes_at(rows, b - 1, apart[s], labels, node)
        mean = 0.0
        for j in range(width):
            mean += node[j] * left[b - a - 1, j]
        expectation[s] = mean
        right[:] = 0.0
        for t in range(b - 1, a - 1, -1):
            nodes_at(rows, t, apart[s], labels, node)
            for j in range(width):
                ahead[j] = nodes[t, j] + right[j]
                nodes[t, j] = weight * (node[j] * (left[t - a, j] + right[j] - mean))
            if t == a:
                continue
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(patches_h, t, g)
            _from_the_right(pair, g, ahead, right)
            if want_arcs:
                for i in range(width):
                    before = left[t - a - 1, i] - mean
                    for j in range(width):
                        pair[i, j] *= weight * (before + (g[i, j] + ahead[j]))
                hand_out(patches, t, kind[t], pair, False, sums, by_patch)
            take_back(patches_h, t, matrix, g)
    if want_arcs:
        collect(kinds.patches, sums, arcs, by_patch)


@part
def _from_the_left(pair: Array, g: Array, before: Array, h: Array, mass: Array, out: Array) -> None:
    """out = A_t, from before = A_(t-1). mass: room, F64[width]."""
    for j in range(len(out)):
        mass[j] = out[j] = 0.0
    for i in range(len(out)):
        x = before[i]
        for j in range(len(out)):
            p = pair[i, j]
            mass[j] += p
            out[j] += p * (x + g[i, j])
    for j in range(len(out)):
        out[j] = h[j] + (out[j] / mass[j] if mass[j] > _NEVER else 0.0)


@part
def _from_the_right(pair: Array, g: Array, ahead: Array, out: Array) -> None:
    """out = B_(t-1), from ahead = h_t + B_t."""
    for i in range(len(out)):
        mass = total = 0.0
        for j in range(len(out)):
            p = pair[i, j]
            mass += p
            total += p * (g[i, j] + ahead[j])
        out[i] = total / mass if mass > _NEVER else 0.0


@part
def hand_out(patches: Array, t: int, kind: int, share: Array, squares: bool, sums: Array, by_patch: Array) -> None:
    """What token t's arcs F64[width, width] add, to its kind or else to all transitions and its own patches."""
    to = sums[max(kind, 0)]
    for i in range(len(share)):
        for j in range(len(share)):
            to[i, j] += share[i, j]
    if kind < 0 and len(by_patch):
        if squares:
            gather_squares(patches, t, share, by_patch)
        else:
            gather_patches(patches, t, share, by_patch)


@part
def collect(patches: Array, sums: Array, arcs: Array, by_patch: Array) -> None:
    """Adds up what has been handed out to kinds, whose patches have no values but 1."""
    for k in range(len(sums)):
        if len(by_patch):
            gather_patches(patches, k, sums[k], by_patch)
        for i in range(len(arcs)):
            for j in range(len(arcs)):
                arcs[i, j] += sums[k, i, j]
