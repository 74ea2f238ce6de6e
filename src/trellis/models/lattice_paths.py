"""Paths through lattices as users see them, and how good they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError
from trellis.features.lattices import Lattice, Lattices
from trellis.metrics.report import Report, of_counts
from trellis.metrics.segments import Counts
from trellis.models.agreeing import Agreed, matches
from trellis.models.lattice_model import LatticeModel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
Given = Lattices | Sequence[Lattice]
Known = Sequence[Sequence[Any]]


class Segment(NamedTuple):
    """Characters, or whatever a lattice counts, from `start` up to but not including `end`, and the label."""

    start: int
    end: int
    label: str


class LatticePath(NamedTuple):
    """The segments of a path, and the logarithm of its probability."""

    segments: list[Segment]
    log_probability: float


class NearPath(NamedTuple):
    """The segments of a path, and `gap`: no path is more than e^gap times as probable. 0: this is the best."""

    segments: list[Segment]
    gap: float


def lattices_of(X: Any) -> Lattices:
    """Lattices, packed."""
    if isinstance(X, Lattices):
        return X
    if isinstance(X, Lattice):
        raise DataError("one Lattice is given; expected a list of them")
    if isinstance(X, str | Corpus) or not (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
        raise DataError(f"expected lattices (of a Lexicon, or a list of Lattice), not {type(X).__name__}")
    return Lattices.of(X)


def segments_of(data: Lattices, on: I32) -> list[list[Segment]]:
    chosen = np.flatnonzero(on)
    names = map(data.labels.strings.__getitem__, data.labels.ids[chosen].tolist())
    rows = list(map(Segment, data.start[chosen].tolist(), data.end[chosen].tolist(), names))
    cuts = np.searchsorted(chosen, data.offsets).tolist()
    return [rows[a:b] for a, b in pairwise(cuts)]


def report_of(data: Lattices, on: I32, y: Known) -> Report:
    """Of the segments of a path against those that are right, which `matches` has checked."""
    counts: dict[str, list[int]] = {}
    for s, (found, items) in enumerate(zip(segments_of(data, on), y, strict=True)):
        right = {_right(data, s, item) for item in items}
        for segment in right:
            counts.setdefault(segment.label, [0, 0, 0])[0] += 1
        for segment in found:
            row = counts.setdefault(segment.label, [0, 0, 0])
            row[1] += 1
            row[2] += segment in right
    return of_counts({label: Counts(*counts[label]) for label in sorted(counts)}, len(y))


def _right(data: Lattices, s: int, item: Any) -> Segment:
    if isinstance(item, int | np.integer):
        v = int(data.offsets[s]) + int(item)
        return Segment(int(data.start[v]), int(data.end[v]), data.labels.strings[data.labels.ids[v]])
    start, end, label = item
    if not isinstance(label, str):
        raise DataError(f"lattice {s + 1}: the label {label!r}; what is compared needs one label for each segment")
    return Segment(int(start), int(end), label)


def those_that_fit(data: Lattices, given: Agreed, weights: F64 | None) -> tuple[Lattices, Agreed, F64 | None]:
    """The lattices that have all that is known of their paths."""
    lacking = int((~given.fits).sum())
    if lacking == len(data):
        raise DataError("no lattice has all of its segments in y, so there is nothing to learn from")
    warnings.warn(
        f"{lacking} of {len(data)} lattices lack a segment that y has; they are not learnt from", stacklevel=3
    )
    weights = None if weights is None else weights[given.fits]
    return data.chosen(given.fits), given.chosen(data.offsets), weights


class LatticesHeldOut:
    """`held_out(theta)`: the F1 of segments on development data."""

    def __init__(self, model: LatticeModel, data: Lattices, y: Known | None):
        if y is None:
            raise SettingError("development data needs segments: give dev_y too")
        if not len(data.start):
            raise DataError("there is no node in the development data")
        self._data, self._y, self._model = data, y, model
        self._matches, self._packed = matches(data, y), model.packed(data)

    def __call__(self, theta: F64) -> float:
        lattice = self._model.with_weights(theta).scored(*self._packed)
        return report_of(self._data, lattice.best()[0], self._y).headline

    @property
    def tokens(self) -> int:
        return len(self._data.start)

    @property
    def content(self) -> object:
        return *self._packed, self._matches
