"""Forward-backward for patched transitions in the log domain: the steps of `logdomain`, a patched matrix at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part
from trellis.lattice.kernels.logdomain import arc_marginals, log_sum, log_sum_column, node_marginals
from trellis.lattice.kernels.patches import add_patches, gather_patches, take_back

Array = Any


@ordered_kernel
def patched_log_marginals(
    scores: Array,
    transitions: Array,
    offsets: Array,
    which: Array,
    patches: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    gradient: Array,
    log_z: Array,
) -> None:
    """Answers for the sentences `which`, as `patched.patched_marginals` does for the others; nodes may be the scores
    themselves. Sentences without a path get a log Z of -inf and nothing else."""
    labels = len(transitions)
    block, pair, ahead = np.empty((1, labels, labels)), np.empty((labels, labels)), np.empty(labels)
    block[0] = transitions
    for s in which:
        a, b = offsets[s], offsets[s + 1]
        rows = scores[a:b].copy()
        alpha, beta = np.empty((b - a, labels)), np.empty((b - a, labels))
        log_z[s] = patched_forward(rows, transitions, patches, a, block[0], alpha)
        if log_z[s] == -np.inf:
            continue
        beta[b - a - 1 :] = 0.0
        for t in range(b - a - 1, -1, -1):
            node_marginals(alpha, beta, t, nodes[a + t])
            if t == 0:
                continue
            add_patches(patches, a + t, block[0])
            if want_arcs:
                arc_marginals(rows, block, 0, alpha, beta, t, pair)
                gather_patches(patches, a + t, pair, gradient)
                for i in range(labels):
                    for j in range(labels):
                        arcs[i, j] += pair[i, j]
            for j in range(labels):
                ahead[j] = rows[t, j] + beta[t, j]
            patched_backward_step(block[0], ahead, beta[t - 1])
            take_back(patches, a + t, transitions, block[0])


@ordered_part
def patched_forward(rows: Array, transitions: Array, patches: Array, first: int, block: Array, alpha: Array) -> float:
    """alpha: F64[tokens, labels] with maximum 0 at each position; returns log Z (-inf when there is no path)."""
    total = 0.0
    for t in range(len(alpha)):
        high = -np.inf
        if t > 0:
            add_patches(patches, first + t, block)
        for j in range(alpha.shape[1]):
            value = rows[t, j]
            if t > 0:
                value += log_sum_column(alpha[t - 1], block, j)
            alpha[t, j] = value
            high = max(high, value)
        if t > 0:
            take_back(patches, first + t, transitions, block)
        if high == -np.inf:
            return -np.inf
        for j in range(alpha.shape[1]):
            alpha[t, j] -= high
        total += high
    if len(alpha):
        total += log_sum(alpha[-1])
    return total


@ordered_part
def patched_backward_step(block: Array, ahead: Array, beta: Array) -> None:
    """beta[i] = log sum_j exp(block[i, j] + ahead[j]), with maximum 0."""
    high = -np.inf
    for i in range(len(beta)):
        top = -np.inf
        for j in range(len(ahead)):
            top = max(top, block[i, j] + ahead[j])
        if top > -np.inf:
            total = 0.0
            for j in range(len(ahead)):
                total += np.exp(block[i, j] + ahead[j] - top)
            top += np.log(total)
        beta[i] = top
        high = max(high, top)
    for i in range(len(beta)):
        beta[i] -= high
