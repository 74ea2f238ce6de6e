"""What a trained cascade answers: labels of all stages, their probabilities, and how good they are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.cascade.model import CascadeModel
from trellis.corpus import Column, Corpus
from trellis.errors import DataError, NotFittedError, SettingError
from trellis.jit import threads_available
from trellis.labels import detect
from trellis.lattice.confidence import Segments
from trellis.metrics import Report, compare
from trellis.models.base import Estimator
from trellis.models.gold import gold_of
from trellis.models.probabilities import Path, Span, by_sentence, kbest_in
from trellis.models.settings import check_probability, check_settings, is_count

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]


class Answering(Estimator):
    """An estimator with a cascade in it once it is trained. Answers are tables by target, lower stages first."""

    threads: int | None
    model_: CascadeModel

    @property
    def targets_(self) -> list[str]:
        """What is predicted, lower stages first."""
        return [stage.target for stage in self._model.stages]

    @property
    def classes_(self) -> dict[str, list[str]]:
        """The labels of each stage."""
        return {stage.target: list(stage.model.labels) for stage in self._model.stages}

    def predict_columns(self, X: Corpus) -> dict[str, Column]:
        """The best label of every token, a column for each stage, lower stages first."""
        model = self._model
        found = model.best(self._corpus(X), self._threads)
        return {stage.target: Column(ids, stage.model.labels) for stage, ids in zip(model.stages, found, strict=True)}

    def predict(self, X: Corpus) -> dict[str, list[list[str]]]:
        """The best labels of each stage: a list for each sentence."""
        out = {}
        for target, column in self.predict_columns(X).items():
            names = column.values()
            out[target] = [names[a:b] for a, b in pairwise(X.offsets.tolist())]
        return out

    def predict_marginals(self, X: Corpus) -> dict[str, list[F64]]:
        """P(label) of every token: for each stage an array [tokens, labels] for each sentence, labels in the order of
        `classes_`."""
        model = self._model
        found = model.marginals(self._corpus(X), self._threads)
        return {
            stage.target: [rows[a:b] for a, b in pairwise(X.offsets.tolist())]
            for stage, rows in zip(model.stages, found, strict=True)
        }

    def predict_kbest(self, X: Corpus, k: int = 5) -> dict[str, list[list[Path]]]:
        """The k most probable labellings of each sentence, of each stage, with the logarithms of their probabilities,
        given what the stage reads."""
        if not is_count(k):
            raise SettingError(f"k is {k!r}; expected a whole number >= 1")
        model = self._model

        def ask(own: Any, packed: Any, offsets: Any) -> list[list[Path]]:
            found = kbest_in(own.lattice_of_packed(packed, offsets), int(k))
            return [[Path(_names(own, path), log_p) for path, log_p in paths] for paths in found]

        answers = model.answers(self._corpus(X), self._threads, ask)
        return {
            stage.target: [paths for batch in found for paths in batch]
            for stage, found in zip(model.stages, answers, strict=True)
        }

    def predict_spans(self, X: Corpus, min_confidence: float = 0.0) -> dict[str, list[list[Span]]]:
        """The segments of the best labels of each sentence with their probability, of each stage whose labels spell
        segments; those with at least that probability."""
        min_confidence, model = check_probability("min_confidence", min_confidence), self._model
        spelling = {stage.target: stage for stage in model.stages if detect(stage.model.labels) is not None}
        if not spelling:
            raise SettingError("no stage has labels that spell segments, such as B-NP, I-NP, O; ask for labels")

        def ask(own: Any, packed: Any, offsets: Any) -> tuple[Segments, int] | None:
            if detect(own.labels) is None:
                return None
            found = own.segments_of_lattice(own.lattice_of_packed(packed, offsets), None)
            return found.at_least(min_confidence) if min_confidence > 0.0 else found, int(offsets[-1])

        answers = model.answers(self._corpus(X), self._threads, ask)
        out = {}
        for stage, batches in zip(model.stages, answers, strict=True):
            parts = [batch for batch in batches if batch is not None]
            if stage.target in spelling:
                firsts = np.cumsum([0, *(tokens for _, tokens in parts)])[:-1].tolist()
                joined = Segments.joined([found for found, _ in parts], firsts)
                out[stage.target] = by_sentence(joined, stage.model.kinds_of_segments, X.offsets)
        return out

    def evaluate(self, X: Corpus) -> dict[str, Report]:
        """Accuracy, and precision, recall and F1 of segments where labels encode such, of each stage whose column the
        corpus has."""
        self._require(X, *self.targets_)
        return {
            target: compare(gold_of(X, None, target), column, X.offsets)
            for target, column in self.predict_columns(X).items()
            if target in X.columns
        }

    def score(self, X: Corpus) -> float:
        """That of the last stage: F1 of segments when its labels are a segment encoding, else accuracy."""
        self._require(X, self.targets_[-1])
        return self.evaluate(X)[self.targets_[-1]].headline

    @property
    def _model(self) -> CascadeModel:
        if not hasattr(self, "model_"):
            raise NotFittedError("this Cascade has not been trained; call fit or load first")
        return self.model_

    @property
    def _threads(self) -> int:
        check_settings(self, "threads")
        return self.threads or threads_available()

    def _require(self, X: Corpus, *targets: str) -> None:
        """DataError if the corpus has none of these columns."""
        if not set(targets) & set(self._corpus(X).columns):
            wanted = " or ".join(f"'{target}'" for target in targets)
            raise DataError(
                f"there is no column {wanted} to compare with; the columns are: {', '.join(X.columns)}", X.path
            )

    def _corpus(self, X: Any) -> Corpus:
        if not isinstance(X, Corpus):
            raise DataError(f"a cascade reads the columns of a corpus (read_conll); it was given {type(X).__name__}")
        return X


def _names(model: Any, path: I32) -> list[str]:
    """Labels of a sentence by name."""
    written = model.written(path, np.array([0, len(path)])) if hasattr(model, "written") else path
    return [model.labels[j] for j in written.tolist()]
