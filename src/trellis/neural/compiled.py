"""An encoder's scores by compiled loops: the same as `plain`, for more than a little text."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trellis.features.inputs import Inputs
from trellis.neural.shape import DIRECTIONS, WIDTH, EncoderShape

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

_PIECE = 1 << 14  # tokens of a long sentence whose gates are there together, a multiple of four


class CompiledEncoder:
    """Arrays as loops read them: rows padded to a multiple of four."""

    def __init__(self, shape: EncoderShape, arrays: dict[str, F32]):
        self.shape, self._arrays = shape, arrays

    @cached_property
    def _layers(self) -> dict[str, tuple[F32, F32, F32]]:
        """By direction: input, bias and state."""
        found = {}
        for layer in range(self.shape.layers):
            for way in DIRECTIONS:
                name = f"layer.{layer}.{way}"
                enters, state = (_padded(self._arrays[f"{name}.{part}"].T) for part in ("input", "state"))
                found[name] = enters, self._arrays[f"{name}.bias"], state
        return found

    @cached_property
    def _output(self) -> F32:
        return _padded(self._arrays["output"])

    def scores(self, words: F32, inputs: Inputs, offsets: I64) -> F32:
        """F32[tokens, labels]; words F32[tokens, embedding] are the vectors of the tokens' words."""
        from trellis.neural.encode_kernels import multiplied

        arrays, shape = self._arrays, self.shape
        columns = [arrays[f"column.{k}"][inputs.ids[:, k]] for k in range(1, len(shape.tables))]
        x = _padded(np.concatenate([words, self._spelled(inputs), *columns], axis=1), columns=True)
        for layer in range(shape.layers):
            x = self._layer(x, layer, offsets)
        out = np.empty((len(x), shape.labels), np.float32)
        multiplied(x, self._output, arrays["output.bias"], out)
        return out[: len(words)]

    def _layer(self, x: F32, layer: int, offsets: I64) -> F32:
        """x F32[tokens, in] -> what the LSTM says from either end, both padded to a multiple of four. A long sentence
        goes piece by piece: its gates take more room than all else."""
        from trellis.neural.encode_kernels import multiplied, read_sentences

        hidden, lengths = self.shape.hidden, np.diff(offsets)
        found = np.zeros((len(x), -(-2 * hidden // 4) * 4), np.float32)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        pieces = [(0, len(x))]
        if len(lengths) == 1 and len(x) > _PIECE:
            pieces = [(a, min(a + _PIECE, len(x))) for a in range(0, len(x), _PIECE)]
        for n, way in enumerate(DIRECTIONS):
            enters, bias, state = self._layers[f"layer.{layer}.{way}"]
            h, c = np.zeros((4, len(state)), np.float32), np.zeros((4, hidden), np.float32)
            gates = np.empty((max(b - a for a, b in pieces), 4 * hidden), np.float32)
            for a, b in pieces if way == "forward" else pieces[::-1]:
                multiplied(x[a:b], enters, bias, gates[: b - a])
                cuts = offsets if len(pieces) == 1 else np.array([0, min(b, int(offsets[-1])) - a])
                read_sentences(gates, state, cuts, order, way == "backward", h, c, found[a:b], n * hidden)
        return found

    def _spelled(self, inputs: Inputs) -> F32:
        from trellis.neural.encode_kernels import spelled_words

        words, which = np.unique(inputs.word, return_inverse=True)
        found = np.empty((len(words), self.shape.filters), np.float32)
        filters = self._arrays["filters"].reshape(WIDTH, self.shape.letters, self.shape.filters)
        bias = self._arrays["filters.bias"]
        spelled_words(inputs.letters[words], self._arrays["letters"], filters, bias, found)
        return found[which]


def _padded(rows: F32, columns: bool = False) -> F32:
    """With rows, and maybe columns, of zeros up to a multiple of four."""
    more = (0, -rows.shape[1] % 4 if columns else 0)
    return np.ascontiguousarray(np.pad(rows, ((0, -rows.shape[0] % 4), more)))
