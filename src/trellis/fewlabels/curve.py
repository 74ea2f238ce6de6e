"""Learning curves: the score of a model that learns from growing parts of the training data.

Every repeat draws the sentences in an order of its own and takes the first n of them, so that larger parts hold the
smaller ones. Parts of one repeat are the same whatever model learns from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels.power_law import predicted
from trellis.models.settings import check_settings

SIZES = (0.0625, 0.125, 0.25, 0.5, 1.0)

# a part of the data and its repeat -> what to learn from, and how much each sentence counts (None: all as much)
More = Callable[[Corpus, int], tuple[Corpus, NDArray[np.float64] | None]]


@dataclass(frozen=True)
class Point:
    """Parts of so many sentences: `tokens`, on average, and the `scores` of all repeats."""

    sentences: int
    tokens: float
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """The standard deviation of single scores; 0 of one."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0


@dataclass(frozen=True)
class Doubled:
    """What twice the labels would bring, if the curve is a power law and goes on as one: `score` after so many
    `tokens`, and the `low`est and `high`est score that single repeats alone point to."""

    tokens: float
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Points by growing size, and what lies ahead; `doubled` is None where no power law can be fitted."""

    points: tuple[Point, ...]
    doubled: Doubled | None

    def as_json(self) -> dict[str, Any]:
        points = [
            {
                "sentences": point.sentences,
                "tokens": point.tokens,
                "mean": point.mean,
                "deviation": point.deviation,
                "scores": list(point.scores),
            }
            for point in self.points
        ]
        return {"points": points, "doubled": None if self.doubled is None else vars(self.doubled)}


def learning_curve(
    model: Any,
    train: Corpus,
    test: Corpus,
    sizes: Sequence[float] = SIZES,
    repeats: int = 3,
    seed: int = 0,
    more: More | None = None,
    progress: Callable[[str], None] | None = None,
) -> Curve:
    """Trains models with the settings of `model`, which stays as it is, and scores them on `test`.

    sizes: parts of the sentences as fractions of all (0.25, 1.0), or as numbers of them (50, 100). more: what is done
    to a part before it is learnt from, such as augmentation. progress: is told what is being done.
    """
    check_settings(SimpleNamespace(seed=seed), "seed")
    counts = counts_of(sizes, len(train))
    if not isinstance(repeats, Integral) or isinstance(repeats, bool) or repeats < 1:
        raise SettingError(f"repeats is {shown(repeats)}; expected a whole number >= 1")
    if not train.tokens or not test.tokens:
        raise DataError("there is no token to learn from" if not train.tokens else "there is no token to test on")
    orders = [np.random.default_rng([seed, k]).permutation(len(train)) for k in range(int(repeats))]
    points = []
    for count in counts:
        scores: list[float] = []
        tokens = []
        for k, order in enumerate(orders):
            part = train.picked(np.sort(order[:count]))
            tokens.append(part.tokens)
            if count == len(train) and more is None and scores:
                scores.append(scores[0])  # the same sentences once more
                continue
            if progress is not None:
                progress(f"{count:,} of {len(train):,} sentences, {k + 1} of {repeats}")
            data, weights = (part, None) if more is None else more(part, k)
            learnt = fresh(model)
            scores.append(learnt.fit(data, **_weighted(learnt, weights)).score(test))
        points.append(Point(count, float(np.mean(tokens)), tuple(scores)))
    return Curve(tuple(points), _doubled(points))


def fresh(model: Any) -> Any:
    """An untrained model with the same settings."""
    return type(model)(**model.get_params())


def _weighted(model: Any, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    """What to give to `fit`: not every model has weights of sentences."""
    if weights is None:
        return {}
    if "sample_weight" not in inspect.signature(model.fit).parameters:
        raise SettingError(f"a {type(model).__name__} cannot count some sentences less; copies must count 1")
    return {"sample_weight": weights}


def counts_of(sizes: Sequence[float], sentences: int) -> list[int]:
    """Numbers of sentences, ascending and all different."""
    out = set()
    for size in sizes:
        share = isinstance(size, Real) and not isinstance(size, Integral) and 0.0 < size <= 1.0
        count = isinstance(size, Integral) and not isinstance(size, bool) and 1 <= size <= sentences
        if not (share or count):
            raise SettingError(
                f"a size is {shown(size)}; expected a fraction above 0 and up to 1.0, or a number of sentences from 1 "
                f"to {sentences:,}"
            )
        out.add(max(1, round(size * sentences)) if share else int(size))
    if not out:
        raise SettingError("no sizes; expected fractions of the training data, or numbers of sentences")
    return sorted(out)


def _doubled(points: Sequence[Point]) -> Doubled | None:
    at = 2.0 * points[-1].tokens
    found = predicted([point.tokens for point in points], [point.scores for point in points], at)
    return None if found is None else Doubled(at, *found)
