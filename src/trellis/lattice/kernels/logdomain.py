"""The chain's questions in the log domain, sentence by sentence: exact for any finite scores.

Slower than `scaled` and `positional`, and used where those may lose something and for the rarer questions.
alpha and beta are kept with maximum 0 at each position, so that differences of scores, not their size, decide what
survives; every marginal is normalised at its own position and sums to 1 whatever the magnitude.

Scores are F64[tokens, width] with at least as many columns as there are labels.
Transitions are F64[1, labels, labels], or F64[tokens, labels, labels] whose block t leads into token t; `each` is
0 or 1 accordingly, so that block `t * each` is the one for token t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part

Array = Any


@ordered_part
def forward(scores: Array, transitions: Array, each: int, alpha: Array) -> float:
    """alpha: F64[tokens, labels] of one sentence; returns log Z (-inf when there is no path)."""
    labels = transitions.shape[1]
    total = 0.0
    for t in range(len(alpha)):
        high = -np.inf
        for j in range(labels):
            value = scores[t, j]
            if t > 0:
                value += log_sum_column(alpha[t - 1], transitions[t * each], j)
            alpha[t, j] = value
            high = max(high, value)
        if high == -np.inf:
            return -np.inf
        for j in range(labels):
            alpha[t, j] -= high
        total += high
    if len(alpha):
        total += log_sum(alpha[-1])
    return total


@ordered_part
def backward(scores: Array, transitions: Array, each: int, beta: Array) -> None:
    """beta: F64[tokens, labels] of one sentence."""
    labels = transitions.shape[1]
    ahead = np.empty(labels)
    for t in range(len(beta) - 1, -1, -1):
        if t == len(beta) - 1:
            beta[t, :] = 0.0
            continue
        for j in range(labels):
            ahead[j] = scores[t + 1, j] + beta[t + 1, j]
        high = -np.inf
        block = transitions[(t + 1) * each]
        for i in range(labels):
            top = -np.inf
            for j in range(labels):
                top = max(top, block[i, j] + ahead[j])
            value = top
            if top > -np.inf:
                total = 0.0
                for j in range(labels):
                    total += np.exp(block[i, j] + ahead[j] - top)
                value = top + np.log(total)
            beta[t, i] = value
            high = max(high, value)
        for i in range(labels):
            beta[t, i] -= high


@ordered_part
def node_marginals(alpha: Array, beta: Array, t: int, out: Array) -> None:
    """out[j] = P(y_t = j), 0 in columns of padding."""
    labels = alpha.shape[1]
    high = -np.inf
    for j in range(labels):
        out[j] = alpha[t, j] + beta[t, j]
        high = max(high, out[j])
    total = 0.0
    for j in range(labels):
        out[j] = np.exp(out[j] - high)
        total += out[j]
    for j in range(labels):
        out[j] /= total
    out[labels:] = 0.0


@ordered_part
def arc_marginals(scores: Array, transitions: Array, each: int, alpha: Array, beta: Array, t: int, out: Array) -> None:
    """out[i, j] = P(y_(t-1) = i, y_t = j)."""
    labels = transitions.shape[1]
    block = transitions[t * each]
    high = -np.inf
    for i in range(labels):
        for j in range(labels):
            out[i, j] = alpha[t - 1, i] + block[i, j] + scores[t, j] + beta[t, j]
            high = max(high, out[i, j])
    total = 0.0
    for i in range(labels):
        for j in range(labels):
            out[i, j] = np.exp(out[i, j] - high)
            total += out[i, j]
    for i in range(labels):
        for j in range(labels):
            out[i, j] /= total


@ordered_kernel
def log_marginals(
    scores: Array,
    transitions: Array,
    each: int,
    offsets: Array,
    which: Array,
    want_arcs: bool,
    nodes: Array,
    arcs: Array,
    log_z: Array,
) -> None:
    """Answers for the sentences `which`. arcs: F64[labels, labels], added to, or F64[tokens, labels, labels]
    (as F64[blocks, labels, labels] in both cases); nodes may be the scores themselves."""
    labels = transitions.shape[1]
    pair = np.empty((labels, labels))
    for s in which:
        a, b = offsets[s], offsets[s + 1]
        rows = scores[a:b].copy()
        alpha, beta = np.empty((b - a, labels)), np.empty((b - a, labels))
        blocks = transitions[a * each :] if each else transitions
        log_z[s] = forward(rows, blocks, each, alpha)
        if log_z[s] == -np.inf:
            continue
        backward(rows, blocks, each, beta)
        for t in range(b - a):
            node_marginals(alpha, beta, t, nodes[a + t])
            if want_arcs and t > 0:
                arc_marginals(rows, blocks, each, alpha, beta, t, pair)
                target = arcs[a + t] if len(arcs) > 1 else arcs[0]
                for i in range(labels):
                    for j in range(labels):
                        target[i, j] += pair[i, j]


@ordered_kernel
def covariance(
    scores: Array,
    transitions: Array,
    each: int,
    offsets: Array,
    node_h: Array,
    arc_h: Array,
    arc_each: int,
    node_cov: Array,
    arc_cov: Array,
    expectation: Array,
) -> None:
    """Cov[H, 1_arc] for every arc (MATH section 4), with h on nodes and on arcs.

        A_t[j] = h_t[j] + sum_i P(i | j) (A_(t-1)[i] + h_t[i, j])
        B_t[i] = sum_j P(j | i) (h_(t+1)[i, j] + h_(t+1)[j] + B_(t+1)[j])
        Cov[H, 1_(i,j)] = P(i, j) (A_(t-1)[i] + h_t[i, j] + h_t[j] + B_t[j] - E[H])

    Sentences without a path are left out.
    """
    labels = transitions.shape[1]
    pair = np.empty((labels, labels))
    node = np.empty(labels)
    for s in range(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        length = last - first
        rows = scores[first:last]
        blocks = transitions[first * each :] if each else transitions
        alpha, beta = np.empty((length, labels)), np.empty((length, labels))
        if forward(rows, blocks, each, alpha) == -np.inf:
            continue
        backward(rows, blocks, each, beta)
        left, right = np.zeros((length, labels)), np.zeros((length, labels))  # A and B
        for t in range(length):
            for j in range(labels):
                left[t, j] = node_h[first + t, j]
                if t > 0:
                    h = arc_h[(first + t) * arc_each]
                    block = blocks[t * each]
                    high = -np.inf
                    for i in range(labels):
                        high = max(high, alpha[t - 1, i] + block[i, j])
                    if high == -np.inf:
                        continue
                    total, mean = 0.0, 0.0
                    for i in range(labels):
                        p = np.exp(alpha[t - 1, i] + block[i, j] - high)
                        total += p
                        mean += p * (left[t - 1, i] + h[i, j])
                    left[t, j] += mean / total
        for t in range(length - 2, -1, -1):
            h = arc_h[(first + t + 1) * arc_each]
            block = blocks[(t + 1) * each]
            for i in range(labels):
                high = -np.inf
                for j in range(labels):
                    high = max(high, block[i, j] + rows[t + 1, j] + beta[t + 1, j])
                if high == -np.inf:
                    continue
                total, mean = 0.0, 0.0
                for j in range(labels):
                    p = np.exp(block[i, j] + rows[t + 1, j] + beta[t + 1, j] - high)
                    total += p
                    mean += p * (h[i, j] + node_h[first + t + 1, j] + right[t + 1, j])
                right[t, i] = mean / total
        mean_h = 0.0
        for t in range(length):
            node_marginals(alpha, beta, t, node)
            if t == 0:
                for j in range(labels):
                    mean_h += node[j] * (left[0, j] + right[0, j])
            for j in range(labels):
                node_cov[first + t, j] = node[j] * (left[t, j] + right[t, j] - mean_h)
            if t > 0:
                arc_marginals(rows, blocks, each, alpha, beta, t, pair)
                h = arc_h[(first + t) * arc_each]
                target = arc_cov[(first + t) * each]
                for i in range(labels):
                    for j in range(labels):
                        target[i, j] += pair[i, j] * (
                            left[t - 1, i] + h[i, j] + node_h[first + t, j] + right[t, j] - mean_h
                        )
        expectation[s] = mean_h


@ordered_kernel
def sample_and_entropy(
    scores: Array,
    transitions: Array,
    each: int,
    offsets: Array,
    uniform: Array,
    paths: Array,
    entropy: Array,
) -> None:
    """Draws paths I32[count, tokens] from uniform numbers F64[count, tokens], and H(y) of each sentence.

    Both follow the chain rule: y_1 by its marginal, then P(y_t | y_(t-1)) which needs beta only;
    H(y) = H(y_1) + sum_t sum_i P(y_(t-1) = i) H(y_t | i). Sentences without a path are left out.
    """
    labels = transitions.shape[1]
    node, given = np.empty(labels), np.empty((labels, labels))
    for s in range(len(offsets) - 1):
        first, last = offsets[s], offsets[s + 1]
        length = last - first
        rows = scores[first:last]
        blocks = transitions[first * each :] if each else transitions
        alpha, beta = np.empty((length, labels)), np.empty((length, labels))
        if forward(rows, blocks, each, alpha) == -np.inf:
            continue
        backward(rows, blocks, each, beta)
        entropy[s] = 0.0
        for t in range(length):
            if t == 0:
                node_marginals(alpha, beta, 0, node)
                entropy[s] += _entropy_of(node)
                for n in range(len(paths)):
                    paths[n, first] = _draw(node, uniform[n, first])
                continue
            _conditionals(rows, blocks[t * each], beta, t, given)
            node_marginals(alpha, beta, t - 1, node)
            for i in range(labels):
                if node[i] > 0.0:
                    entropy[s] += node[i] * _entropy_of(given[i])
            for n in range(len(paths)):
                paths[n, first + t] = _draw(given[paths[n, first + t - 1]], uniform[n, first + t])


@ordered_part
def _conditionals(rows: Array, block: Array, beta: Array, t: int, given: Array) -> None:
    """given[i, j] = P(y_t = j | y_(t-1) = i); rows without a path are 0."""
    for i in range(given.shape[0]):
        high = -np.inf
        for j in range(given.shape[1]):
            given[i, j] = block[i, j] + rows[t, j] + beta[t, j]
            high = max(high, given[i, j])
        total = 0.0
        for j in range(given.shape[1]):
            given[i, j] = np.exp(given[i, j] - high) if high > -np.inf else 0.0
            total += given[i, j]
        if total > 0.0:
            for j in range(given.shape[1]):
                given[i, j] /= total


@ordered_part
def _entropy_of(p: Array) -> float:
    total = 0.0
    for j in range(len(p)):
        if p[j] > 0.0:
            total -= p[j] * np.log(p[j])
    return total


@ordered_part
def _draw(p: Array, u: float) -> int:
    """The label whose share of the unit interval holds u; never one of probability 0."""
    total, last = 0.0, 0
    for j in range(len(p)):
        if p[j] > 0.0:
            total += p[j]
            last = j
            if u < total:
                return j
    return last


@ordered_part
def log_sum(values: Array) -> float:
    high = -np.inf
    for v in values:
        high = max(high, v)
    total = 0.0
    for v in values:
        total += np.exp(v - high)
    return high + np.log(total)  # type: ignore[no-any-return]


@ordered_part
def log_sum_column(values: Array, block: Array, j: int) -> float:
    """log sum_i exp(values[i] + block[i, j])."""
    high = -np.inf
    for i in range(len(values)):
        high = max(high, values[i] + block[i, j])
    if high == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(len(values)):
        total += np.exp(values[i] + block[i, j] - high)
    return high + np.log(total)  # type: ignore[no-any-return]
