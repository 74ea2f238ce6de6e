"""How far probabilities can be trusted: whether of the items given 90 % about 90 % are right, and which to keep.

An item is anything that was predicted with a probability: a token with its label, a segment, a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trellis.errors import DataError, SettingError, shown

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
BOOL = NDArray[np.bool_]

_SLACK = 1e-9  # what sums of probabilities may be off by; they are clipped to 0..1
_BAR = 25  # characters for 100 %


@dataclass(frozen=True)
class Bin:
    """Probabilities from `low` up to but not including `high` (the last bin has its `high` too)."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Said against seen, in bins of probabilities and over all; fractions from 0 to 1.

    `low`, `high`, `count`, `confidence` (the mean probability) and `accuracy` (the share that is right) are [bins];
    the bins cover 0..1 without holes, and the means of an empty one are 0.0. `ece` is the expected calibration error,
    sum of count / total * |confidence - accuracy|, `mce` the largest such gap, `brier` the mean squared difference
    of a probability and 1 or 0 for right or wrong; all are 0.0 where there is no item.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]
    total: int
    ece: float
    mce: float
    brier: float
    mean_confidence: float
    accuracy_of_all: float

    def bins(self) -> Iterator[Bin]:
        return map(Bin, self.low, self.high, self.count, self.confidence, self.accuracy)

    def as_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers; `bins` is a list with a dict for each."""
        columns = [each.name for each in fields(Bin)]
        over_all = {name: value for name, value in asdict(self).items() if name not in columns}
        return {"bins": [asdict(one) for one in self.bins()], **over_all}

    def as_text(self) -> str:
        """A table in percent; its bars are as long as the accuracy, and `|` is the confidence. No final line break."""
        width = max(len("items"), len(str(self.total)))
        lines = [f"{'probability':^15}  {'items':>{width}}  confidence  accuracy  = accuracy, | confidence"]
        for one in self.bins():
            place = f"{100 * one.low:6.2f} - {100 * one.high:6.2f}"
            lines.append(f"{place}  {one.count:{width}}  {_means(one.count, one.confidence, one.accuracy)}")
        over_all = _means(self.total, self.mean_confidence, self.accuracy_of_all)
        lines.append(f"{'all':>15}  {self.total:{width}}  {over_all}")
        lines.append(f"ECE: {100 * self.ece:.2f}%; largest gap: {100 * self.mce:.2f}%; Brier score: {self.brier:.4f}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Threshold:
    """What is left when only items with a probability >= `threshold` are `kept`, and how many of them are `correct`;
    recall is their share of `total_gold`, 0.0 if that is 0."""

    threshold: float
    precision: float
    recall: float
    f1: float
    kept: int
    correct: int
    total_gold: int


def reliability(confidence: ArrayLike, correct: ArrayLike, bins: int = 10, equal: str = "width") -> Reliability:
    """Compares probabilities with how often they come true.

    confidence: F64[n], correct: BOOL[n]. The bins are `equal` in "width", or in "mass": about as many items in each,
    equal probabilities always in the same one, so that there may be fewer bins. Bins of equal width say little of a
    model that is nearly always sure, whose items are almost all in the last one.
    """
    p, right = _checked(confidence, correct)
    if not _whole(bins) or bins < 1:
        raise SettingError(f"bins is {shown(bins)}; expected a whole number >= 1")
    if equal not in ("width", "mass"):
        raise SettingError(f"equal is {equal!r}; expected 'width' or 'mass'")
    inner = np.arange(1, bins) / bins if equal == "width" else _mass_edges(p, int(bins))
    place = np.searchsorted(inner, p, side="right")
    size = len(inner) + 1
    count = np.bincount(place, minlength=size)
    some = np.maximum(count, 1)
    said = np.bincount(place, weights=p, minlength=size) / some
    seen = np.bincount(place[right], minlength=size) / some
    gap = np.abs(said - seen)
    n = max(p.size, 1)
    return Reliability(
        low=(0.0, *inner.tolist()),
        high=(*inner.tolist(), 1.0),
        count=tuple(count.tolist()),
        confidence=tuple(said.tolist()),
        accuracy=tuple(seen.tolist()),
        total=p.size,
        ece=float(count @ gap / n),
        mce=float(gap.max()),
        brier=float(np.square(p - right).sum() / n),
        mean_confidence=float(p.sum() / n),
        accuracy_of_all=int(np.count_nonzero(right)) / n,
    )


def threshold_for(confidence: ArrayLike, correct: ArrayLike, precision: float, total_gold: int) -> Threshold | None:
    """The lowest threshold that leaves items of at least this precision, so the one of the highest recall that does;
    None if there is none.

    confidence: F64[n], correct: BOOL[n]; total_gold: how many there were to find.
    """
    if isinstance(precision, bool) or not isinstance(precision, Real) or not 0 <= precision <= 1:
        raise SettingError(f"precision is {shown(precision)}; expected a fraction from 0 to 1, such as 0.95")
    threshold, kept, right = _cuts(confidence, correct, total_gold)
    enough = np.flatnonzero(right / kept >= precision)
    if enough.size == 0:
        return None
    last = enough[-1]
    return _threshold(float(threshold[last]), int(kept[last]), int(right[last]), total_gold)


def threshold_curve(confidence: ArrayLike, correct: ArrayLike, total_gold: int) -> list[Threshold]:
    """What each distinct probability would leave as a threshold, the highest first.

    confidence: F64[n], correct: BOOL[n]; total_gold: how many there were to find.
    """
    thresholds, kept, right = _cuts(confidence, correct, total_gold)
    cuts = zip(thresholds.tolist(), kept.tolist(), right.tolist(), strict=True)
    return [_threshold(*cut, total_gold) for cut in cuts]


def _mass_edges(p: F64, bins: int) -> F64:
    """The probabilities [at most bins - 1] at which a new bin starts, where equal ones stay together."""
    ordered = np.sort(p)
    changes = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    if changes.size == 0:
        return np.zeros(0)
    ideal = np.arange(1, bins) * p.size / bins
    after = np.searchsorted(changes, ideal)
    left, right = changes[np.maximum(after - 1, 0)], changes[np.minimum(after, changes.size - 1)]
    nearest: I64 = np.unique(np.where(np.abs(ideal - left) <= np.abs(right - ideal), left, right))
    return ordered[nearest]


def _cuts(confidence: ArrayLike, correct: ArrayLike, total_gold: int) -> tuple[F64, I64, I64]:
    """(threshold, kept, correct), each [distinct probabilities], the highest threshold first."""
    p, right = _checked(confidence, correct)
    if not _whole(total_gold) or total_gold < 0:
        raise SettingError(f"total_gold is {shown(total_gold)}; expected a whole number >= 0")
    found = int(np.count_nonzero(right))
    if found > total_gold:
        raise DataError(f"{found} items are correct but total_gold is {total_gold}: count all there were to find")
    values, place = np.unique(p, return_inverse=True)
    kept = np.cumsum(np.bincount(place, minlength=values.size)[::-1])
    hits = np.cumsum(np.bincount(place[right], minlength=values.size)[::-1])
    return values[::-1], kept, hits


def _threshold(threshold: float, kept: int, correct: int, total_gold: int) -> Threshold:
    recall = correct / total_gold if total_gold else 0.0
    return Threshold(
        threshold, correct / kept, recall, 2 * correct / (kept + total_gold), kept, correct, int(total_gold)
    )


def _checked(confidence: ArrayLike, correct: ArrayLike) -> tuple[F64, BOOL]:
    """Probabilities, clipped, and whether each is right, both [n]; or DataError."""
    p, right = np.asarray(confidence), np.asarray(correct)
    if p.ndim != 1 or p.dtype.kind not in "fiu":
        raise DataError(f"confidence has shape {p.shape} and type {p.dtype}: expected one dimension of probabilities")
    if right.ndim != 1 or (right.dtype.kind != "b" and right.size):  # an empty list arrives as float64
        raise DataError(f"correct has shape {right.shape} and type {right.dtype}: expected one dimension of booleans")
    if p.size != right.size:
        raise DataError(f"confidence has {p.size} items but correct has {right.size}: these must be equal")
    p = p.astype(np.float64, copy=False)
    if p.size and not (p.min() >= -_SLACK and p.max() <= 1 + _SLACK):  # so that NaN is refused too
        bad = int(np.argmin((p >= -_SLACK) & (p <= 1 + _SLACK)))
        raise DataError(f"confidence[{bad}] is {p[bad]:.12g}: expected a probability from 0 to 1, no score or percent")
    return np.clip(p, 0.0, 1.0), right.astype(np.bool_, copy=False)


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _means(count: int, confidence: float, accuracy: float) -> str:
    """Two cells and a bar, or dashes where there is nothing to take the mean of."""
    if not count:
        return f"{'-':>10}  {'-':>8}"
    bar = list("=" * round(_BAR * accuracy) + " " * (_BAR + 1))
    bar[round(_BAR * confidence)] = "|"
    return f"{100 * confidence:10.2f}  {100 * accuracy:8.2f}  {''.join(bar).rstrip()}"
