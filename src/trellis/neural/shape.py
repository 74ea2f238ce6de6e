"""What numbers an encoder has, by name, and where they are in the vector that training sees.

A token's word, its letters (embedded, a convolution of width 3, the maximum over the word) and further columns become
one vector; a long short-term memory reads these from either end, in one or more layers; what it says at a token becomes
scores of labels:

    words [words, embedding]; column.K [values, further]; letters [alphabet, letters]
    filters [3 letters, filters], filters.bias
    layer.K.forward.input [4 hidden, in], .state [4 hidden, hidden], .bias; layer.K.backward the same
    output [2 hidden, labels], output.bias

The four gates of a layer are in PyTorch's order: input, forget, cell, output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

WIDTH = 3  # letters that a filter sees
DIRECTIONS = ("forward", "backward")
_WORD, _SIGN = 0.1, 0.3  # how large the vectors of words, and of letters and other signs, are in the beginning


@dataclass(frozen=True)
class EncoderShape:
    """`tables`: how many values each column has, the words' first; `alphabet`: how many letters there are; the rest are
    sizes of vectors."""

    tables: tuple[int, ...]
    alphabet: int
    labels: int
    embedding: int
    further: int
    letters: int
    filters: int
    hidden: int
    layers: int

    @cached_property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Their shapes, in the order of the vector."""
        found: dict[str, tuple[int, ...]] = {"words": (self.tables[0], self.embedding)}
        found |= {f"column.{k}": (size, self.further) for k, size in enumerate(self.tables[1:], 1)}
        found |= {"letters": (self.alphabet, self.letters)}
        found |= {"filters": (WIDTH * self.letters, self.filters), "filters.bias": (self.filters,)}
        width = self.embedding + self.filters + self.further * (len(self.tables) - 1)
        for layer in range(self.layers):
            for direction in DIRECTIONS:
                name = f"layer.{layer}.{direction}"
                found[f"{name}.input"] = 4 * self.hidden, width
                found[f"{name}.state"] = 4 * self.hidden, self.hidden
                found[f"{name}.bias"] = (4 * self.hidden,)
            width = 2 * self.hidden
        return found | {"output": (width, self.labels), "output.bias": (self.labels,)}

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each is in the vector."""
        ends = np.cumsum([0, *(math.prod(shape) for shape in self.parameters.values())]).tolist()
        return {name: slice(a, b) for name, a, b in zip(self.parameters, ends[:-1], ends[1:], strict=True)}

    def rows(self, words: I64) -> I64:
        """The places in the vector of these rows of the table of words, I64[words * embedding]; it comes first."""
        return (words[:, None] * self.embedding + np.arange(self.embedding)).ravel()

    @property
    def size(self) -> int:
        """Of the vector."""
        return sum(math.prod(shape) for shape in self.parameters.values())

    def arrays(self, vector: F64) -> dict[str, F32]:
        """The vector taken apart, in single precision."""
        return {
            name: vector[self.places[name]].astype(np.float32).reshape(shape) for name, shape in self.parameters.items()
        }

    def vector(self, arrays: dict[str, F32]) -> F64:
        """The reverse."""
        return np.concatenate([arrays[name].ravel().astype(np.float64) for name in self.parameters])

    def initial(self, seed: int) -> F64:
        """Where training begins: small numbers, drawn as Glorot and Bengio (2010) say; memories that last (Jozefowicz
        et al. 2015: a forget gate that begins at 1); and an output of 0, so that sparse weights that are there already
        are not disturbed."""
        rng = np.random.default_rng([seed, 0])
        return np.concatenate([self._drawn(name, rng).ravel() for name in self.parameters])

    def _drawn(self, name: str, rng: np.random.Generator) -> F64:
        shape = self.parameters[name]
        if name.endswith(".bias"):
            value = np.zeros(shape)
            if name.startswith("layer"):
                value[self.hidden : 2 * self.hidden] = 1.0
            return value
        if name == "output":
            return np.zeros(shape)
        if name == "words":
            return rng.normal(0.0, _WORD, shape)
        if name == "letters" or name.startswith("column"):
            return rng.uniform(-_SIGN, _SIGN, shape)
        gates = 4 if name.startswith("layer") else 1
        bound = math.sqrt(6.0 / (shape[0] / gates + shape[1]))
        return rng.uniform(-bound, bound, shape)
