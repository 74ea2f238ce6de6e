"""Third cumulants of two sums along a path and being at a node or on an arc: how covariances change with the scores.

With H and K that add up h and k on nodes and arcs, and MATH section 4's A, B for h, let A', B' be the same for k, and

    C_v = E[H K up to node v | v]        D_v = E[H K behind v | v]

Then what a path has of H, of K and of H K, given that it goes through e = (u, v), is

    E[H | e] = A_u + h_e + h_v + B_v      E[K | e] likewise      E[H K | e] from C, D and the products of the parts,

which are independent given e, and

    d Cov[H, 1_e] / dK = P(e) (E[HK | e] - E[H] E[K | e] - E[K] E[H | e] - E[HK] + 2 E[H] E[K])

(MATH section 5: one more pass of the same recursions. Checked against enumeration.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_kernel, part
from trellis.lattice.kernels.patched_answers import collect, hand_out
from trellis.lattice.kernels.patched_kept import arcs_at, nodes_at, room_for
from trellis.lattice.kernels.patches import add_patches, take_back

Array = Any

_NEVER = 1e-290  # as in `patched_answers`


@part
def _cumulant(p: float, hk: float, h: float, k: float, mean_hk: float, mean_h: float, mean_k: float) -> float:
    return p * (hk - mean_h * k - mean_k * h - mean_hk + 2.0 * mean_h * mean_k)


@ordered_kernel
def graph_third(
    start: Array,
    source: Array,
    offsets: Array,
    given: Array,
    end: Array,
    node_p: Array,
    arc_p: Array,
    node_h: Array,
    arc_h: Array,
    node_k: Array,
    arc_k: Array,
    node_out: Array,
    arc_out: Array,
) -> None:
    """Of explicit graphs (see `graph`): written are node_out F64[nodes] and arc_out F64[arcs]."""
    nodes = len(end)
    a, a2, c = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    b, b2, d = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)  # first times P(v)
    for v in range(nodes):
        h, k, hk = 0.0, 0.0, 0.0
        for e in range(start[v], start[v + 1]):
            if given[e] > 0.0:
                u = source[e]
                h += given[e] * (a[u] + arc_h[e])
                k += given[e] * (a2[u] + arc_k[e])
                hk += given[e] * (c[u] + a[u] * arc_k[e] + a2[u] * arc_h[e] + arc_h[e] * arc_k[e])
        a[v], a2[v] = h + node_h[v], k + node_k[v]
        c[v] = hk + h * node_k[v] + k * node_h[v] + node_h[v] * node_k[v]
    for v in range(nodes - 1, -1, -1):
        if node_p[v] > 0.0:
            b[v] /= node_p[v]
            b2[v] /= node_p[v]
            d[v] /= node_p[v]
        h, k = node_h[v] + b[v], node_k[v] + b2[v]
        hk = d[v] + node_h[v] * b2[v] + node_k[v] * b[v] + node_h[v] * node_k[v]
        for e in range(start[v], start[v + 1]):
            u = source[e]
            b[u] += arc_p[e] * (arc_h[e] + h)
            b2[u] += arc_p[e] * (arc_k[e] + k)
            d[u] += arc_p[e] * (hk + arc_h[e] * k + arc_k[e] * h + arc_h[e] * arc_k[e])
    for s in range(len(offsets) - 1):
        mean_h, mean_k, mean = 0.0, 0.0, 0.0
        for v in range(offsets[s], offsets[s + 1]):
            mean_h += end[v] * a[v]
            mean_k += end[v] * a2[v]
            mean += end[v] * c[v]
        for v in range(offsets[s], offsets[s + 1]):
            both = c[v] + d[v] + a[v] * b2[v] + a2[v] * b[v]
            node_out[v] = _cumulant(node_p[v], both, a[v] + b[v], a2[v] + b2[v], mean, mean_h, mean_k)
            h, k = node_h[v] + b[v], node_k[v] + b2[v]
            hk = d[v] + node_h[v] * b2[v] + node_k[v] * b[v] + node_h[v] * node_k[v]
            for e in range(start[v], start[v + 1]):
                u = source[e]
                both = c[u] + hk + a[u] * k + a2[u] * h
                both += arc_h[e] * (a2[u] + k) + arc_k[e] * (a[u] + h) + arc_h[e] * arc_k[e]
                arc_out[e] = _cumulant(arc_p[e], both, a[u] + arc_h[e] + h, a2[u] + arc_k[e] + k, mean, mean_h, mean_k)


@kernel
def patched_third(
    kept: Array,
    patches: Array,
    kinds: Array,
    node_h: Array,
    h: Array,
    node_k: Array,
    k: Array,
    nodes: Array,
    arcs: Array,
    by_patch: Array,
) -> None:
    """Of chains (see `patched_kept`) for h and k on nodes, F64[tokens, width], and on arcs, PatchedH each: into
    nodes: F64[tokens, width], and added to arcs and by_patch, as in `patched_answers`."""
    rows, apart, log_z, transitions, offsets = kept
    kind, factors, sums = kinds.kind, kinds.factors, kinds.sums
    h_matrix, h_patches, k_matrix, k_patches = h.matrix, h.patches, k.matrix, k.patches
    width, labels, room = nodes.shape[1], len(transitions), room_for(transitions, patches, factors)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    a, a2, c = np.empty((longest, width)), np.empty((longest, width)), np.empty((longest, width))
    b, b2, d = np.empty(width), np.empty(width), np.empty(width)
    u, u2, w, node = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    pair, g, g2 = np.zeros((width, width)), np.zeros((width, width)), np.zeros((width, width))
    g[:labels, :labels] = h_matrix
    g2[:labels, :labels] = k_matrix
    sums[:] = 0.0
    for s in range(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        if first == last or log_z[s] == -np.inf:
            nodes[first:last] = 0.0
            continue
        for j in range(width):
            a[0, j], a2[0, j], c[0, j] = node_h[first, j], node_k[first, j], node_h[first, j] * node_k[first, j]
        for t in range(first + 1, last):
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(h_patches, t, g)
            add_patches(k_patches, t, g2)
            n = t - first
            for j in range(width):
                mass, x, y, z = 0.0, 0.0, 0.0, 0.0
                for i in range(width):
                    p = pair[i, j]
                    mass += p
                    x += p * (a[n - 1, i] + g[i, j])
                    y += p * (a2[n - 1, i] + g2[i, j])
                    z += p * (c[n - 1, i] + a[n - 1, i] * g2[i, j] + a2[n - 1, i] * g[i, j] + g[i, j] * g2[i, j])
                if mass > _NEVER:
                    x, y, z = x / mass, y / mass, z / mass
                else:
                    x, y, z = 0.0, 0.0, 0.0
                hj, kj = node_h[t, j], node_k[t, j]
                a[n, j], a2[n, j], c[n, j] = x + hj, y + kj, z + x * kj + y * hj + hj * kj
            take_back(h_patches, t, h_matrix, g)
            take_back(k_patches, t, k_matrix, g2)
        nodes_at(rows, last - 1, apart[s], labels, node)
        n = last - first - 1
        mean_h, mean_k, mean = 0.0, 0.0, 0.0
        for j in range(width):
            mean_h += node[j] * a[n, j]
            mean_k += node[j] * a2[n, j]
            mean += node[j] * c[n, j]
        b[:] = 0.0
        b2[:] = 0.0
        d[:] = 0.0
        for t in range(last - 1, first - 1, -1):
            n = t - first
            nodes_at(rows, t, apart[s], labels, node)
            for j in range(width):
                both = c[n, j] + d[j] + a[n, j] * b2[j] + a2[n, j] * b[j]
                nodes[t, j] = _cumulant(node[j], both, a[n, j] + b[j], a2[n, j] + b2[j], mean, mean_h, mean_k)
                hj, kj = node_h[t, j], node_k[t, j]
                u[j], u2[j], w[j] = hj + b[j], kj + b2[j], d[j] + hj * b2[j] + kj * b[j] + hj * kj
            if t == first:
                continue
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(h_patches, t, g)
            add_patches(k_patches, t, g2)
            for i in range(width):
                mass, x, y, z = 0.0, 0.0, 0.0, 0.0
                for j in range(width):
                    p = pair[i, j]
                    mass += p
                    x += p * (g[i, j] + u[j])
                    y += p * (g2[i, j] + u2[j])
                    z += p * (w[j] + g[i, j] * u2[j] + g2[i, j] * u[j] + g[i, j] * g2[i, j])
                if mass > _NEVER:
                    b[i], b2[i], d[i] = x / mass, y / mass, z / mass
                else:
                    b[i], b2[i], d[i] = 0.0, 0.0, 0.0
            for i in range(width):
                x, y, z = a[n - 1, i], a2[n - 1, i], c[n - 1, i]
                for j in range(width):
                    both = z + w[j] + x * u2[j] + y * u[j]
                    both += g[i, j] * (y + u2[j]) + g2[i, j] * (x + u[j]) + g[i, j] * g2[i, j]
                    pair[i, j] = _cumulant(
                        pair[i, j], both, x + g[i, j] + u[j], y + g2[i, j] + u2[j], mean, mean_h, mean_k
                    )
            hand_out(patches, t, kind[t], pair, False, sums, by_patch)
            take_back(h_patches, t, h_matrix, g)
            take_back(k_patches, t, k_matrix, g2)
    collect(kinds.patches, sums, arcs, by_patch)


@kernel
def listed_changes(
    kept: Array, patches: Array, kinds: Array, node_h: Array, h: Array, start: Array, before: Array, here: Array,
    out: Array,
) -> None:  # fmt: skip
    """Cov[H, 1_e] of listed arcs, F64[entries]: how their probabilities change along h."""
    rows, apart, log_z, transitions, offsets = kept
    kind, factors, matrix, h_patches = kinds.kind, kinds.factors, h.matrix, h.patches
    width, labels, room = node_h.shape[1], len(transitions), room_for(transitions, patches, factors)
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    left, right, node = np.empty((longest, width)), np.empty(width), np.empty(width)
    ahead = np.empty(width)
    pair, g = np.zeros((width, width)), np.zeros((width, width))
    g[:labels, :labels] = matrix
    for s in range(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        if first == last or log_z[s] == -np.inf:
            continue
        left[0] = node_h[first]
        for t in range(first + 1, last):
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(h_patches, t, g)
            for j in range(width):
                mass, x = 0.0, 0.0
                for i in range(width):
                    mass += pair[i, j]
                    x += pair[i, j] * (left[t - first - 1, i] + g[i, j])
                left[t - first, j] = node_h[t, j] + (x / mass if mass > _NEVER else 0.0)
            take_back(h_patches, t, matrix, g)
        nodes_at(rows, last - 1, apart[s], labels, node)
        mean = 0.0
        for j in range(width):
            mean += node[j] * left[last - first - 1, j]
        right[:] = 0.0
        for t in range(last - 1, first, -1):
            arcs_at(rows, t, apart[s], transitions, patches, kind[t], factors, room, pair)
            add_patches(h_patches, t, g)
            for j in range(width):
                ahead[j] = node_h[t, j] + right[j]
            for e in range(start[t], start[t + 1]):
                i, j = before[e], here[e]
                out[e] = pair[i, j] * (left[t - first - 1, i] + g[i, j] + ahead[j] - mean)
            for i in range(width):
                mass, x = 0.0, 0.0
                for j in range(width):
                    mass += pair[i, j]
                    x += pair[i, j] * (g[i, j] + ahead[j])
                right[i] = x / mass if mass > _NEVER else 0.0
            take_back(h_patches, t, matrix, g)
