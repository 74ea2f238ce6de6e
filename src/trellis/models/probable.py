"""A trained model that has probabilities: what can be asked of it beyond the best labels."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.features import Packed
from trellis.lattice.confidence import Segments
from trellis.lattice.relaxed import ManyOnce
from trellis.metrics import Report, compare
from trellis.models.batches import Sentences
from trellis.models.constraints import Constraints, Prepared, SegmentsAs, checked
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.probabilities import (
    Lattice,
    Near,
    Path,
    Span,
    by_sentence,
    kbest_in,
    log_probabilities_in,
    numbered,
    require_paths,
)
from trellis.models.settings import check_draws, check_probability, is_count
from trellis.models.tagger import Chains, Tagger

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


class ProbableChains(Chains, Protocol):
    """Chains with probabilities."""

    @property
    def kinds_of_segments(self) -> list[str]: ...

    @property
    def segments_as(self) -> SegmentsAs | None: ...

    def marginals(self, data: Sentences, threads: int = 1) -> F64: ...

    def batches(self, data: Sentences, threads: int, answer: Any) -> list[Any]: ...

    def placed_batches(self, data: Sentences, threads: int, answer: Any, copies: int = 1) -> list[Any]: ...

    def lattice_of_packed(self, packed: Packed, offsets: I64, imposed: Prepared | None = None) -> Lattice: ...

    def best_of_lattice(self, lattice: Lattice) -> I32: ...

    def marginals_of_lattice(self, lattice: Lattice) -> F64: ...

    def bounds_left_out(self, packed: Packed, offsets: I64, lattice: Lattice) -> F64 | float: ...

    def segments_of_lattice(self, lattice: Lattice, threshold: float | None) -> Segments: ...


Chain = TypeVar("Chain", bound=ProbableChains)
Answer = TypeVar("Answer")


class ProbableTagger(Tagger[Chain], ABC, Generic[Chain]):
    """Marginals, k best paths, segments with their probability; `constraints`: what predictions must keep to."""

    def predict(self, X: Sentences, constraints: Constraints | None = None) -> list[list[str]]:
        """The best labels: a list for each sentence."""
        return self.predict_column(X, constraints).sentences(token_offsets(X))

    def predict_ids(self, X: Sentences, constraints: Constraints | None = None) -> I32:
        """The best label of every token as a number into `classes_`, I32[tokens]: `predict` without strings."""
        if constraints is None:
            return super().predict_ids(X)
        return np.concatenate([np.zeros(0, np.int32), *self._asked(X, constraints, self._model.best_of_lattice)])

    def predict_column(self, X: Sentences, constraints: Constraints | None = None) -> Column:
        """The best label of every token as a column."""
        return Column(self.predict_ids(X, constraints), self._model.labels)

    def evaluate(self, X: Sentences, y: Labels | None = None, constraints: Constraints | None = None) -> Report:
        """Accuracy, and precision, recall and F1 of segments where the labels encode such."""
        return compare(gold_of(X, y, self.target), self.predict_column(X, constraints), token_offsets(X))

    def score(self, X: Sentences, y: Labels | None = None, constraints: Constraints | None = None) -> float:
        """F1 of segments when the labels are a segment encoding, else accuracy."""
        return self.evaluate(X, y, constraints).headline

    def predict_marginals(self, X: Sentences, constraints: Constraints | None = None) -> list[F64]:
        """P(label) of every token: an array [tokens, labels] for each sentence, labels in the order of `classes_`."""
        offsets = token_offsets(X)
        if constraints is None:
            nodes = self._model.marginals(X, self._threads)
        else:
            rows = self._asked(X, constraints, self._model.marginals_of_lattice)
            nodes = np.concatenate([np.zeros((0, len(self._model.labels))), *rows])
        return [nodes[a:b] for a, b in pairwise(offsets.tolist())]

    def predict_kbest(self, X: Sentences, k: int = 5, constraints: Constraints | None = None) -> list[list[Path]]:
        """The k most probable labellings of each sentence (fewer where there are no more), best first, with the
        logarithms of their probabilities. They are exact and all different."""
        if not is_count(k):
            raise SettingError(f"k is {k!r}; expected a whole number >= 1")

        def answer(lattice: Lattice) -> list[list[Path]]:
            found = kbest_in(lattice, int(k))
            return [[Path(self._names(path), log_p) for path, log_p in paths] for paths in found]

        return [paths for batch in self._asked(X, constraints, answer) for paths in batch]

    def predict_near(self, X: Sentences, beam: int | None = None, constraints: Constraints | None = None) -> list[Near]:
        """Labels of each sentence that are the best or near them, and how near, where not all labellings are looked at:
        with a `beam` only the so many best at each token go on; with more than four types in `at_most_once` there is a
        search; and a model with pruning has left labels out. (With constraints, the gap is that among the labels which
        pruning leaves.)"""
        if beam is not None and not is_count(beam):
            raise SettingError(f"beam is {beam!r}; expected a whole number >= 1, or None")
        model = self._model

        def near(lattice: Lattice, more: F64 | float = -np.inf) -> list[Near]:
            paths, totals, bounds = _bounded(lattice, beam)
            gaps = np.maximum(np.maximum(bounds, more) - totals, 0.0).tolist()
            cuts = pairwise(lattice.offsets.tolist())
            return [Near(self._names(paths[a:b]), gap) for (a, b), gap in zip(cuts, gaps, strict=True)]

        def answer(packed: Packed, own: I64) -> list[Near]:
            lattice = model.lattice_of_packed(packed, own)
            return near(lattice, model.bounds_left_out(packed, own, lattice))

        batches = model.batches(X, self._threads, answer) if constraints is None else self._asked(X, constraints, near)
        return [one for batch in batches for one in batch]

    def predict_spans(
        self, X: Sentences, min_confidence: float = 0.0, constraints: Constraints | None = None
    ) -> list[list[Span]]:
        """The segments of the best labels of each sentence: start, end (the token behind the last), type, and P(just
        this segment, whatever else); those with at least that probability."""
        min_confidence = check_probability("min_confidence", min_confidence)
        found = self._segments(X, None, constraints)
        return self._spans(found.at_least(min_confidence) if min_confidence > 0.0 else found, X)

    def predict_candidates(
        self, X: Sentences, threshold: float = 0.05, constraints: Constraints | None = None
    ) -> list[list[Span]]:
        """All segments whose probability is at least the threshold, on the best path or not; they may overlap."""
        if check_probability("threshold", threshold) == 0.0:
            raise SettingError(f"threshold is {threshold!r}; expected a probability above 0")
        return self._spans(self._segments(X, threshold, constraints), X)

    def predict_posterior(self, X: Sentences, constraints: Constraints | None = None) -> list[list[str]]:
        """Labels with the highest sum of their probabilities, of those that can follow each other: as many as possible
        are right, where `predict` has the best chance that all are."""

        def answer(lattice: Lattice) -> list[list[str]]:
            paths, _ = lattice.posterior()
            return [self._names(paths[a:b]) for a, b in pairwise(lattice.offsets.tolist())]

        return [labels for batch in self._asked(X, constraints, answer) for labels in batch]

    def sample(
        self, X: Sentences, count: int = 1, seed: int = 0, constraints: Constraints | None = None
    ) -> list[list[list[str]]]:
        """For each sentence so many labellings, drawn as often as they are probable."""
        check_draws(count, seed)
        rng = np.random.default_rng(seed)

        def answer(lattice: Lattice) -> list[list[list[str]]]:
            drawn = lattice.sample(int(count), rng)
            return [[self._names(path[a:b]) for path in drawn] for a, b in pairwise(lattice.offsets.tolist())]

        # one batch after the other: what is drawn must not depend on the number of threads
        return [drawn for batch in self._asked(X, constraints, answer, 1) for drawn in batch]

    def entropy(self, X: Sentences, constraints: Constraints | None = None) -> F64:
        """How unsure the model is of the labels of each sentence, in nats: F64[sentences]. 0: quite sure."""
        return np.concatenate([np.zeros(0), *self._asked(X, constraints, lambda lattice: lattice.entropy())])

    def log_probability(self, X: Sentences, y: Labels | None = None, constraints: Constraints | None = None) -> F64:
        """log P(labels) of each sentence, F64[sentences]; labels are `y`, or the target column of a corpus."""
        labels = numbered(self._model.labels, gold_of(X, y, self.target).values(), "the data")

        def answer(lattice: Lattice, first: int) -> F64:
            own = labels[first : first + int(lattice.offsets[-1])]
            return log_probabilities_in(lattice, self._within(own, lattice.offsets))

        return np.concatenate([np.zeros(0), *self._asked_at(X, constraints, answer)])

    def _asked(
        self,
        X: Sentences,
        constraints: Constraints | None,
        answer: Callable[[Lattice], Answer],
        threads: int | None = None,
    ) -> list[Answer]:
        """The answers of the lattices of batches, in order."""
        return self._asked_at(X, constraints, lambda lattice, first: answer(lattice), threads)

    def _asked_at(
        self,
        X: Sentences,
        constraints: Constraints | None,
        answer: Callable[[Lattice, int], Answer],
        threads: int | None = None,
    ) -> list[Answer]:
        """The same for answers that ask for the number of the first token of a batch."""
        model, threads = self._model, threads or self._threads
        if constraints is None:
            return model.placed_batches(
                X, threads, lambda packed, own, first: answer(model.lattice_of_packed(packed, own), first)
            )
        lengths = np.diff(token_offsets(X)).tolist()
        prepared = checked(constraints).prepared(model.labels, lengths, model.segments_as)

        def constrained(packed: Packed, own: I64, first: int) -> Answer:
            imposed = prepared.part(first, first + int(own[-1]))
            return answer(imposed.on(model.lattice_of_packed(packed, own, imposed)), first)

        return model.placed_batches(X, threads, constrained, prepared.copies)

    def _segments(self, X: Sentences, threshold: float | None, constraints: Constraints | None) -> Segments:
        model = self._model

        def answer(lattice: Lattice) -> tuple[Segments, int]:
            return model.segments_of_lattice(lattice, threshold), int(lattice.offsets[-1])

        _ = model.kinds_of_segments  # says so if there are none
        batches = self._asked(X, constraints, answer)
        firsts = np.cumsum([0, *(tokens for _, tokens in batches)])[:-1].tolist()
        return Segments.joined([found for found, _ in batches], firsts)

    def _spans(self, found: Segments, X: Sentences) -> list[list[Span]]:
        return by_sentence(found, self._model.kinds_of_segments, token_offsets(X))

    def _names(self, path: I32) -> list[str]:
        return [self._model.labels[j] for j in path.tolist()]

    def _within(self, labels: I32, offsets: I64) -> I32:
        """Labels as the lattice has them."""
        return labels


def _bounded(lattice: Lattice, beam: int | None) -> tuple[I32, F64, F64]:
    """A path a sentence, its score, and a bound of all scores."""
    if beam is not None:
        return lattice.beam(int(beam))
    if isinstance(lattice, ManyOnce):
        return lattice.bounded()
    paths, totals = lattice.best()
    require_paths(lattice, totals)
    return paths, totals, totals
