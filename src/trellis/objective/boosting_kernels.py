"""What a round of boosting does: the best change of one weight by an upper bound of the loss, and its effect.

The loss of a sentence is psi(1 / P(y)) with 1 / P(y) - 1 = sum over wrong paths y' of exp(S(y') - S(y)), where psi is
straight, or concave and then below its tangent. A change D of weight k multiplies the term of y' by exp(D u) with
u = F_k(y') - F_k(y), which bounds of two kinds make the same for all paths.

`tokens`: u is a sum of what single occurrences differ by, u_t = +-|x_t| or 0, and of all |x_t| in a sentence the sum is
at most m. By convexity

    exp(D u) <= 1 + sum_t |x_t| / m ([u_t > 0] (exp(D m) - 1) + [u_t < 0] (exp(-D m) - 1))

and of P([u_t > 0]) marginals know all. With U and W, the sums over occurrences of |x_t| times the sentence's weight
and the probability of u_t > 0 or u_t < 0, the loss falls by at least U / m (1 - exp(D m)) + W / m (1 - exp(-D m)), at
best by (sqrt(U) - sqrt(W))^2 / m where D = log(W / U) / 2 m. Sentences where the attribute is rarer have a smaller m:
each weight has several cells (U, W), with m, m / 2, m / 4 ...

`paths` (Altun et al. 2003, Algorithm 2): with -p <= u <= q for all paths of all sentences

    exp(D u) <= (q - u) / (p + q) exp(-D p) + (u + p) / (p + q) exp(D q)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trellis.jit import kernel, part

Array = Any

_MOST_NEWTON = 60  # steps; about five are needed
_LARGEST = 600.0  # of D m, in the smallest m: exp of it is still a number
_CERTAIN = 1e-12  # a share of an end of the interval that is smaller counts as so much, or changes have no end


class Features(NamedTuple):
    """The weights that boosting may change: first those of (attribute, label) pairs, then those of transitions. Weight
    k has `buckets[k]` cells, the first at `cell[k]` and others `stride[k]` apart."""

    number: Array  # I64[weights]: in theta
    cell: Array  # I64[weights]
    stride: Array  # I64[weights]
    buckets: Array  # I64[weights]
    reach: Array  # F64[weights]: m of the first cell; it halves from cell to cell
    most: Array  # F64[weights]: q of the other bound
    least: Array  # F64[weights]: p
    label: Array  # I64[pairs]
    unit: Array  # I64[pairs]: weights with the same occurrences
    first: Array  # I64[units + 1]: where a unit's weights begin
    start: Array  # I64[units + 1]: where its occurrences begin
    token: Array  # I64[occurrences]
    value: Array  # F64[occurrences]; empty when all are 1
    source: Array  # I64[transitions]
    target: Array  # I64[transitions]


@kernel
def best_by_tokens(features: Array, sums: Array, smoothing: float, stale: Array, promise: Array, known: Array) -> Array:
    """The weight whose change promises most, the change, and the fall of the loss that is certain.

    sums: F64[cells, 2], U and W; `smoothing` is added to both, which keeps every change finite. stale: U8[units], whose
    sums have changed since the last time. promise: F64[weights], of how much the loss may fall, and known: U8[weights],
    where it falls by just that; both are kept from one call to the next."""
    for u in range(len(stale)):
        if stale[u]:
            _promise_anew(features, sums, smoothing, features.first[u], features.first[u + 1], promise, known)
            stale[u] = 0
    _promise_anew(features, sums, smoothing, len(features.label), len(promise), promise, known)
    top, best = 0.0, -1
    for k in range(len(promise)):
        if promise[k] > top:
            top, best = promise[k], k
    if best < 0:
        return -1, 0.0, 0.0
    top = _make_known(features, sums, smoothing, best, promise, known)
    for k in range(len(promise)):
        if promise[k] > top and _make_known(features, sums, smoothing, k, promise, known) > top:
            top, best = promise[k], k
    return best, *_least(features, sums, smoothing, best)


@part
def _promise_anew(
    features: Array, sums: Array, smoothing: float, first: int, last: int, promise: Array, known: Array
) -> None:
    """What no change can do better: the best of each cell alone."""
    for k in range(first, last):
        promise[k] = _promise(features, sums, smoothing, k)
        known[k] = features.buckets[k] == 1


@part
def _make_known(features: Array, sums: Array, smoothing: float, k: int, promise: Array, known: Array) -> float:
    if not known[k]:
        promise[k] = _least(features, sums, smoothing, k)[1]
        known[k] = 1
    return promise[k]  # type: ignore[no-any-return]


@part
def _promise(features: Array, sums: Array, smoothing: float, k: int) -> float:
    total, m, c = 0.0, features.reach[k], features.cell[k]
    for _ in range(features.buckets[k] - 1):
        root = np.sqrt(max(sums[c, 0], 0.0)) - np.sqrt(max(sums[c, 1], 0.0))
        total += root * root / m
        m *= 0.5
        c += features.stride[k]
    root = np.sqrt(max(sums[c, 0], 0.0) + smoothing) - np.sqrt(max(sums[c, 1], 0.0) + smoothing)
    return total + root * root / m  # type: ignore[no-any-return]


@part
def _least(features: Array, sums: Array, smoothing: float, k: int) -> Array:
    """The change D that minimises the bound, and by how much. With U(D) = sum of U_b exp(D m_b) over cells and W(D)
    alike, D is where log(W(D) / U(D)) = 0: by Newton's method, in one step where there is one cell."""
    cells = features.buckets[k]
    smallest = features.reach[k] * 0.5 ** (cells - 1)
    low, high, x = -_LARGEST, _LARGEST, 0.0  # x = D times the smallest m
    for _ in range(_MOST_NEWTON):
        grows, falls, grows_m, falls_m = 0.0, 0.0, 0.0, 0.0
        power, inverse, m = np.exp(x), np.exp(-x), 1.0
        for b in range(cells):
            c = features.cell[k] + (cells - 1 - b) * features.stride[k]
            more = smoothing if b == 0 else 0.0
            u, w = max(sums[c, 0], 0.0) + more, max(sums[c, 1], 0.0) + more
            u, w = u * power if u > 0.0 else 0.0, w * inverse if w > 0.0 else 0.0
            grows += u
            falls += w
            grows_m += m * u
            falls_m += m * w
            power, inverse, m = power * power, inverse * inverse, 2.0 * m
        if grows > falls:
            high = x
        else:
            low = x
        before = x
        x = np.inf
        if 0.0 < grows < np.inf and 0.0 < falls < np.inf:
            x = before + (np.log(falls) - np.log(grows)) / (grows_m / grows + falls_m / falls)
        if not low <= x <= high:
            x = 0.5 * (low + high)
        if abs(x - before) <= 1e-13 * (1.0 + abs(x)):
            break
    return x / smallest, _fall(features, sums, smoothing, k, x)


