"""A trained chain of labels, whatever trained it: predictions and evaluation."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.metrics import Report, compare
from trellis.models.batches import Sentences
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.trained import Kept, Trained

F64 = NDArray[np.float64]


class Chains(Kept, Protocol):
    """Chains of labels, of whatever kind."""

    def best(self, data: Sentences, threads: int = 1) -> NDArray[np.int32]: ...


Chain = TypeVar("Chain", bound=Chains)


class Tagger(Trained[Chain], ABC, Generic[Chain]):
    """What every model is once it is trained that gives a label to each token. Those that train it are classes of their
    own, with a setting `target` for corpora."""

    target: str | None
    # settings of other models that this kind has no use for, and why; who tries one kind after another may give them
    ignores: ClassVar[Mapping[str, str]] = {}

    def predict(self, X: Sentences) -> list[list[str]]:
        """The best labels: a list for each sentence."""
        return self.predict_column(X).sentences(token_offsets(X))

    def predict_ids(self, X: Sentences) -> NDArray[np.int32]:
        """The best label of every token as a number into `classes_`, I32[tokens]: `predict` without strings."""
        return self._model.best(X, self._threads)

    def predict_column(self, X: Sentences) -> Column:
        """The best label of every token as a column."""
        return Column(self.predict_ids(X), self._model.labels)

    def predict_marginals(self, X: Sentences) -> list[F64]:
        """P(label) of every token, where a model has probabilities."""
        raise self._without("marginals")

    def predict_kbest(self, X: Sentences, k: int = 5) -> Any:
        """The k most probable labellings, where a model has probabilities."""
        raise self._without("k best labellings")

    def predict_spans(self, X: Sentences, min_confidence: float = 0.0) -> Any:
        """Segments with their probability, where a model has such."""
        raise self._without("spans with a probability")

    def _without(self, what: str) -> SettingError:
        kind = type(self).__name__
        return SettingError(f"a {kind} has scores but no probabilities, so it has no {what}; use a CRF for these")

    def evaluate(self, X: Sentences, y: Labels | None = None) -> Report:
        """Accuracy, and precision, recall and F1 of segments where the labels encode such."""
        gold, predicted = gold_of(X, y, self.target), self.predict_column(X)
        return compare(gold, predicted, token_offsets(X))

    def score(self, X: Sentences, y: Labels | None = None) -> float:
        """F1 of segments when the labels are a segment encoding, else accuracy."""
        return self.evaluate(X, y).headline
