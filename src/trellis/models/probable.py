"""A trained model that has probabilities: what can be asked of it beyond the best labels."""

from __future__ import annotations

from abc import ABC
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.errors import SettingError
from trellis.features import Packed
from trellis.lattice.confidence import Segments
from trellis.models.batches import Sentences
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.probabilities import (
    Lattice,
    Path,
    Span,
    by_sentence,
    kbest_in,
    log_probabilities_in,
    numbered,
)
from trellis.models.settings import is_count
from trellis.models.tagger import Chains, Tagger

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class ProbableChains(Chains, Protocol):
    """Chains with probabilities."""

    @property
    def kinds_of_segments(self) -> list[str]: ...

    def marginals(self, data: Sentences, threads: int = 1) -> F64: ...

    def batches(self, data: Sentences, threads: int, answer: Any) -> list[Any]: ...

    def lattice_of_packed(self, packed: Packed, offsets: I64) -> Lattice: ...

    def segments_of_packed(self, packed: Packed, offsets: I64, threshold: float | None) -> Segments: ...


Chain = TypeVar("Chain", bound=ProbableChains)


class ProbableTagger(Tagger[Chain], ABC, Generic[Chain]):
    """Marginals, k best paths, segments with their probability."""

    def predict_marginals(self, X: Sentences) -> list[F64]:
        """P(label) of every token: an array [tokens, labels] for each sentence, labels in the order of `classes_`."""
        nodes, offsets = self._model.marginals(X, self._threads), token_offsets(X)
        return [nodes[a:b] for a, b in zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]

    def predict_kbest(self, X: Sentences, k: int = 5) -> list[list[Path]]:
        """The k most probable labellings of each sentence (fewer where there are no more), best first, with the
        logarithms of their probabilities. They are exact and all different."""
        if not is_count(k):
            raise SettingError(f"k is {k!r}; expected a whole number >= 1")
        model = self._model

        def answer(packed: Packed, offsets: I64) -> list[list[Path]]:
            found = kbest_in(model.lattice_of_packed(packed, offsets), int(k))
            return [[Path(self._names(path), log_p) for path, log_p in paths] for paths in found]

        return [paths for batch in model.batches(X, self._threads, answer) for paths in batch]

    def predict_spans(self, X: Sentences, min_confidence: float = 0.0) -> list[list[Span]]:
        """The segments of the best labels of each sentence: start, end (the token behind the last), type, and P(just
        this segment, whatever else); those with at least that probability."""
        found = self._segments(X, None)
        return self._spans(found.at_least(min_confidence) if min_confidence > 0.0 else found, X)

    def predict_candidates(self, X: Sentences, threshold: float = 0.05) -> list[list[Span]]:
        """All segments whose probability is at least the threshold, on the best path or not; they may overlap."""
        if not 0.0 < threshold <= 1.0:
            raise SettingError(f"threshold is {threshold!r}; expected a probability above 0")
        return self._spans(self._segments(X, threshold), X)

    def log_probability(self, X: Sentences, y: Labels | None = None) -> F64:
        """log P(labels) of each sentence, F64[sentences]; labels are `y`, or the target column of a corpus."""
        names, offsets = gold_of(X, y, self.target), token_offsets(X)
        labels = numbered(self._model.labels, names.values(), "the data")
        done = 0

        def answer(packed: Packed, own: I64) -> F64:
            nonlocal done
            a, done = done, done + int(own[-1])
            return log_probabilities_in(self._model.lattice_of_packed(packed, own), self._within(labels[a:done], own))

        # one batch after the other: which labels are next is counted
        return np.concatenate([np.zeros(0), *self._model.batches(X, 1, answer)])[: len(offsets) - 1]

    def _segments(self, X: Sentences, threshold: float | None) -> Segments:
        model = self._model

        def answer(packed: Packed, offsets: I64) -> tuple[Segments, int]:
            return model.segments_of_packed(packed, offsets, threshold), int(offsets[-1])

        _ = model.kinds_of_segments  # says so if there are none
        batches = model.batches(X, self._threads, answer)
        firsts = np.concatenate([[0], np.cumsum([tokens for _, tokens in batches])]).astype(np.int64)
        return _shifted([found for found, _ in batches], firsts.tolist())

    def _spans(self, found: Segments, X: Sentences) -> list[list[Span]]:
        return by_sentence(found, self._model.kinds_of_segments, token_offsets(X))

    def _names(self, path: I32) -> list[str]:
        return [self._model.labels[j] for j in path.tolist()]

    def _within(self, labels: I32, offsets: I64) -> I32:
        """Labels as the lattice has them."""
        return labels


def _shifted(parts: list[Segments], firsts: list[int]) -> Segments:
    """Segments of batches, with tokens counted through."""
    none = np.zeros(0, np.int64)
    return Segments(
        np.concatenate([none, *(part.start + first for part, first in zip(parts, firsts, strict=False))]),
        np.concatenate([none, *(part.end + first for part, first in zip(parts, firsts, strict=False))]),
        np.concatenate([none, *(part.kind for part in parts)]),
        np.concatenate([np.zeros(0), *(part.probability for part in parts)]),
    )
