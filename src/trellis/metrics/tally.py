"""What a labelling has right, sentence by sentence: all that scores, their intervals and tests of them are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import SettingError
from trellis.labels import SpanSet, check_packed, is_gappy, read_gappy
from trellis.labels.spans import common
from trellis.metrics.reading import Spans, are_segments, both_read

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

METRICS = ("accuracy", "precision", "recall", "f1")


def tallies(
    gold: ArrayLike,
    predicted: ArrayLike,
    labels: Sequence[str],
    offsets: ArrayLike,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> I64:
    """I64[sentences, 5]: segments that are right, that were predicted and that there are; tokens that are right, and
    all. Labels with gaps have spans in place of segments; other labels have neither, and zeros there.

    gold, predicted: int [tokens], both into the one list `labels`; offsets: int64 [sentences + 1]. `scheme` and
    `encoding` are as for `evaluate`.
    """
    right, bounds = check_packed(gold, offsets, len(labels), name="gold")
    guess, _ = check_packed(predicted, bounds, len(labels), name="predicted")
    table = np.zeros((bounds.size - 1, 5), np.int64)
    table[:, 3:] = token_tallies(right == guess, bounds)
    if are_segments(labels, encoding):
        table[:, :3] = segment_tallies(*both_read(right, guess, labels, bounds, scheme, encoding), bounds)
    elif is_gappy(labels):
        there, found = (read_gappy(ids, labels, bounds, scheme) for ids in (right, guess))
        table[:, :3] = span_tallies(there, found, bounds)
    return table


def token_tallies(right: BOOL, offsets: I64) -> I64:
    """I64[sentences, 2]: tokens that are right, BOOL[tokens], and all."""
    until = np.concatenate([[0], np.cumsum(right)])[offsets]
    return np.stack([np.diff(until), np.diff(offsets)], axis=1)


def segment_tallies(gold: Spans, predicted: Spans, offsets: I64) -> I64:
    """I64[sentences, 3]: segments that are right, that were predicted, and that there are."""
    starts = (gold.start[segment_matches(gold, predicted)], predicted.start, gold.start)
    return np.stack([np.diff(np.searchsorted(each, offsets)) for each in starts], axis=1).astype(np.int64)


def span_tallies(gold: SpanSet, predicted: SpanSet, offsets: I64) -> I64:
    """The same of spans, [sentences, 3]; each belongs to the sentence that it begins in."""
    both, _ = common(gold, predicted)
    starts = (gold.begin[both], predicted.begin, gold.begin)
    return np.stack([np.diff(np.searchsorted(each, offsets)) for each in starts], axis=1).astype(np.int64)


def segment_matches(gold: Spans, predicted: Spans) -> BOOL:
    """BOOL[gold segments]: whether a predicted one has the same start, end and type."""
    if not predicted.start.size:
        return np.zeros(gold.start.size, np.bool_)
    # those of one labelling have distinct starts, so a look-up by start finds the only candidate
    at = np.minimum(np.searchsorted(predicted.start, gold.start), predicted.start.size - 1)
    same: BOOL = (gold.start == predicted.start[at]) & (gold.end == predicted.end[at])
    same &= gold.kind == predicted.kind[at]
    return same


def metric_of(table: NDArray[np.generic], metric: str) -> F64:
    """A metric, F64[...], from tallies or sums of such, [..., 5]; 0.0 where there is nothing to divide by."""
    correct, predicted, gold, right, tokens = np.moveaxis(table.astype(np.float64), -1, 0)
    parts = {
        "accuracy": (right, tokens),
        "precision": (correct, predicted),
        "recall": (correct, gold),
        "f1": (2.0 * correct, predicted + gold),
    }
    if metric not in parts:
        raise SettingError(f"metric is {metric!r}; expected one of {', '.join(METRICS)}")
    part, whole = parts[metric]
    score: F64 = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return score
