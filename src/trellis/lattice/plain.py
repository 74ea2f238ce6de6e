"""The chain's questions in plain NumPy: no compiler needed, quick to import, right for small inputs.

Same recursions as `kernels.logdomain`, a position at a time. `transition(t)` gives F64[labels, labels] into token t.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Transition = Callable[[int], F64]


@np.errstate(over="ignore")  # sums that overflow are found by who asked
def best_path(scores: F64, transition: Transition, path: NDArray[np.int32]) -> float:
    """Fills the path I32[tokens]; returns its score. Ties: as in `kernels.best`."""
    if not len(scores):
        return 0.0
    delta = scores.copy()
    for t in range(1, len(scores)):
        delta[t] += (delta[t - 1][:, None] + transition(t)).max(axis=0)
    path[-1] = delta[-1].argmax()
    for t in range(len(scores) - 1, 0, -1):
        path[t - 1] = (delta[t - 1] + transition(t)[:, path[t]]).argmax()
    return float(delta[-1, path[-1]])


@np.errstate(over="ignore")
def forward(scores: F64, transition: Transition) -> tuple[F64, float]:
    """alpha with maximum 0 at each position, and log Z."""
    alpha = scores.copy()
    total = 0.0
    for t in range(len(scores)):
        if t > 0:
            alpha[t] += log_sum(alpha[t - 1][:, None] + transition(t), axis=0)
        high = alpha[t].max()
        if high == -np.inf:
            return alpha, -np.inf
        alpha[t] -= high
        total += high
    return alpha, total + (float(log_sum(alpha[-1], axis=0)) if len(scores) else 0.0)


@np.errstate(over="ignore")
def backward(scores: F64, transition: Transition) -> F64:
    """beta with maximum 0 at each position."""
    beta = np.zeros_like(scores)
    for t in range(len(scores) - 2, -1, -1):
        beta[t] = log_sum(transition(t + 1) + (scores[t + 1] + beta[t + 1]), axis=1)
        beta[t] -= beta[t].max()
    return beta


def nodes_of(alpha: F64, beta: F64) -> F64:
    """P(y_t = j) for all t: F64[tokens, labels]."""
    return softmax(alpha + beta, axis=1)


def arc_of(scores: F64, transition: Transition, alpha: F64, beta: F64, t: int) -> F64:
    """P(y_(t-1) = i, y_t = j): F64[labels, labels]."""
    pair = alpha[t - 1][:, None] + transition(t) + (scores[t] + beta[t])
    return softmax(pair.ravel(), axis=0).reshape(pair.shape)


def covariance(scores: F64, transition: Transition, node_h: F64, arc_h: Transition) -> tuple[F64, list[F64], float]:
    """Cov[H, 1_node] F64[tokens, labels], Cov[H, 1_arc] for each t >= 1, and E[H] (MATH section 4)."""
    alpha, log_z = forward(scores, transition)
    if log_z == -np.inf:
        return node_h, [], -np.inf
    beta = backward(scores, transition)
    left, right = node_h.copy(), np.zeros_like(node_h)  # A and B
    for t in range(1, len(scores)):
        given_next = softmax(alpha[t - 1][:, None] + transition(t), axis=0)  # P(i | j)
        left[t] += (given_next * (left[t - 1][:, None] + arc_h(t))).sum(axis=0)
    for t in range(len(scores) - 2, -1, -1):
        given = conditional(scores, transition, beta, t + 1)
        right[t] = (given * (arc_h(t + 1) + node_h[t + 1] + right[t + 1])).sum(axis=1)
    nodes = nodes_of(alpha, beta)
    mean = float((nodes[0] * (left[0] + right[0])).sum()) if len(scores) else 0.0
    arcs = [
        arc_of(scores, transition, alpha, beta, t) * (left[t - 1][:, None] + arc_h(t) + node_h[t] + right[t] - mean)
        for t in range(1, len(scores))
    ]
    return nodes * (left + right - mean), arcs, mean


def conditional(scores: F64, transition: Transition, beta: F64, t: int) -> F64:
    """P(y_t = j | y_(t-1) = i): F64[labels, labels]; rows without a path are 0."""
    return softmax(transition(t) + (scores[t] + beta[t]), axis=1)


def sample_and_entropy(scores: F64, transition: Transition, uniform: F64, paths: NDArray[np.int32]) -> float | None:
    """Fills paths I32[count, tokens] from uniform numbers; returns H(y), or None where there is no path."""
    alpha, log_z = forward(scores, transition)
    if log_z == -np.inf:
        return None
    if not len(scores):
        return 0.0
    beta = backward(scores, transition)
    nodes = nodes_of(alpha, beta)
    paths[:, 0] = draw(np.broadcast_to(nodes[0], (len(paths), nodes.shape[1])), uniform[:, 0])
    entropy = entropy_of(nodes[0])
    for t in range(1, len(scores)):
        given = conditional(scores, transition, beta, t)
        paths[:, t] = draw(given[paths[:, t - 1]], uniform[:, t])
        entropy = entropy + (nodes[t - 1] * entropy_of(given)).sum()
    return float(entropy)


def draw(p: F64, u: F64) -> NDArray[np.int64]:
    """Row by row the label whose share of the unit interval holds u; never one of probability 0."""
    cumulative = p.cumsum(axis=1)
    last = p.shape[1] - 1 - (p[:, ::-1] > 0).argmax(axis=1)
    found = (u[:, None] < cumulative) & (p > 0)
    return np.asarray(np.where(found.any(axis=1), found.argmax(axis=1), last))


def entropy_of(p: F64) -> F64:
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-(p * logs).sum(axis=-1))


def log_sum(values: F64, axis: int) -> F64:
    """log sum exp along an axis; -inf where there is nothing to sum."""
    high = values.max(axis=axis, keepdims=True)
    safe = np.where(high == -np.inf, 0.0, high)
    total = np.exp(values - safe).sum(axis=axis)
    logs = np.log(total, out=np.full_like(total, -np.inf), where=total > 0)
    return np.asarray(logs + safe.squeeze(axis))


def softmax(values: F64, axis: int) -> F64:
    """exp(values) normalised along an axis; zeros where all is -inf."""
    high = values.max(axis=axis, keepdims=True)
    powers = np.exp(values - np.where(high == -np.inf, 0.0, high))
    total = powers.sum(axis=axis, keepdims=True)
    return np.asarray(powers / np.where(total == 0.0, 1.0, total))
