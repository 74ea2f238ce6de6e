"""An encoder's scores in NumPy: how models tag, with nothing else to install."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.features.inputs import Inputs
from trellis.neural.shape import DIRECTIONS, EncoderShape

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

_AT_ONCE = 4096  # words whose letters are looked at together


def scores(shape: EncoderShape, arrays: dict[str, F32], words: F32, inputs: Inputs, offsets: I64) -> F32:
    """F32[tokens, labels]; words F32[tokens, embedding] are the vectors of the tokens' words."""
    x = np.concatenate(
        [
            words,
            _spelled(shape, arrays, inputs),
            *(arrays[f"column.{k}"][inputs.ids[:, k]] for k in range(1, len(shape.tables))),
        ],
        axis=1,
    )
    steps = _steps(offsets)
    for layer in range(shape.layers):
        x = np.concatenate(
            [_read(x, arrays, f"layer.{layer}.{way}", where) for way, where in zip(DIRECTIONS, steps, strict=True)],
            axis=1,
        )
    out: F32 = x @ arrays["output"] + arrays["output.bias"]
    return out


def _spelled(shape: EncoderShape, arrays: dict[str, F32], inputs: Inputs) -> F32:
    """What the letters of each token's word say, F32[tokens, filters]; every word is looked at once."""
    words, which = np.unique(inputs.word, return_inverse=True)
    found = np.zeros((len(words), shape.filters), np.float32)
    for first in range(0, len(words), _AT_ONCE):
        letters = inputs.letters[words[first : first + _AT_ONCE]].astype(np.int64)
        letters = letters[:, : max(1, int((letters > 0).sum(axis=1).max(initial=0)))]
        rows = np.where((letters > 0)[:, :, None], arrays["letters"][letters], np.float32(0.0))
        seen = np.maximum(windows(rows) @ arrays["filters"] + arrays["filters.bias"], 0.0)
        seen[letters == 0] = 0.0
        found[first : first + _AT_ONCE] = seen.max(axis=1)
    return found[which]


def windows(rows: F32) -> F32:
    """Each place with those before and behind it: [words, places, n] -> [words, places, 3 n]."""
    before, behind = np.zeros_like(rows), np.zeros_like(rows)
    before[:, 1:], behind[:, :-1] = rows[:, :-1], rows[:, 1:]
    return np.concatenate([before, rows, behind], axis=2)


def _steps(offsets: I64) -> tuple[list[I64], list[I64]]:
    """The tokens that are read at the same time, of longer sentences first: first tokens, second ones, ...; and from
    the end on."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    left = len(order) - np.searchsorted(np.sort(lengths), np.arange(1, lengths.max(initial=0) + 1), side="left")
    ahead = [offsets[order[:count]] + t for t, count in enumerate(left.tolist())]
    back = [offsets[order[:count] + 1] - 1 - t for t, count in enumerate(left.tolist())]
    return ahead, back


def _read(x: F32, arrays: dict[str, F32], name: str, steps: list[I64]) -> F32:
    """One direction of a layer, F32[tokens, hidden]."""
    state = np.ascontiguousarray(arrays[f"{name}.state"].T)
    gates = x @ arrays[f"{name}.input"].T + arrays[f"{name}.bias"]
    size = len(state)
    out = np.zeros((len(x), size), np.float32)
    h = c = np.zeros((len(steps[0]) if steps else 0, size), np.float32)
    for at in steps:
        now = gates[at] + h[: len(at)] @ state
        enter, keep, give = (_sigmoid(now[:, k * size : (k + 1) * size]) for k in (0, 1, 3))
        c = keep * c[: len(at)] + enter * np.tanh(now[:, 2 * size : 3 * size])
        h = give * np.tanh(c)
        out[at] = h
    return out


def _sigmoid(x: F32) -> F32:
    half = np.float32(0.5)
    out: F32 = half * (np.tanh(half * x) + np.float32(1.0))
    return out
