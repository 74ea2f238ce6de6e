"""Learning curves: the score of a model that learns from growing parts of the training data.

Every repeat draws the sentences in an order of its own and takes the first n of them, so that larger parts hold the
smaller ones. Parts of one repeat are the same whatever model learns from them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trellis.corpus import Corpus
from trellis.errors import DataError, SettingError, shown
from trellis.fewlabels import SIZES
from trellis.fewlabels.checks import check_corpus, check_count, check_model
from trellis.fewlabels.pace import Pace
from trellis.fewlabels.power_law import predicted
from trellis.models.settings import check_settings

# a part of the data and its repeat -> what to learn from, and how much each sentence counts (None: all as much)
More = Callable[[Corpus, int], tuple[Corpus, NDArray[np.float64] | None]]


@dataclass(frozen=True)
class Point:
    """Parts of so many sentences: `tokens`, on average, and the `scores` of all repeats. `alike`: all repeats were the
    same training, of the whole."""

    sentences: int
    tokens: float
    scores: tuple[float, ...]
    alike: bool = False

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float | None:
        """The standard deviation of single scores; None of one, or of one training's."""
        return None if self.alike or len(self.scores) < 2 else float(np.std(self.scores, ddof=1))


@dataclass(frozen=True)
class Doubled:
    """What twice the labels would bring, if the curve is a power law and goes on as one: `score` after so many
    `tokens`; `low` and `high` are the range of what other draws of the repeats would have said (see `power_law`),
    which promises nothing of the truth; None of one repeat."""

    tokens: float
    score: float
    low: float | None
    high: float | None


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

    sizes: parts of the sentences as fractions of all (0.25, 1.0), or as numbers of them (50, 100).
    more: what is done to a part before it is learnt from, such as augmentation. It is called with the part, a Corpus,
    and the number of the repeat, from 0 on, and gives back what to learn from, and how much each sentence of that
    counts, F64[sentences], or None if all count as much:

        def more(part, repeat):
            made = augmented(part, "chunk", "mentions", copies=4, seed=repeat)
            return made, copy_weights(part, made, 1 / 4)

    progress: is told what is being done, and about how long the rest takes.
    """
    check_settings(SimpleNamespace(seed=seed), "seed")
    check_model(model)
    check_corpus(train, "train")
    check_corpus(test, "test")
    counts = counts_of(sizes, len(train))
    check_count("repeats", repeats)
    if not train.tokens or not test.tokens:
        raise DataError("there is no token to learn from" if not train.tokens else "there is no token to test on")
    orders = [np.random.default_rng([seed, k]).permutation(len(train)) for k in range(int(repeats))]
    whole_once = more is None  # parts of all sentences are the same in every repeat
    share = train.tokens / len(train)
    pace = Pace(progress, sum(share * n * (1 if whole_once and n == len(train) else int(repeats)) for n in counts))
    points = []
    for count in counts:
        alike = whole_once and count == len(train)
        scores: list[float] = []
        tokens = []
        for k, order in enumerate(orders):
            part = train.picked(np.sort(order[:count]))
            tokens.append(part.tokens)
            if alike and scores:
                scores.append(scores[0])
                continue
            pace.tell(f"{count:,} of {len(train):,} sentences, {k + 1} of {repeats}")
            data, weights = (part, None) if more is None else _made(more, part, k)
            learnt = fresh(model)
            scores.append(learnt.fit(data, **_weighted(learnt, weights)).score(test))
            pace.trained(part.tokens)
        points.append(Point(count, float(np.mean(tokens)), tuple(scores), alike))
    return Curve(tuple(points), _doubled(points))


def models_to_train(sizes: Sequence[float], sentences: int, repeats: int, made_more: bool) -> int:
    """By `learning_curve`; made_more: with `more`."""
    counts = counts_of(sizes, sentences)
    return len(counts) * repeats - (repeats - 1 if sentences in counts and not made_more else 0)


def _made(more: More, part: Corpus, repeat: int) -> tuple[Corpus, NDArray[np.float64] | None]:
    """What `more` gives back, if it is what it should be."""
    made = more(part, repeat)
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], Corpus)):
        raise SettingError(
            f"`more` gave back a {type(made).__name__}; expected (corpus, weights): a Corpus to learn from and how "
            "much each of its sentences counts, or None"
        )
    return made


def fresh(model: Any) -> Any:
    """An untrained model with the same settings."""
    return type(model)(**model.get_params())


def _weighted(model: Any, weights: NDArray[np.float64] | None) -> dict[str, Any]:
    """What to give to `fit`: not every model has weights of sentences."""
    if weights is None:
        return {}
    if not weighs(model):
        raise SettingError(cannot_weigh(model))
    return {"sample_weight": weights}


def weighs(model: Any) -> bool:
    """Whether sentences may count more or less; to optimisers that go from one to the next they are all alike."""
    from trellis.optim import OPTIMIZERS, traits_of

    kind = OPTIMIZERS.get(getattr(model, "optimizer", ""))
    online = kind is not None and traits_of(kind).is_online
    return "sample_weight" in inspect.signature(model.fit).parameters and not online


def cannot_weigh(model: Any) -> str:
    """What to say then."""
    name = getattr(model, "optimizer", None)
    by = f" with the optimizer {name}" if isinstance(name, str) and "optimizer" in model.get_params() else ""
    return f"a {type(model).__name__}{by} cannot count some sentences less; let copies count 1 (--copy-weight 1)"


def counts_of(sizes: Sequence[float], sentences: int) -> list[int]:
    """Numbers of sentences, ascending and all different."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise SettingError(f"sizes is {shown(sizes)}; expected a list of fractions, or of numbers of sentences")
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
