"""How good weights are on data that they were not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError
from trellis.metrics import compare
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.linear import LinearChain, Sentences

F64 = NDArray[np.float64]


class Development:
    """`development(theta)`: the score of these weights."""

    def __init__(self, model: LinearChain, dev: Sentences, dev_y: Labels | None, target: str | None):
        self.gold, self.offsets = gold_of(dev, dev_y, target), token_offsets(dev)
        if not len(self.gold):
            raise DataError("there is no token in the development data", dev.path if isinstance(dev, Corpus) else None)
        self._model, self._packed = model, model.pack(dev)

    def __call__(self, theta: F64) -> float:
        predicted = self._model.with_weights(theta).best_of_packed(self._packed, self.offsets)
        return compare(self.gold, Column(predicted, self._model.labels), self.offsets).headline

    @property
    def content(self) -> object:
        """What it is made of, for a digest."""
        gold = self.gold.compact()
        return gold.ids, tuple(gold.strings), self.offsets, self._packed
