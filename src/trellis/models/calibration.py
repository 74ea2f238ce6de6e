"""What a model predicts, how sure it is of it, and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import SettingError
from trellis.labels import detect
from trellis.metrics.segments import segment_types, segments
from trellis.models.batches import Sentences
from trellis.models.constraints import Constraints
from trellis.models.gold import Labels, gold_of, token_offsets
from trellis.models.probable import ProbableTagger


@dataclass(frozen=True)
class Predictions:
    """`of`: spans or tokens; `confidence: F64[predictions]`, `correct: BOOL[predictions]`; `gold`: how many there are
    in the data."""

    of: str
    confidence: NDArray[np.float64]
    correct: NDArray[np.bool_]
    gold: int


def predictions(
    tagger: Any,
    X: Sentences,
    of: str = "auto",
    y: Labels | None = None,
    constraints: Constraints | None = None,
) -> Predictions:
    """Of the segments that a model predicts, where its labels spell such, or of its labels. `of`: auto, spans or
    tokens."""
    if not isinstance(tagger, ProbableTagger):
        raise SettingError(f"a {type(tagger).__name__} has no probabilities to be trusted or not; use a CRF")
    gold = gold_of(X, y, tagger.target)
    if of == "tokens" or (of == "auto" and detect(tagger.classes_) is None):
        return _of_tokens(tagger, X, gold, constraints)
    return _of_spans(tagger, X, gold, constraints)


def _of_tokens(tagger: ProbableTagger[Any], X: Sentences, gold: Column, constraints: Constraints | None) -> Predictions:
    p = np.concatenate([np.zeros((0, len(tagger.classes_))), *tagger.predict_marginals(X, constraints)])
    ids = tagger.predict_ids(X, constraints)
    labels = gold.translated({label: j for j, label in enumerate(tagger.classes_)})
    confidence = np.clip(p[np.arange(len(ids)), ids], 0.0, 1.0)
    return Predictions("tokens", confidence, np.asarray(labels == ids), len(ids))


def _of_spans(tagger: ProbableTagger[Any], X: Sentences, gold: Column, constraints: Constraints | None) -> Predictions:
    offsets = token_offsets(X)
    labels = gold.compact()
    kinds = segment_types(labels.strings)
    start, end, kind = segments(labels.ids, labels.strings, offsets)
    there = {(a, b, kinds[k]) for a, b, k in zip(start.tolist(), end.tolist(), kind.tolist(), strict=True)}
    confidence, correct = [], []
    for first, spans in zip(offsets.tolist(), tagger.predict_spans(X, constraints=constraints), strict=False):
        for span in spans:
            confidence.append(span.probability)
            correct.append((first + span.start, first + span.end, span.type) in there)
    return Predictions("spans", np.clip(np.array(confidence, float), 0.0, 1.0), np.array(correct, bool), len(there))
