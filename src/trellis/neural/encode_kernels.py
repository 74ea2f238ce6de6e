"""An encoder's loops, compiled, in single precision: the same sums in the same order whatever stands beside a sentence,
and no library whose threads would get into each other's way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trellis.jit import kernel, ordered_part, part

Array = Any

_ONE, _TWO = np.float32(1.0), np.float32(2.0)
_MOST = np.float32(87.0)  # e^87 is a number in single precision
_LOG2E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUND = np.float32(12582912.0)  # 1.5 * 2^23: adding it leaves the nearest integer in the lowest bits
_P2, _P3, _P4, _P5, _P6 = (np.float32(1.0 / n) for n in (2.0, 6.0, 24.0, 120.0, 720.0))


@ordered_part
def _logistic_into(x: Array, scale: Any, out: Array) -> None:
    """out[k] = 1 / (1 + exp(-scale x[k])), with no call in it, so that the loop is vectorised.

    exp(v) = 2^n exp(f) with |f| <= ln(2)/2 and Taylor's polynomial for exp(f).
    """
    for k in range(len(x)):
        v = -scale * x[k]
        v = v if v < _MOST else _MOST
        v = v if v > -_MOST else -_MOST
        shifted = v * _LOG2E + _ROUND
        n = shifted - _ROUND
        f = (v - n * _LN2_HIGH) - n * _LN2_LOW
        p = f * _P6 + _P5
        p = p * f + _P4
        p = p * f + _P3
        p = p * f + _P2
        p = p * f + _ONE
        p = p * f + _ONE
        power = np.int32((np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)).view(np.float32)
        out[k] = _ONE / (_ONE + p * power)


@part
def _add_products(x: Array, w: Array, y: Array) -> None:
    """y[l, j] += sum_k x[l, k] w[k, j] for four rows l; x and w have a multiple of four columns and rows."""
    for k in range(0, w.shape[0], 4):
        a0, a1, a2, a3 = x[0, k], x[0, k + 1], x[0, k + 2], x[0, k + 3]
        b0, b1, b2, b3 = x[1, k], x[1, k + 1], x[1, k + 2], x[1, k + 3]
        c0, c1, c2, c3 = x[2, k], x[2, k + 1], x[2, k + 2], x[2, k + 3]
        d0, d1, d2, d3 = x[3, k], x[3, k + 1], x[3, k + 2], x[3, k + 3]
        for j in range(w.shape[1]):
            w0, w1, w2, w3 = w[k, j], w[k + 1, j], w[k + 2, j], w[k + 3, j]
            y[0, j] += (a0 * w0 + a1 * w1) + (a2 * w2 + a3 * w3)
            y[1, j] += (b0 * w0 + b1 * w1) + (b2 * w2 + b3 * w3)
            y[2, j] += (c0 * w0 + c1 * w1) + (c2 * w2 + c3 * w3)
            y[3, j] += (d0 * w0 + d1 * w1) + (d2 * w2 + d3 * w3)


@kernel
def multiplied(x: Array, w: Array, bias: Array, out: Array) -> None:
    """out = x w + bias, F32[rows, columns], rows padded to a multiple of four, and so the rows of w."""
    for i in range(0, len(x), 4):
        for r in range(4):
            for j in range(len(bias)):
                out[i + r, j] = bias[j]
        _add_products(x[i : i + 4], w, out[i : i + 4])


@kernel
def read_sentences(
    gates: Array, state: Array, offsets: Array, order: Array, back: bool, h: Array, c: Array, out: Array, column: int
) -> None:
    """One direction of an LSTM: gates F32[tokens, 4 hidden], what the words say; state F32[hidden padded to a multiple
    of four, 4 hidden]; into columns of out F32[tokens, ...] from `column` on. Sentences go four at a time, in this
    order, longer ones first; h F32[4, hidden padded] and c F32[4, hidden] are what the first four begin with, and what
    the last four end with."""
    hidden = state.shape[1] // 4
    now, enter, keep = np.zeros((4, 4 * hidden), np.float32), np.zeros(hidden, np.float32), np.zeros(hidden, np.float32)
    new, give = np.zeros(hidden, np.float32), np.zeros(hidden, np.float32)
    for first in range(0, len(order), 4):
        if first > 0:
            h[:], c[:] = np.float32(0.0), np.float32(0.0)
        lanes = min(4, len(order) - first)
        for t in range(offsets[order[first] + 1] - offsets[order[first]]):
            while t >= offsets[order[first + lanes - 1] + 1] - offsets[order[first + lanes - 1]]:
                lanes -= 1
            for lane in range(lanes):
                s = order[first + lane]
                now[lane] = gates[offsets[s + 1] - 1 - t if back else offsets[s] + t]
            _add_products(h, state, now)
            for lane in range(lanes):
                s, row = order[first + lane], now[lane]
                _logistic_into(row[:hidden], _ONE, enter)
                _logistic_into(row[hidden : 2 * hidden], _ONE, keep)
                _logistic_into(row[2 * hidden : 3 * hidden], _TWO, new)  # tanh(x) = 2 / (1 + exp(-2 x)) - 1
                _logistic_into(row[3 * hidden :], _ONE, give)
                for k in range(hidden):
                    c[lane, k] = keep[k] * c[lane, k] + enter[k] * (_TWO * new[k] - _ONE)
                _logistic_into(c[lane], _TWO, new)
                token = offsets[s + 1] - 1 - t if back else offsets[s] + t
                for k in range(hidden):
                    h[lane, k] = give[k] * (_TWO * new[k] - _ONE)
                    out[token, column + k] = h[lane, k]


@kernel
def spelled_words(letters: Array, table: Array, filters: Array, bias: Array, out: Array) -> None:
    """The largest answer of each filter over the letters of a word, at least 0, into out F32[words, filters]. letters
    U16[words, places], 0 behind the last; table F32[alphabet, size]; filters F32[3, size, filters]."""
    size, count = table.shape[1], len(bias)
    answer = np.zeros(count, np.float32)
    for word in range(len(letters)):
        out[word, :] = np.float32(0.0)
        length = 0
        while length < letters.shape[1] and letters[word, length] > 0:
            length += 1
        for place in range(length):
            answer[:] = bias
            for d in range(3):
                at = place + d - 1
                if 0 <= at < length:
                    row = table[letters[word, at]]
                    for k in range(size):
                        value = row[k]
                        for j in range(count):
                            answer[j] += value * filters[d, k, j]
            for j in range(count):
                out[word, j] = answer[j] if answer[j] > out[word, j] else out[word, j]
