"""Scores of spans that one sequence of segments cannot hold: with gaps, or in several layers of columns.

A predicted span is correct when a gold one has the same fragments and the same type. On which layer it is does not
matter, nor does how many layers there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Column
from trellis.errors import DataError, SettingError
from trellis.labels import SpanSet, is_gappy, read_gappy, read_layers
from trellis.labels.gap_rules import GAPPY
from trellis.labels.packed import check_packed, ranges
from trellis.labels.spans import common
from trellis.metrics.compare import same_table
from trellis.metrics.reading import SCHEMES
from trellis.metrics.report import Report, of_counts
from trellis.metrics.segments import Counts, encoding_of

BOOL = NDArray[np.bool_]
I64 = NDArray[np.int64]

LAYERS = "layers"


def score_gappy(gold: Column, predicted: Column, offsets: I64, scheme: str = "conlleval") -> Report:
    """Scores two columns in the encoding `gappy` (`trellis.labels.gaps`). Accuracy is of labels: a token is right when
    both have the same."""
    _check(scheme)
    (right, guess), names = same_table(gold, predicted)
    for ids, name in ((right, "gold"), (guess, "predicted")):
        check_packed(ids, offsets, len(names), name)
    there, found = (read_gappy(ids, names, offsets, scheme) for ids in (right, guess))
    return _report(there, found, right == guess, offsets, scheme, GAPPY)


def score_layers(
    gold: Sequence[Column],
    predicted: Sequence[Column],
    offsets: I64,
    scheme: str = "conlleval",
    encoding: str | None = None,
) -> Report:
    """Scores the spans of several columns, a layer each (`trellis.labels.layers`); there may be more layers of the one
    than of the other. `scheme` and `encoding` are as for `evaluate`, one encoding for all layers. Accuracy: a token is
    right when every span that covers it is in gold and predicted layers alike."""
    _check(scheme)
    if not gold or not predicted:
        raise DataError(f"{len(gold)} gold and {len(predicted)} predicted layers; at least one of each is needed")
    ids, names = same_table(*gold, *predicted)
    for number, one in enumerate(ids):
        check_packed(one, offsets, len(names), "a gold layer" if number < len(gold) else "a predicted layer")
    if scheme == "strict" and encoding is None and not is_gappy(names):
        together = np.concatenate(ids[: len(gold)])
        starts = (np.arange(len(gold)) * int(offsets[-1]))[:, None] + offsets[:-1]
        encoding = encoding_of(together, names, np.append(starts, len(together)))
    layers = [(one, names) for one in ids]
    there = read_layers(layers[: len(gold)], offsets, scheme, encoding)
    found = read_layers(layers[len(gold) :], offsets, scheme, encoding)
    right = _covered_alike(there, found, int(offsets[-1]))
    return _report(there, found, right, offsets, scheme, LAYERS if encoding is None else f"{encoding} {LAYERS}")


def span_counts(gold: SpanSet, predicted: SpanSet) -> dict[str, Counts]:
    """Counts by type, for the types that occur, sorted by name."""
    types = sorted({*gold.types, *predicted.types})
    both, _ = common(gold, predicted)
    table = np.stack(
        [
            np.bincount(_ranked(spans, types)[which], minlength=len(types))
            for spans, which in ((gold, slice(None)), (predicted, slice(None)), (gold, both))
        ],
        axis=1,
    )
    return {name: Counts(*row) for name, row in zip(types, table.tolist(), strict=True) if row[0] or row[1]}


def _report(gold: SpanSet, predicted: SpanSet, right: BOOL, offsets: I64, scheme: str, encoding: str) -> Report:
    tokens, correct = len(right), int(np.count_nonzero(right))
    return replace(
        of_counts(span_counts(gold, predicted), len(offsets) - 1),
        accuracy=correct / tokens if tokens else 0.0,
        tokens=tokens,
        correct_tokens=correct,
        scheme=scheme,
        encoding=encoding,
    )


def _covered_alike(gold: SpanSet, predicted: SpanSet, tokens: int) -> BOOL:
    """BOOL[tokens]: whether no missed and no spurious span covers a token."""
    alike = np.ones(tokens, np.bool_)
    for spans, shared in zip((gold, predicted), common(gold, predicted), strict=True):
        wrong = np.flatnonzero(~shared[spans.owner])
        alike[ranges(spans.start[wrong], spans.end[wrong] - spans.start[wrong])] = False
    return alike


def _ranked(spans: SpanSet, types: Sequence[str]) -> I64:
    return np.array([types.index(name) for name in spans.types], np.int64)[spans.kind]


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise SettingError(f"scheme is {scheme!r}; expected one of {', '.join(SCHEMES)}")
