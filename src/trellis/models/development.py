"""How good weights are on data that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column, Corpus
from trellis.errors import DataError, NoLegalPathError
from trellis.features import Packed
from trellis.labels import place_in
from trellis.metrics import compare
from trellis.models.batches import Sentences
from trellis.models.coarse import Pruned, lost_labels
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.known import OR, UNKNOWN, place_of
from trellis.models.pruning import Pruner

F64 = NDArray[np.float64]
Best = Callable[[Any, Packed, NDArray[np.int64]], NDArray[np.int32]]  # a model, packed sentences, their offsets


class Answering(Protocol):
    def best_of_packed(self, packed: Packed, offsets: NDArray[np.int64]) -> NDArray[np.int32]: ...


class Trainable(Protocol):
    """A model in training."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    def pack(self, data: Sentences) -> Packed: ...

    def with_weights(self, theta: F64, /) -> Answering: ...


class Development:
    """`development(theta)`: the score of these weights. `partial`: labels may be `?` and `A|B`, which are refused.
    `best`: how the model's labels are found, if not by `best_of_packed`."""

    def __init__(
        self,
        model: Trainable,
        dev: Sentences,
        dev_y: Labels | None,
        target: str | None,
        partial: bool = False,
        best: Best | None = None,
    ):
        self.gold, self.offsets = gold_of(dev, dev_y, target), token_offsets(dev)
        if not len(self.gold):
            raise DataError("there is no token in the development data", dev.path if isinstance(dev, Corpus) else None)
        if partial:
            _check_certain(dev, self.gold.compact(), self.offsets)
        self._model, self._packed = model, model.pack(dev)
        self._best = best

    def __call__(self, theta: F64) -> float:
        model = self._model.with_weights(theta)
        own, best = (self._packed, self.offsets), self._best
        try:
            predicted = model.best_of_packed(*own) if best is None else best(model, *own)
        except NoLegalPathError as error:
            raise NoLegalPathError(f" of the development data{error.what}", error.sentence) from None
        return compare(self.gold, Column(predicted, self._model.labels), self.offsets).headline

    def pruned(self, pruner: Pruner, stages: Sequence[Pruned]) -> list[Pruned]:
        """The stages of pruning, with what they lose here."""
        lost = lost_labels(pruner, self._packed, self.offsets, self.gold.values())
        return [replace(stage, dev_lost=share) for stage, share in zip(stages, lost, strict=True)]

    @property
    def tokens(self) -> int:
        return len(self.gold)

    @property
    def content(self) -> object:
        """What it is made of, for a digest."""
        gold = self.gold.compact()
        return gold.ids, tuple(gold.strings), self.offsets, self._packed


def _check_certain(dev: Sentences, gold: Column, offsets: NDArray[np.int64]) -> None:
    """What is known in part can be learnt from, but no answer can be compared with it."""
    doubtful = [i for i, name in enumerate(gold.strings) if name == UNKNOWN or OR in name]
    for token in np.flatnonzero(np.isin(gold.ids, doubtful))[:1].tolist():
        what = f"the label is '{gold.strings[gold.ids[token]]}'; development data needs one label for each token"
        if not isinstance(dev, Corpus):
            what = f"{place_in(offsets, token)} of the development data: {what}"
        raise DataError(what, *place_of(dev, token))
