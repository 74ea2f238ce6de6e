"""The same encoder in PyTorch: how models learn (see `shape`; `plain` is what they tag with)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trellis.errors import DataError
from trellis.features.inputs import Inputs
from trellis.neural.shape import DIRECTIONS, EncoderShape
from trellis.rows import padded

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """Some sentences, ready to be encoded. `words: I64[...]`, the rows of the table of words that they need, 0 among
    them; `ids: [tokens, columns]`, of words by their places among these; `letters: [spelled, places]` and `word:
    [tokens]`, which of the spelled words each token is; `ahead`, `back: [sentences, longest]`, tokens as they are read,
    and where each token's answer is then found, `found_ahead`, `found_back: [tokens]`."""

    words: I64
    ids: Tensor
    letters: Tensor
    word: Tensor
    ahead: Tensor
    back: Tensor
    found_ahead: Tensor
    found_back: Tensor

    @classmethod
    def of(cls, inputs: Inputs, offsets: I64) -> Reading:
        words = np.unique(np.append(inputs.ids[:, 0], 0))
        ids = inputs.ids.astype(np.int64)
        ids[:, 0] = np.searchsorted(words, ids[:, 0])
        spelled, word = np.unique(inputs.word, return_inverse=True)
        letters = inputs.letters[spelled].astype(np.int64)
        letters = letters[:, : max(1, int((letters > 0).sum(axis=1).max(initial=0)))]
        lengths = np.diff(offsets)
        longest = int(lengths.max(initial=0))
        place = np.arange(longest)
        inside = place < lengths[:, None]
        ahead = np.where(inside, offsets[:-1, None] + place, 0)
        back = np.where(inside, offsets[1:, None] - 1 - place, 0)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        within = np.arange(int(offsets[-1])) - offsets[owner]
        found = owner * longest + within, owner * longest + lengths[owner] - 1 - within
        arrays = ids, letters, word.astype(np.int64), ahead, back, *found
        ids_, letters_, word_, ahead_, back_, found_ahead, found_back = map(torch.from_numpy, arrays)
        return cls(words, ids_, letters_, word_, ahead_, back_, found_ahead, found_back)

    def without(self, which: NDArray[np.bool_]) -> Tensor:
        """Numbers of words and columns where the words marked in BOOL[tokens] are not known."""
        ids = self.ids.clone()
        ids[torch.from_numpy(which), 0] = 0
        return ids


@dataclass(frozen=True)
class Noise:
    """What is left out at random in training: the share `dropout` of the numbers that layers are given, and words so
    often as BOOL[tokens] `hidden` says."""

    dropout: float
    hidden: NDArray[np.bool_]
    generator: torch.Generator

    def on(self, x: Tensor) -> Tensor:
        if self.dropout == 0.0:
            return x
        kept = torch.empty_like(x).bernoulli_(1.0 - self.dropout, generator=self.generator)
        return x * kept / (1.0 - self.dropout)


class Parameters:
    """A vector as PyTorch sees it: of the table of words just the rows that are asked for."""

    def __init__(self, shape: EncoderShape, vector: F64, dtype: torch.dtype):
        self.shape, self._dtype = shape, dtype
        self._words = vector[shape.places["words"]].reshape(shape.parameters["words"])
        self.tensors = {
            name: self._leaf(vector[shape.places[name]].reshape(size))
            for name, size in shape.parameters.items()
            if name != "words"
        }

    def rows(self, words: I64) -> Tensor:
        return self._leaf(self._words[words])

    def _leaf(self, values: F64) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self._dtype).clone().requires_grad_()


class Encoding:
    """Some sentences encoded: `scores: F64[tokens, width]`, labels rounded up to whole registers, padding zeros; and
    the way back."""

    def __init__(self, parameters: Parameters, reading: Reading, noise: Noise | None = None):
        self._leaves = [parameters.rows(reading.words), *parameters.tensors.values()]
        self._found = scores(parameters, self._leaves[0], reading, noise)
        self._labels = self._found.shape[1]
        self.scores = np.zeros((len(self._found), padded(self._labels)))
        self.scores[:, : self._labels] = self._found.detach().numpy()
        if not np.isfinite(self.scores).all():
            raise DataError("training led to scores that are no numbers; try a smaller step_size or sparse_step")

    def back(self, by_score: F64) -> tuple[F64, F64]:
        """From numbers for the scores, in their shape, to the gradient in the vectors of the words of the reading,
        F64[words, embedding], and in all else, F64[...], in the order of the encoder's vector."""
        given = torch.from_numpy(np.ascontiguousarray(by_score[:, : self._labels])).to(self._found.dtype)
        rows, *others = torch.autograd.grad(self._found, self._leaves, given)
        flat = [one.numpy().ravel() for one in others]
        return rows.numpy().astype(np.float64), np.concatenate(flat).astype(np.float64)


def scores(parameters: Parameters, rows: Tensor, reading: Reading, noise: Noise | None = None) -> Tensor:
    """[tokens, labels]. `rows`: the vectors of the words of the reading; without `noise` nothing is left out."""
    shape, at = parameters.shape, parameters.tensors
    ids = reading.ids if noise is None else reading.without(noise.hidden)
    x = torch.cat(
        [
            rows[ids[:, 0]],
            _spelled(at, reading),
            *(at[f"column.{k}"][ids[:, k]] for k in range(1, len(shape.tables))),
        ],
        dim=1,
    )
    for layer in range(shape.layers):
        x = x if noise is None else noise.on(x)
        ways = zip(DIRECTIONS, (reading.ahead, reading.back), (reading.found_ahead, reading.found_back), strict=True)
        x = torch.cat([_read(x, at, f"layer.{layer}.{way}", order, found) for way, order, found in ways], dim=1)
    x = x if noise is None else noise.on(x)
    return x @ at["output"] + at["output.bias"]


def _spelled(at: dict[str, Tensor], reading: Reading) -> Tensor:
    is_letter = (reading.letters > 0)[:, :, None]
    rows = at["letters"][reading.letters] * is_letter
    around = torch.nn.functional.pad(rows, (0, 0, 1, 1))
    windows = torch.cat([around[:, :-2], rows, around[:, 2:]], dim=2)
    seen = torch.relu(windows @ at["filters"] + at["filters.bias"]) * is_letter
    return seen.amax(dim=1)[reading.word]


def _read(x: Tensor, at: dict[str, Tensor], name: str, order: Tensor, found: Tensor) -> Tensor:
    hidden = at[f"{name}.state"].shape[1]
    begin = x.new_zeros(1, len(order), hidden)
    bias = at[f"{name}.bias"]
    weights = [at[f"{name}.input"], at[f"{name}.state"], bias, torch.zeros_like(bias)]
    out, _, _ = torch.lstm(x[order], (begin, begin), weights, True, 1, 0.0, False, False, True)
    return out.reshape(-1, hidden)[found]