@part
def _fall(features: Array, sums: Array, smoothing: float, k: int, x: float) -> float:
    """By how much the bound falls with x = D times the smallest m."""
    cells = features.buckets[k]
    total, m, by = 0.0, features.reach[k] * 0.5 ** (cells - 1), x
    for b in range(cells):
        c = features.cell[k] + (cells - 1 - b) * features.stride[k]
        more = smoothing if b == 0 else 0.0
        u, w = max(sums[c, 0], 0.0) + more, max(sums[c, 1], 0.0) + more
        total -= (u * np.expm1(by) if u > 0.0 else 0.0) / m + (w * np.expm1(-by) if w > 0.0 else 0.0) / m
        m, by = 2.0 * m, 2.0 * by
    return total


@kernel
def best_by_paths(features: Array, sums: Array, mass: float) -> Array:
    """As `best_by_tokens`. `mass`: the sum over sentences of their weight times the probability of wrong paths. The
    share of -p is r = (q - mean u) / (p + q), and r0 where the mean of u is 0; then D = log(r (1 - r0) / (r0 (1 - r)))
    / (p + q), and what is left of the mass is exp(-KL(r0 | r))."""
    best, top = -1, 0.0
    for k in range(len(features.reach) if mass > 0.0 else 0):
        low, high, r0 = _shares(features, sums, mass, k)
        divergence = -r0 * np.log(max(low, _CERTAIN) / r0) - (1.0 - r0) * np.log(max(high, _CERTAIN) / (1.0 - r0))
        if divergence > top:
            best, top = k, divergence
    if best < 0:
        return -1, 0.0, 0.0
    p, q = features.least[best], features.most[best]
    low, high, r0 = _shares(features, sums, mass, best)
    step = np.log(max(low, _CERTAIN) * (1.0 - r0) / (max(high, _CERTAIN) * r0)) / (p + q)
    return best, step, -mass * (low * np.expm1(-step * p) + high * np.expm1(step * q))


@part
def _shares(features: Array, sums: Array, mass: float, k: int) -> Array:
    """r, 1 - r and r0."""
    slope = 0.0
    for b in range(features.buckets[k]):
        c = features.cell[k] + b * features.stride[k]
        slope += sums[c, 0] - sums[c, 1]
    p, q = features.least[k], features.most[k]
    return max(q - slope / mass, 0.0) / (p + q), max(p + slope / mass, 0.0) / (p + q), q / (p + q)


@kernel
def score_all(features: Array, theta: Array, scores: Array, transitions: Array) -> None:
    """scores: F64[tokens, width] and transitions: F64[labels, labels], made of theta's weights that are not zero."""
    scores[:, :] = -np.inf
    scores[:, : len(transitions)] = 0.0
    transitions[:, :] = 0.0
    for k in range(len(features.label)):
        v = theta[features.number[k]]
        if v != 0.0:
            _add(features, k, v, scores)
    for k in range(len(features.source)):
        transitions[features.source[k], features.target[k]] = theta[features.number[len(features.label) + k]]


@kernel
def change_pair(features: Array, k: int, step: float, sentence: Array, scores: Array) -> Array:
    """Adds a change of the weight of a pair to the scores; the sentences that have it, I64[...], in order."""
    _add(features, k, step, scores)
    unit = features.unit[k]
    first, last = features.start[unit], features.start[unit + 1]
    touched, count = np.empty(last - first, np.int64), 0
    for n in range(first, last):
        s = sentence[features.token[n]]
        if count == 0 or touched[count - 1] != s:
            touched[count] = s
            count += 1
    return touched[:count]


@part
def _add(features: Array, k: int, step: float, scores: Array) -> None:
    unit, j = features.unit[k], features.label[k]
    for n in range(features.start[unit], features.start[unit + 1]):
        scores[features.token[n], j] += step * (features.value[n] if len(features.value) else 1.0)
