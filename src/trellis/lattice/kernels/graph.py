"""Forward-backward over explicit graphs, in the log domain: exact for any finite scores.

Nodes of a sentence are in topological order: arcs lead from earlier to later ones. The arcs into node v are
start[v]:start[v + 1], each from the node source[e]. A path begins at a node with `first` and ends at one with `last`.

    alpha_v = s_v + log( [v is first] + sum over arcs e = (u, v) of exp(alpha_u + s_e) )
    P(e | v) = exp(alpha_u + s_e) / the same sum               P(begin | v) likewise
    P(v) = P(end at v) + sum over arcs (v, w) of P(v, w)       P(e) = P(v) P(e | v)

All that comes after `forward` is products of the conditional probabilities it leaves behind: no exponential is taken
twice, every distribution sums to 1 whatever the magnitude of the scores, and nothing is divided by a node that no path
visits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel

Array = Any


@ordered_kernel
def forward(
    start: Array,
    source: Array,
    first: Array,
    last: Array,
    offsets: Array,
    nodes: Array,
    arcs: Array,
    alpha: Array,
    given: Array,
    begin: Array,
    end: Array,
    log_z: Array,
) -> None:
    """nodes: F64[nodes] and arcs: F64[arcs] are scores. Written: alpha F64[nodes]; given F64[arcs], P(e | v); begin
    F64[nodes], P(begin | v); end F64[nodes], P(the path ends at v); log_z F64[sentences], -inf without a path."""
    for s in range(len(offsets) - 1):
        a, b = offsets[s], offsets[s + 1]
        log_z[s] = 0.0
        top = -np.inf
        for v in range(a, b):
            high = 0.0 if first[v] else -np.inf
            for e in range(start[v], start[v + 1]):
                given[e] = alpha[source[e]] + arcs[e]
                high = max(high, given[e])
            begin[v], end[v], alpha[v] = 0.0, 0.0, -np.inf
            if high == -np.inf:
                for e in range(start[v], start[v + 1]):
                    given[e] = 0.0
                continue
            begun = np.exp(-high) if first[v] else 0.0
            total = begun
            for e in range(start[v], start[v + 1]):
                given[e] = np.exp(given[e] - high)
                total += given[e]
            for e in range(start[v], start[v + 1]):
                given[e] /= total
            begin[v] = begun / total
            alpha[v] = nodes[v] + (high + np.log(total))
            if last[v]:
                top = max(top, alpha[v])
        if a == b:
            continue
        log_z[s] = -np.inf
        if top > -np.inf:
            total = 0.0
            for v in range(a, b):
                if last[v]:
                    end[v] = np.exp(alpha[v] - top)
                    total += end[v]
            for v in range(a, b):
                end[v] /= total
            log_z[s] = top + np.log(total)


@ordered_kernel
def backward(
    start: Array, source: Array, offsets: Array, given: Array, end: Array, node_p: Array, arc_p: Array
) -> None:
    """Written: node_p F64[nodes], P(v); arc_p F64[arcs], P(e)."""
    for v in range(len(end)):
        node_p[v] = end[v]
    for v in range(len(end) - 1, -1, -1):
        for e in range(start[v], start[v + 1]):
            arc_p[e] = node_p[v] * given[e]
            node_p[source[e]] += arc_p[e]


@ordered_kernel
def covariance(
    start: Array,
    source: Array,
    offsets: Array,
    given: Array,
    end: Array,
    node_p: Array,
    arc_p: Array,
    node_h: Array,
    arc_h: Array,
    node_out: Array,
    arc_out: Array,
    expectation: Array,
) -> None:
    """Cov[H, 1_v] and Cov[H, 1_e] for h on nodes and arcs (MATH section 4); expectation F64[sentences], E[H].

    A_v = h_v + sum over arcs e = (u, v) of P(e | v) (h_e + A_u)      what a path has added up when it leaves v
    B_u = sum over arcs e = (u, v) of P(e | u) (h_e + h_v + B_v)      what it adds up after u
    Cov[H, 1_e] = P(e) (A_u + h_e + h_v + B_v - E[H])
    """
    left, right = np.zeros(len(end)), np.zeros(len(end))
    for v in range(len(end)):
        total = node_h[v]
        for e in range(start[v], start[v + 1]):
            if given[e] > 0.0:
                total += given[e] * (arc_h[e] + left[source[e]])
        left[v] = total
    for s in range(len(offsets) - 1):
        total = 0.0
        for v in range(offsets[s], offsets[s + 1]):
            total += end[v] * left[v]
        expectation[s] = total
    for v in range(len(end) - 1, -1, -1):  # right[v] is first P(v) B_v
        if node_p[v] > 0.0:
            right[v] /= node_p[v]
        for e in range(start[v], start[v + 1]):
            right[source[e]] += arc_p[e] * (arc_h[e] + node_h[v] + right[v])
    for s in range(len(offsets) - 1):
        for v in range(offsets[s], offsets[s + 1]):
            node_out[v] = node_p[v] * (left[v] + right[v] - expectation[s])
            after = node_h[v] + right[v] - expectation[s]
            for e in range(start[v], start[v + 1]):
                arc_out[e] = arc_p[e] * (left[source[e]] + arc_h[e] + after)


@ordered_kernel
def entropies(
    start: Array, offsets: Array, given: Array, begin: Array, end: Array, node_p: Array, entropy: Array
) -> None:
    """H(y) of each sentence, F64[sentences]: where it ends, and from each node on it where it came from."""
    for s in range(len(offsets) - 1):
        total = 0.0
        for v in range(offsets[s], offsets[s + 1]):
            total -= end[v] * np.log(end[v]) if end[v] > 0.0 else 0.0
            here = begin[v] * np.log(begin[v]) if begin[v] > 0.0 else 0.0
            for e in range(start[v], start[v + 1]):
                here += given[e] * np.log(given[e]) if given[e] > 0.0 else 0.0
            total -= node_p[v] * here
        entropy[s] = total


@ordered_kernel
def draw_paths(
    start: Array,
    source: Array,
    offsets: Array,
    given: Array,
    begin: Array,
    end: Array,
    uniform: Array,
    uniform_end: Array,
    on: Array,
) -> None:
    """Paths drawn from the end: uniform F64[count, nodes] and uniform_end F64[count, sentences] choose; on
    BOOL[count, nodes], all False, is set on the nodes of each path. What has probability 0 is never chosen."""
    for c in range(len(uniform)):
        for s in range(len(offsets) - 1):
            rest, here = uniform_end[c, s], -1
            for v in range(offsets[s], offsets[s + 1]):
                if end[v] > 0.0:
                    here = v
                    rest -= end[v]
                    if rest < 0.0:
                        break
            while here >= 0:
                on[c, here] = True
                rest, before = uniform[c, here], -1
                if begin[here] > 0.0:
                    rest -= begin[here]
                if rest >= 0.0 or begin[here] == 0.0:
                    for e in range(start[here], start[here + 1]):
                        if given[e] > 0.0:
                            before = source[e]
                            rest -= given[e]
                            if rest < 0.0:
                                break
                here = before
