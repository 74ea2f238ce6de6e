"""Chains that are normalised label by label: each label is chosen given those before it, and choices sum to 1.

    log P(j | history) = r[j] - log sum_k exp(r[k])
    r[j] = s_t[j] + transitions[i, j] + sum over longer pieces of the history of their weights with j

where i is the label before. A history is a number, its last `order` labels as digits to the base L, the oldest first;
near the beginning of a sentence it has fewer. `keys` are the pieces of two labels or more that have weights, those of
m + 2 labels in keys[cut[m]:cut[m + 1]], ascending; piece k has the weights `weight[start[k]:start[k + 1]]` with the
labels `label` there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import ordered_kernel, ordered_part
from trellis.lattice.kernels.vector import exp_into, highest

Array = Any

_SMALL = 1e-200  # products of exponentials above it have lost nothing to underflow that matters


@ordered_part
def choices(
    scores: Array, block: Array, history: int, known: int, keys: Array, cut: Array, start: Array, label: Array,
    weight: Array, row: Array, space: Array,
) -> None:  # fmt: skip
    """row[j] = log P(j | history), of which `known` labels are there; -inf throughout if no label is possible."""
    labels = len(row)
    before = history % labels
    for j in range(labels):
        row[j] = scores[j] + block[before, j] if known > 0 else scores[j]
    size = labels
    for m in range(known - 1):
        size *= labels
        key = history % size
        a, b = cut[m], cut[m + 1]
        k = a + np.searchsorted(keys[a:b], key)
        if k < b and keys[k] == key:
            for w in range(start[k], start[k + 1]):
                row[label[w]] += weight[w]
    high = highest(row)
    if high == -np.inf:
        return
    exp_into(row, high, space)
    shift = np.log(_sum(space))
    for j in range(labels):  # not both at once: far from 0 the sum of the two would be a rounded one
        row[j] = (row[j] - high) - shift


@ordered_kernel
def beam_histories(
    scores: Array, transitions: Array, each: int, keys: Array, cut: Array, start: Array, label: Array, weight: Array,
    order: int, offsets: Array, width: int, paths: Array, totals: Array,
) -> None:  # fmt: skip
    """Of the labellings up to each token the `width` best go on, one for each history: width 1 is greedy, from left to
    right. Written: paths I32[tokens], totals F64[sentences], -inf where none of them could go on."""
    labels = transitions.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    states = labels**order
    row, space = np.empty(labels), np.empty(labels)
    codes, values = np.zeros((2, width), np.int64), np.zeros((2, width))
    chosen, back = np.empty((longest, width), np.int32), np.empty((longest, width), np.int32)
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        kept, old = 1, 0
        codes[0, 0], values[0, 0] = 0, 0.0
        for t in range(length):
            new, count, block = 1 - old, 0, transitions[(a + t) * each]
            for h in range(kept):
                choices(scores[a + t], block, codes[old, h], min(t, order), keys, cut, start, label, weight, row, space)
                for j in range(labels):
                    value, code = values[old, h] + row[j], (codes[old, h] * labels + j) % states
                    if row[j] == -np.inf or (count == width and not value > values[new, count - 1]):
                        continue
                    # a better labelling with the same history takes the place of one that is there
                    at, better = -1, True
                    for n in range(count):
                        if codes[new, n] == code:
                            at, better = n, value > values[new, n]
                    if not better:
                        continue
                    if at < 0:
                        at = count if count < width else width - 1
                        count += int(count < width)
                    while at > 0 and values[new, at - 1] < value:
                        codes[new, at], values[new, at] = codes[new, at - 1], values[new, at - 1]
                        chosen[t, at], back[t, at] = chosen[t, at - 1], back[t, at - 1]
                        at -= 1
                    codes[new, at], values[new, at], chosen[t, at], back[t, at] = code, value, j, h
            kept, old = count, new
        totals[s] = values[old, 0] if kept > 0 else -np.inf
        h = 0
        for t in range(length - 1 if kept > 0 else -1, -1, -1):
            paths[a + t] = chosen[t, h]
            h = back[t, h]


@ordered_kernel
def exact_histories(
    scores: Array, transitions: Array, each: int, keys: Array, cut: Array, start: Array, label: Array, weight: Array,
    order: int, offsets: Array, paths: Array, totals: Array,
) -> None:  # fmt: skip
    """The most probable labellings: as the beam with room for all L^order histories. Of a history only the label that
    it forgets is kept, to find the way back."""
    labels = transitions.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    states = labels**order
    row, space = np.empty(labels), np.empty(labels)
    delta, forgotten = np.empty((2, states)), np.zeros((longest, states), np.uint16)
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        old, size = 0, 1
        delta[0, 0] = 0.0
        for t in range(length):
            new, block, known = 1 - old, transitions[(a + t) * each], min(t, order)
            after = min(size * labels, states)
            for code in range(after):
                delta[new, code] = -np.inf
            for code in range(size):
                value = delta[old, code]
                if value == -np.inf:
                    continue
                choices(scores[a + t], block, code, known, keys, cut, start, label, weight, row, space)
                first = code * labels % states
                lost = code * labels // states
                for j in range(labels):
                    if value + row[j] > delta[new, first + j]:
                        delta[new, first + j] = value + row[j]
                        forgotten[t, first + j] = lost
            old, size = new, after
        code, best = 0, -np.inf
        for c in range(size):
            if delta[old, c] > best:
                code, best = c, delta[old, c]
        totals[s] = best if length > 0 else 0.0
        for t in range(length - 1 if best > -np.inf else -1, -1, -1):
            paths[a + t] = code % labels
            code = (forgotten[t, code] * states + code) // labels


@ordered_kernel
def forward_histories(
    scores: Array, transitions: Array, each: int, keys: Array, cut: Array, start: Array, label: Array, weight: Array,
    order: int, offsets: Array, nodes: Array, log_z: Array,
) -> None:  # fmt: skip
    """P(y_t = j) F64[tokens, labels] from the left alone: what comes later has sums of 1 and changes nothing. log_z
    F64[sentences] is 0 up to rounding, or -inf where there is no path."""
    labels = transitions.shape[1]
    states = labels**order
    row, space, alpha = np.empty(labels), np.empty(labels), np.empty((2, states))
    for s in range(len(offsets) - 1):
        a, length = offsets[s], offsets[s + 1] - offsets[s]
        old, size = 0, 1
        alpha[0, 0] = 1.0
        for t in range(length):
            new, block, known = 1 - old, transitions[(a + t) * each], min(t, order)
            after = min(size * labels, states)
            for code in range(after):
                alpha[new, code] = 0.0
            for code in range(size):
                mass = alpha[old, code]
                if mass == 0.0:
                    continue
                choices(scores[a + t], block, code, known, keys, cut, start, label, weight, row, space)
                first = code * labels % states
                if highest(row) == -np.inf:
                    continue
                exp_into(row, 0.0, space)
                for j in range(labels):
                    alpha[new, first + j] += mass * space[j]
            for j in range(labels):
                nodes[a + t, j] = 0.0
            for code in range(after):
                nodes[a + t, code % labels] += alpha[new, code]
            old, size = new, after
        total = 0.0
        for code in range(size):
            total += alpha[old, code]
        log_z[s] = np.log(total) if total > 0.0 else -np.inf


@ordered_kernel
def follow_histories(
    scores: Array, transitions: Array, each: int, keys: Array, cut: Array, start: Array, label: Array, weight: Array,
    order: int, offsets: Array, uniform: Array, paths: Array, log_p: Array,
) -> None:  # fmt: skip
    """log P F64[sentences] of the labellings `paths`, which are given; or, with numbers F64[tokens] between 0 and 1,
    drawn: each label as often as it is probable after those before it."""
    labels = transitions.shape[1]
    states = labels**order
    row, space = np.empty(labels), np.empty(labels)
    for s in range(len(offsets) - 1):
        code = 0
        log_p[s] = 0.0
        for t in range(offsets[s + 1] - offsets[s]):
            n = offsets[s] + t
            block = transitions[n * each]
            choices(scores[n], block, code, min(t, order), keys, cut, start, label, weight, row, space)
            if len(uniform):
                if highest(row) == -np.inf:
                    log_p[s] = -np.inf
                    break
                exp_into(row, 0.0, space)
                left, last = uniform[n], -1
                for j in range(labels):
                    if left >= 0.0 and space[j] > 0.0:
                        last = j
                        left -= space[j]
                paths[n] = last
            log_p[s] += row[paths[n]]
            code = (code * labels + paths[n]) % states


@ordered_kernel
def close_dead_ends(scores: Array, transitions: Array, each: int, offsets: Array) -> None:
    """Scores F64[tokens, labels] of -inf, too, for labels after which no label can come that has a way to the end."""
    labels = transitions.shape[1]
    for s in range(len(offsets) - 1):
        for t in range(offsets[s + 1] - 2, offsets[s] - 1, -1):
            block = transitions[(t + 1) * each]
            for i in range(labels):
                goes_on = False
                for j in range(labels):
                    goes_on |= scores[t + 1, j] > -np.inf and block[i, j] > -np.inf
                if not goes_on:
                    scores[t, i] = -np.inf


@ordered_kernel
def log_sums(scores: Array, transitions: Array, each: int, offsets: Array, out: Array) -> None:
    """out[t, i] = log sum_j exp(s_t[j] + transitions[i, j]), F64[tokens, labels]; of first tokens, for all i, that of
    their scores alone.

    Where all tokens share the transitions it is a product of exp(s_t) with the matrix E = exp(transitions), both less
    their maxima; only where that comes near underflow are sums taken one by one.
    """
    labels = transitions.shape[1]
    row, space, factor = np.empty(labels), np.empty(labels), np.empty((labels, labels))
    tops = np.empty(labels)
    if not each:
        for i in range(labels):
            tops[i] = highest(transitions[0, i])
            exp_into(transitions[0, i], tops[i] if tops[i] > -np.inf else 0.0, factor[i])
    for s in range(len(offsets) - 1):
        for t in range(offsets[s], offsets[s + 1]):
            high = highest(scores[t])
            exp_into(scores[t], high if high > -np.inf else 0.0, space)
            if t == offsets[s]:
                out[t, :] = high + np.log(_sum(space)) if high > -np.inf else -np.inf
                continue
            for i in range(labels):
                total = 0.0
                if not each:
                    for j in range(labels):
                        total += space[j] * factor[i, j]
                if total > _SMALL:
                    out[t, i] = high + tops[i] + np.log(total)
                else:
                    for j in range(labels):
                        row[j] = scores[t, j] + transitions[t * each, i, j]
                    out[t, i] = _log_sum(row)


@ordered_part
def _sum(row: Array) -> Any:
    total = 0.0
    for j in range(len(row)):
        total += row[j]
    return total


@ordered_part
def _log_sum(row: Array) -> Any:
    high = highest(row)
    if high == -np.inf:
        return -np.inf
    powers = np.empty(len(row))
    exp_into(row, high, powers)
    return high + np.log(_sum(powers))
