"""How good the weights of a stage, or of a whole cascade, are on data that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.model import CascadeModel
from trellis.cascade.packing import StageModel
from trellis.corpus import Column, Corpus
from trellis.errors import DataError
from trellis.features import Packed
from trellis.metrics import compare
from trellis.models.gold import gold_of

F64 = NDArray[np.float64]


class StageDevelopment:
    """`development(theta)`: the score of a stage with these weights, whose data are packed with what it reads."""

    def __init__(self, model: StageModel, packed: Packed, dev: Corpus, target: str):
        self.gold, self._offsets = gold_of(dev, None, target), dev.offsets
        self._model, self._packed = model, packed

    def __call__(self, theta: F64) -> float:
        predicted = self._model.with_weights(theta).best_of_packed(self._packed, self._offsets)
        return compare(self.gold, Column(predicted, self._model.labels), self._offsets).headline

    @property
    def tokens(self) -> int:
        return len(self.gold)

    @property
    def content(self) -> object:
        """What it is made of, for a digest."""
        gold = self.gold.compact()
        return gold.ids, tuple(gold.strings), self._offsets, self._packed


class CascadeDevelopment:
    """The score of the last stage, for the weights of all stages."""

    def __init__(self, model: CascadeModel, dev: Corpus, split: Callable[[F64], Sequence[F64]], threads: int):
        self._model, self._dev, self._split, self._threads = model, dev, split, threads
        self.gold = gold_of(dev, None, model.stages[-1].target)

    def __call__(self, theta: F64) -> float:
        predicted = self._model.with_weights(self._split(theta)).best(self._dev, self._threads)[-1]
        return compare(self.gold, Column(predicted, self._model.labels), self._dev.offsets).headline

    @property
    def tokens(self) -> int:
        return len(self.gold)

    @property
    def content(self) -> object:
        columns = [column.compact() for column in self._dev.columns.values()]
        return tuple((name, c.ids, tuple(c.strings)) for name, c in zip(self._dev.columns, columns, strict=True)), (
            self._dev.offsets
        )


class OfStages:
    """The same for some of the weights, I64[...], with the others as they are."""

    def __init__(self, whole: CascadeDevelopment, theta: F64, part: NDArray[np.int64]):
        self._whole, self._theta, self._part = whole, theta, part

    def __call__(self, theta: F64) -> float:
        weights = self._theta.copy()
        weights[self._part] = theta
        return self._whole(weights)

    @property
    def tokens(self) -> int:
        return self._whole.tokens

    @property
    def content(self) -> object:
        return self._whole.content


def check_development(dev: Corpus, targets: Sequence[str]) -> None:
    """`targets`: of the stages that are scored."""
    if not isinstance(dev, Corpus):
        raise DataError(f"the development data are {type(dev).__name__}; expected a corpus (read_conll)")
    if not dev.tokens:
        raise DataError("there is no token in the development data", dev.path)
    for target in targets:
        if target not in dev.columns:
            there = ", ".join(dev.columns)
            raise DataError(f"the development data have no column '{target}', only {there}; add it", dev.path)
